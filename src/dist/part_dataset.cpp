#include "dist/part_dataset.h"

#include <algorithm>
#include <map>
#include <utility>

#include "base/error.h"
#include "data/parts_manifest.h"
#include "data/parts_outline.h"
#include "dist/part_folder.h"
#include "dist/part_sampler.h"
#include "dist/part_store.h"

namespace gnnmg::dist {
namespace {

using base::fail;
using base::Status;

class PartGraph final : public graph::Elsewhere {
 public:
  PartGraph(std::shared_ptr<const Parts> parts, const std::vector<int32_t>& own,
            const data::PartsOutline& outline, std::vector<int32_t> process_of_part)
      : parts_(std::move(parts)),
        own_(parts_text(own)),
        process_of_part_(std::move(process_of_part)),
        num_edges_(outline.num_edges),
        edge_ids_(outline.edge_ids),
        degrees_(make_part_store(parts_, kDegreesColumn, {}, base::CancelToken())) {}

  // Before others have it.
  std::shared_ptr<KeepingStore> add(const std::string& name) {
    const auto number = static_cast<int32_t>(stores_.size());
    std::shared_ptr<KeepingStore> store = make_part_store(parts_, number, {}, base::CancelToken());
    stores_.emplace(name, store);
    return store;
  }
  void set_chooser(std::shared_ptr<RowChooser> chooser) { chooser_ = std::move(chooser); }
  // Null: no rows are kept.
  RowChooser* chooser() const { return chooser_.get(); }
  PartsHere here() const { return {parts_, chooser_ ? chooser_->num_kept() : 0, process_of_part_}; }

  std::string describe() const override { return base::text(own_, " of ", parts_->num_parts()); }
  int64_t num_edges() const override { return num_edges_; }
  int64_t column_width(std::string_view name) const override {
    const auto found = stores_.find(name);
    return found == stores_.end() ? -1 : found->second->num_cols();
  }
  std::shared_ptr<const feature::FeatureStore> store(std::string_view name) const override {
    const auto found = stores_.find(name);
    return found == stores_.end() ? nullptr : found->second;
  }
  std::unique_ptr<sample::Sampler> sampler(const sample::NeighborConfig& config,
                                           int32_t edge_type) const override {
    return make_part_sampler(parts_, config, edge_type);
  }
  std::span<const graph::EdgeColumn> edge_columns() const override {
    return parts_->edge_columns();
  }
  void sample_neighbors(std::span<const int64_t> targets, const sample::HopDraw& draw,
                        int32_t edge_type, sample::EdgeSink& sink) const override {
    sample_part_neighbors(*parts_, targets, draw, edge_type, edge_ids_, sink);
  }
  void degrees(std::span<const int64_t> nodes, sample::NodeDegree* out) const override {
    degrees_->gather(nodes, reinterpret_cast<uint8_t*>(out), nullptr);
  }
  void weight_sums(std::string_view column, std::span<const int64_t> nodes,
                   graph::WeightSums* out) const override {
    make_part_store(parts_, parts_->weight_sums_column(column), {}, base::CancelToken())
        ->gather(nodes, reinterpret_cast<uint8_t*>(out), nullptr);
  }

 private:
  std::shared_ptr<const Parts> parts_;
  std::string own_;
  std::vector<int32_t> process_of_part_;
  int64_t num_edges_;
  bool edge_ids_;
  std::shared_ptr<RowChooser> chooser_;
  std::shared_ptr<const feature::FeatureStore> degrees_;
  std::map<std::string, std::shared_ptr<const feature::FeatureStore>, std::less<>> stores_;
};

class Opening {
 public:
  Opening(const PartDatasetConfig& config, const data::PartsOutline& outline,
          const data::ReadContext& context)
      : config_(config), outline_(outline), context_(context) {}

  std::shared_ptr<const PartGraph> graph() const {
    const uint64_t stamp = stamp_of(outline_.sum);
    const std::vector<int32_t> numbers = config_.own(outline_.parts->arguments.num_parts);
    std::vector<std::shared_ptr<const Part>> own = own_parts(numbers);
    std::vector<int32_t> others;
    for (size_t part = 0; part < own.size(); ++part)
      if (!own[part]) others.push_back(static_cast<int32_t>(part));
    std::vector<ColumnFacts> facts;
    for (const data::PartColumn& column : outline_.columns)
      facts.push_back({column.name, column.dtype, column.num_cols, column.sparse});
    std::vector<graph::EdgeColumn> edge_facts;
    for (const data::PartColumn& column : outline_.edge_columns)
      edge_facts.push_back({column.name, column.dtype, column.num_cols});
    const auto parts = std::make_shared<const Parts>(
        partition::Book(*book_of(outline_.parts)), std::move(own), facts,
        others.empty() ? nullptr : config_.open_channel(others, stamp), stamp, config_.asking,
        std::move(edge_facts));
    auto graph = std::make_shared<PartGraph>(parts, numbers, outline_, config_.process_of_part);
    for (const ColumnFacts& column : facts) {
      const std::shared_ptr<KeepingStore> store = graph->add(column.name);
      if (column.name == outline_.feature && !column.sparse && !others.empty())
        if (auto chooser = make_chooser(numbers, store)) graph->set_chooser(std::move(chooser));
    }
    return graph;
  }

