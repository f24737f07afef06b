// Copies and gathers of rows: bars 14 and 15.
#include <algorithm>
#include <vector>

#include "base/error.h"
#include "bench/gpu/tasks.h"
#include "feature/device.h"

namespace gnnmg::bench {
namespace {

using feature::RowPlacement;

const feature::DeviceFeatures& features() { return *gpu_table().of<feature::DeviceFeatures>(); }

// The GPU's copy rate within its memory, or from pinned memory to it, per second.
class Copies {
 public:
  Copies(bool pinned, int64_t bytes)
      : bytes_(bytes),
        from_(bytes, pinned ? device::Placement::kPinned : device::Placement::kDevice),
        to_(bytes) {}
  Timing time() {
    return timed(lane_, 20, [&] {
      gpu_table().copy(lane_.queue(), to_.as<char>(), from_.as<char>(), bytes_);
    });
  }
  int64_t bytes() const { return bytes_; }

 private:
  const int64_t bytes_;
  Lane lane_;
  GpuArray from_, to_;
};

float value(int64_t row, int64_t col) { return static_cast<float>(row % 8191) + 0.001f * col; }

// The rows of mini-batch 0's nodes, gathered from a table of all nodes.
class Gather {
 public:
  Gather(const World& world, bool pinned, int64_t cols, int multiprocessors)
      : cols_(cols), lane_(multiprocessors), nodes_(world.sample(0).node_ids.span()) {
    const int64_t rows = world.size.num_nodes;
    base::Tensor table = base::Tensor::empty(base::DType::kF32, {rows, cols});
    base::ThreadPool pool;
    pool.parallel_for(rows, 4096, [&](int64_t begin, int64_t end) {
      float* at = table.as<float>().data() + begin * cols;
      for (int64_t r = begin; r < end; ++r)
        for (int64_t c = 0; c < cols; ++c) *at++ = value(r, c);
    });
    feature::DeviceStoreConfig config;
    config.table = table;
    config.placement = pinned ? RowPlacement::kPinned : RowPlacement::kDevice;
    config.pool = &pool;
    store_ = features().open(lane_.queue(), config);
    ids_ = std::make_unique<GpuArray>(lane_, nodes_.data(), num_rows());
    out_ = std::make_unique<GpuArray>(num_rows() * cols * static_cast<int64_t>(sizeof(float)));
  }
  ~Gather() { features().close(store_); }
  Gather(const Gather&) = delete;
  Gather& operator=(const Gather&) = delete;

  int64_t num_rows() const { return static_cast<int64_t>(nodes_.size()); }
  Timing time() {
    return timed(lane_, 50, [&] { gather(); });
  }
  int64_t right() {
    gather();
    const std::vector<float> found = out_->read<float>(lane_, num_rows() * cols_);
    int64_t right = 0;
    for (int64_t i = 0; i < num_rows(); ++i) {
      bool all = true;
      for (int64_t c = 0; c < cols_; ++c) all &= found[i * cols_ + c] == value(nodes_[i], c);
      right += all;
    }
    return right;
  }

 private:
  struct Nodes : std::vector<int64_t> {
    explicit Nodes(std::span<const int64_t> from) : vector(from.begin(), from.end()) {}
  };
  void gather() {
    features().gather(lane_.queue(), store_,
                      {.ids = ids_->as<const int64_t>(),
                       .max_count = num_rows(),
                       .out = out_->as<float>(),
                       .out_stride = cols_});
  }
  const int64_t cols_;
  Lane lane_;
  const Nodes nodes_;
  feature::DeviceStore* store_ = nullptr;
  std::unique_ptr<GpuArray> ids_, out_;
};

}  // namespace

void add_row_tasks(Tasks& tasks, const World& world) {
  const int64_t bytes = is_measurement() ? int64_t{1} << 30 : int64_t{1} << 20;
  auto copies = std::make_shared<std::map<std::string, std::unique_ptr<Copies>>>();
  tasks["copy"] = [copies, bytes](const Words& words) {
    std::unique_ptr<Copies>& found = (*copies)[words.at(1)];
    if (!found) found = std::make_unique<Copies>(words[1] == "pinned", bytes);
    const Timing timing = found->time();
    return base::text(json_of(timing), ", \"bytes\": ", found->bytes());
  };
  auto gathers = std::make_shared<std::map<std::string, std::unique_ptr<Gather>>>();
  tasks["gather"] = [gathers, &world](const Words& words) {
    const int64_t cols = std::stoll(words.at(2));
    const std::string name = base::text(words[1], " ", cols, " ", words.at(3));
    std::unique_ptr<Gather>& found = (*gathers)[name];
    if (!found)
      found = std::make_unique<Gather>(world, words[1] == "pinned", cols, std::stoi(words[3]));
    const Timing timing = found->time();
    return base::text(json_of(timing), ", \"rows\": ", found->num_rows(), ", \"bytes\": ",
                      found->num_rows() * cols * static_cast<int64_t>(sizeof(float)),
                      ", \"right\": ", found->right());
  };
}

}  // namespace gnnmg::bench
