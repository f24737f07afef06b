// Data sets in parts: dividing, saving, and the facts of a data set opened from parts.
#include <algorithm>

#include "capi/arguments.h"
#include "capi/context.h"
#include "capi/dataset.h"
#include "capi/parts_settings.h"
#include "capi/settings.h"
#include "capi/tensor.h"
#include "dist/part_dataset.h"
#include "feature/hotness.h"
#include "io/checksum.h"
#include "partition/quality.h"

namespace gnnmg::capi {

namespace {

// The arguments of one call, kept until its job has ended.
struct PartsWork {
  std::shared_ptr<Context> context;
  data::DatasetRef dataset;
  std::optional<data::Split> split;  // has the training ids
  std::string folder;
  PartsSettings settings;
  std::vector<uint16_t> given;
  bool has_given = false;

  std::span<const int64_t> train() const {
    return split ? split->part(data::SplitPart::kTrain) : std::span<const int64_t>();
  }
  const graph::Csc& csc() const { return dataset->graph->csc(); }
};

std::string sum_of(std::span<const uint16_t> parts) {
  io::Sha256 sum;
  sum.add({reinterpret_cast<const uint8_t*>(parts.data()), parts.size_bytes()});
  return sum.finish();
}

data::PartsArguments arguments_of(const PartsWork& work) {
  const PartsSettings& settings = work.settings;
  data::PartsArguments arguments;
  arguments.num_parts = settings.assign.num_parts;
  arguments.seed = settings.assign.seed;
  arguments.edge_ids = settings.edge_ids;
  if (work.has_given) {
    arguments.method = "given";
    arguments.given = sum_of(work.given);
  } else {
    arguments.method = value_text(settings.assign.method);
    arguments.settings = assignment_text(settings);
    arguments.ranges = settings.assign.method == partition::Method::kRange;
  }
  if (!work.train().empty()) {  // nothing is read without seeds
    arguments.fanouts = settings.fanouts;
    arguments.batch_size = settings.fanouts.empty() ? 0 : settings.batch_size;
  }
  return arguments;
}

data::PartFacts facts_of(const partition::Quality& quality) {
  data::PartFacts facts;
  for (const partition::Load& load : quality.loads) {
    facts.rows.push_back(load.nodes);
    facts.edges.push_back(load.edges);
    facts.train.push_back(load.train);
  }
  facts.cut_edges = quality.cut_edges;
  return facts;
}

std::vector<float> hotness_of(const PartsWork& work, int32_t part, std::span<const uint16_t> parts,
                              const base::CancelToken& cancel) {
  std::vector<int64_t> seeds;
  for (const int64_t id : work.train())
    if (parts[id] == part) seeds.push_back(id);
  feature::SamplingLaw law;
  law.batch_size = work.settings.batch_size;
  law.fanouts = work.settings.fanouts;
  const std::vector<double> hotness =
      feature::hotness_by_rows(work.csc(), seeds, law, [&] { cancel.check("saving parts"); });
  return {hotness.begin(), hotness.end()};
}

void save(const PartsWork& work, const base::CancelToken& cancel) {
  const auto report = [&](const std::string& step) {
    work.context->log.add(base::LogLevel::kInfo, base::text(work.folder, ": ", step));
  };
  const partition::Work steps_of_partition{cancel, report};
  data::PartsSteps steps;
  steps.report = report;
  steps.assign = [&] {
    if (work.has_given) return work.given;
    return partition::assign_parts(work.csc(), work.train(), work.settings.assign,
                                   steps_of_partition);
  };
  steps.describe = [&](std::span<const uint16_t> parts) {
    return facts_of(partition::quality_of(partition::CscRows(work.csc(), work.train()), parts,
                                          work.settings.assign.num_parts, steps_of_partition));
  };
  steps.hotness = [&](int32_t part, std::span<const uint16_t> parts) {
    return hotness_of(work, part, parts, cancel);
  };
  data::save_parts(*work.dataset, work.split ? &*work.split : nullptr, work.folder,
                   arguments_of(work), steps, cancel);
}

std::vector<uint16_t> read_given(std::span<const int32_t> given, int64_t num_nodes,
                                 int32_t num_parts) {
  if (static_cast<int64_t>(given.size()) != num_nodes)
    fail(Status::kInvalidArgument, "number of 'given' is ", given.size(), ", expected ", num_nodes,
         ", the number of nodes");
  for (size_t v = 0; v < given.size(); ++v)
    if (given[v] < 0 || given[v] >= num_parts)
      fail(Status::kRange, "given[", v, "] is ", given[v], ", expected 0 to ", num_parts - 1);
  return {given.begin(), given.end()};
}

const data::Parts& parts_of(const Dataset& dataset) {
  if (!dataset.data()->parts)
    fail(Status::kNotFound, dataset.data()->title(),
         " was not opened from a folder of parts; gnnmg_dataset_save_parts() makes one");
  return *dataset.data()->parts;
}

struct Summed {
  int64_t sum = 0;
  double balance = 1;  // the largest divided by the mean
};

Summed summed(const std::vector<int64_t>& numbers) {
  Summed result;
  int64_t largest = 0;
  for (const int64_t number : numbers) {
    result.sum += number;
    largest = std::max(largest, number);
  }
  if (result.sum > 0)
    result.balance = static_cast<double>(largest) * static_cast<double>(numbers.size()) /
                     static_cast<double>(result.sum);
  return result;
}

void add_traffic(const dist::PartsHere& here, gnnmg_parts_info& facts) {
  facts.own_parts = 0;
  for (int32_t part = 0; part < here.parts->num_parts(); ++part)
    facts.own_parts += here.parts->own(part) != nullptr;
  const dist::Traffic& traffic = here.parts->traffic();
  facts.kept_rows = here.kept_rows;
  facts.own_rows = traffic.own_rows;
  facts.hit_rows = traffic.cached_rows;
  facts.asked_rows = traffic.remote_rows;
  facts.questions = traffic.questions;
  facts.asked_bytes = traffic.asked_bytes;
  facts.answer_bytes = traffic.answered_bytes;
}

}  // namespace
}  // namespace gnnmg::capi