 private:
  std::vector<std::shared_ptr<const Part>> own_parts(const std::vector<int32_t>& numbers) const {
    const int32_t num_parts = outline_.parts->arguments.num_parts;
    std::vector<std::shared_ptr<const Part>> own(static_cast<size_t>(num_parts));
    for (const int32_t part : numbers) {
      if (part < 0 || part >= num_parts)
        fail(Status::kNotFound, "part ", part, ", expected 0 to ", num_parts - 1);
      context_.cancel.check("opening parts");
      own[part] = config_.read_part(part);
    }
    return own;
  }

  // Null where no hotness was kept.
  std::shared_ptr<RowChooser> make_chooser(const std::vector<int32_t>& own,
                                           const std::shared_ptr<KeepingStore>& store) const {
    if (outline_.parts->arguments.fanouts.empty()) {
      context_.log.add(base::LogLevel::kInfo,
                       base::text(outline_.parts->manifest->source().name(),
                                  ": keeps no rows of other parts, because no hotness was kept "
                                  "with the parts; save them with fan-outs to have it"));
      return nullptr;
    }
    auto chooser = std::make_shared<RowChooser>(outline_.parts, own, store, config_.cache);
    chooser->choose({}, context_.log, context_.cancel);
    return chooser;
  }

  const PartDatasetConfig& config_;
  const data::PartsOutline& outline_;
  const data::ReadContext& context_;
};

}  // namespace

std::string parts_text(const std::vector<int32_t>& parts) {
  constexpr size_t kMost = 16;
  if (parts.empty()) return "no part";
  if (parts.size() > kMost) return base::text(parts.size(), " parts");
  std::string text = parts.size() == 1 ? "part" : "parts";
  for (size_t i = 0; i < parts.size(); ++i) text += base::text(i == 0 ? " " : ", ", parts[i]);
  return text;
}

std::shared_ptr<const partition::Book> book_of(const std::shared_ptr<const data::Parts>& parts) {
  if (parts->arguments.ranges) {
    std::vector<int64_t> starts = {0};
    for (const int64_t rows : parts->facts.rows) starts.push_back(starts.back() + rows);
    return std::make_shared<partition::Book>(partition::Book::from_ranges(std::move(starts)));
  }
  const auto num_nodes = static_cast<int64_t>(parts->book.size());
  const std::shared_ptr<void> owner = std::const_pointer_cast<data::Parts>(parts);
  base::Tensor table({const_cast<uint16_t*>(parts->book.data()), base::DType::kBF16, {num_nodes}},
                     owner);
  return std::make_shared<partition::Book>(
      partition::Book::from_table(std::move(table), parts->arguments.num_parts));
}

std::vector<int32_t> parts_of_process(int32_t num_parts, int32_t process, int32_t num_processes) {
  std::vector<int32_t> parts;
  for (int32_t part = process; part < num_parts; part += num_processes) parts.push_back(part);
  return parts;
}

std::unique_ptr<Channel> make_part_channel(const ReadPart& read, const std::vector<int32_t>& parts,
                                           uint64_t stamp) {
  std::vector<std::shared_ptr<const Server>> servers;
  for (const int32_t part : parts) {
    if (servers.size() <= static_cast<size_t>(part)) servers.resize(static_cast<size_t>(part) + 1);
    servers[part] = std::make_shared<const Server>(read(part), stamp);
  }
  return make_local_channel(std::move(servers));
}

data::DatasetRef open_part_dataset(const std::shared_ptr<const data::parts::Source>& source,
                                   const PartDatasetConfig& config,
                                   const data::ReadContext& context) {
  const base::CancelScope scope(context.cancel, "opening parts");
  return data::open_outline(
      source,
      [&](const data::PartsOutline& outline) { return Opening(config, outline, context).graph(); },
      context);
}

std::optional<PartsHere> parts_here(const data::Dataset& dataset) {
  const auto* graph = dynamic_cast<const PartGraph*>(dataset.graph->elsewhere());
  return graph ? std::optional(graph->here()) : std::nullopt;
}

void keep_rows_for(const data::Dataset& dataset, std::vector<int32_t> seeds_of, base::Log& log,
                   const base::CancelToken& cancel) {
  const auto* graph = dynamic_cast<const PartGraph*>(dataset.graph->elsewhere());
  if (graph && graph->chooser()) graph->chooser()->choose(std::move(seeds_of), log, cancel);
}

}  // namespace gnnmg::dist