using namespace gnnmg::capi;

extern "C" {

gnnmg_status gnnmg_dataset_save_parts(const gnnmg_dataset* dataset, const char* folder,
                                      const int32_t* given, int64_t num_given,
                                      const gnnmg_parts_config* config, const char* settings,
                                      int64_t timeout_ms) {
  return guard([&]() -> gnnmg_status {
    check_timeout(timeout_ms);
    const auto d = read<Dataset>(dataset, "dataset");
    auto work = std::make_shared<PartsWork>();
    work->context = d->context;
    work->dataset = d->data();
    work->folder = read_name(folder, "folder");
    const auto list = read_list(given, num_given, "given");
    work->has_given = given != nullptr;
    work->settings = read_parts_settings(config, settings, work->has_given);
    if (work->has_given)
      work->given = read_given(list, d->num_nodes(), work->settings.assign.num_parts);
    if (!d->data()->splits.empty()) work->split = d->split();
    const gnnmg::data::PartsArguments arguments = arguments_of(*work);
    std::string key =
        gnnmg::base::text("parts ", work->folder, '\0', arguments.num_parts, ' ', arguments.method,
                          ' ', arguments.seed, ' ', arguments.settings, ' ', arguments.given, ' ',
                          arguments.edge_ids, ' ', arguments.batch_size);
    for (const int64_t fanout : arguments.fanouts) key += gnnmg::base::text(' ', fanout);
    const Outcome outcome = wait_for_job(
        d->pendings, key, *d->queue, timeout_ms,
        [&] {
          return start_job(d->context, [work, token = d->context->work_token()]() -> Job::Result {
            save(*work, token);
            return nullptr;
          });
        },
        [] {});
    return outcome.pending ? GNNMG_PENDING : GNNMG_OK;
  });
}

gnnmg_status gnnmg_dataset_get_parts_info(const gnnmg_dataset* dataset, gnnmg_parts_info* info) {
  return guard(outs(Out{info, "info"}), [&] {
    const auto d = read<Dataset>(dataset, "dataset");
    const gnnmg::data::Parts& parts = parts_of(*d);
    const Summed nodes = summed(parts.facts.rows), edges = summed(parts.facts.edges);
    gnnmg_parts_info facts{};
    facts.num_parts = parts.arguments.num_parts;
    facts.num_nodes = nodes.sum;
    facts.num_edges = edges.sum;
    facts.cut_edges = summed(parts.facts.cut_edges).sum;
    if (edges.sum > 0)
      facts.cut = static_cast<double>(facts.cut_edges) / static_cast<double>(edges.sum);
    facts.node_balance = nodes.balance;
    facts.edge_balance = edges.balance;
    facts.train_balance = summed(parts.facts.train).balance;
    facts.own_parts = facts.num_parts;
    if (const auto here = gnnmg::dist::parts_here(*d->data())) add_traffic(*here, facts);
    give(info, facts);
  });
}

gnnmg_status gnnmg_dataset_get_part_info(const gnnmg_dataset* dataset, int32_t part,
                                         int64_t cache_rows, gnnmg_part_info* info) {
  return guard(outs(Out{info, "info"}), [&]() -> gnnmg_status {
    const auto d = read<Dataset>(dataset, "dataset");
    const gnnmg::data::Parts& parts = parts_of(*d);
    check_listed(part, "part");
    check_least(cache_rows, 0, "cache_rows");
    if (part >= parts.arguments.num_parts) return GNNMG_END;
    gnnmg_part_info facts{};
    facts.num_nodes = parts.facts.rows[part];
    facts.num_edges = parts.facts.edges[part];
    facts.num_train = parts.facts.train[part];
    facts.cut_edges = parts.facts.cut_edges[part];
    facts.hotness = !parts.arguments.fanouts.empty();
    if (facts.hotness) {
      const gnnmg::data::PartTraffic traffic = gnnmg::data::traffic_of(parts, part, cache_rows);
      facts.batch_rows = traffic.rows;
      facts.remote_rows = traffic.remote_rows;
      facts.hit_rate = traffic.hit_rate;
    }
    give(info, facts);
    return GNNMG_OK;
  });
}

gnnmg_status gnnmg_dataset_export_book(const gnnmg_dataset* dataset, gnnmg_tensor** book) {
  return guard(outs(Out{book, "book"}), [&] {
    const auto d = read<Dataset>(dataset, "dataset");
    const gnnmg::data::Parts& parts = parts_of(*d);
    const auto table = gnnmg::base::Tensor::empty(gnnmg::base::DType::kI32,
                                                  {static_cast<int64_t>(parts.book.size())});
    std::copy(parts.book.begin(), parts.book.end(), table.as<int32_t>().begin());
    *book = export_tensor(table, true).release();
  });
}

}  // extern "C"
