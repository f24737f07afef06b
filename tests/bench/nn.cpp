// Aggregation along the edges of a sampled block, forward and backward: the library's kernels
// compared with LibTorch code of users, in turns, or as one side of a comparison with a peer
// (layers.py).
//
//   bench_nn torch <folder> [rounds]   the table, one thread and two
//   bench_nn export <folder>           writes the blocks for peers: block_<fan-outs>_indptr.npy and
//                                      _indices.npy (i64), _sources.npy (their number)
//   bench_nn serve <folder>            answers each line of its input by a line of JSON:
//     <fan-outs> <mean|sum|max> <width> <threads> <forward|both> <count>
//
// bench_rounds writes <folder>. A block is the one next to the input of the first mini-batch of
// 1,024 seeds. All outputs of the library use recycled memory.
#include <ATen/Parallel.h>
#include <ATen/TensorOperators.h>
#include <ATen/ops/_sparse_mm.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/from_blob.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/rand.h>
#include <ATen/ops/sparse_csr_tensor.h>
#include <ATen/ops/zeros.h>
#include <c10/core/GradMode.h>

#include <algorithm>
#include <cstdio>
#include <functional>
#include <iostream>
#include <map>
#include <sstream>

#include "base/error.h"
#include "bench/folder.h"
#include "io/npy.h"
#include "nn/ops/functions.h"
#include "nn/ops/tensors.h"
#include "nn/torch/parallel.h"
#include "sample/sampler.h"

namespace gnnmg {
namespace {

using bench::Times;
using nn::Reduce;

const char* const kFanouts[] = {"15,10,5", "25,10"};

class Block {
 public:
  Block(const bench::Folder& folder, const std::string& fanouts) {
    sample::NeighborConfig config;
    config.expansion = sample::Expansion::kEveryLayer;
    config.transpose = true;
    std::istringstream list(fanouts);
    for (std::string fanout; std::getline(list, fanout, ',');)
      config.fanouts.push_back(std::stoll(fanout));
    sample::Workspace workspace;
    sample::make_neighbor_sampler(folder.graph, config)
        ->sample(folder.seeds(0), {1, base::Purpose::kSample, 0, 0}, workspace, sample_, {});
    const auto as_i64 = [](const int32_t* values, int64_t count) {
      std::vector<int64_t> wide(values, values + count);
      return base::Tensor::copy_of<int64_t>(wide);
    };
    indptr = as_i64(view().indptr, view().num_targets + 1);
    indices = as_i64(view().indices, view().num_edges);
  }
  const sample::BlockView& view() const { return sample_.blocks[0]; }
  base::Tensor indptr, indices;

 private:
  sample::Sample sample_;
};

// One way to aggregate, with its one-time setup.
class Way {
 public:
  virtual ~Way() = default;
  virtual void forward() = 0;
  virtual void both() = 0;
};

class OurWay : public Way {
 public:
  OurWay(const Block& block, Reduce reduce, int64_t width)
      : block_(block.view()),
        reduce_(reduce),
        width_(width),
        x_(rows(block_.num_sources).uniform_()),
        y_(rows(block_.num_targets)),
        dx_(rows(block_.num_sources)),
        dy_(rows(block_.num_targets).fill_(1)),
        share_(rows(block_.num_targets)) {}

  void forward() override {
    const auto x = nn::const_matrix<float>(x_);
    const auto y = nn::matrix<float>(y_);
    nn::for_ranges(nullptr, block_.num_targets, kRows, [&](int64_t begin, int64_t end) {
      table_.aggregate(reduce_, nn::lists_by_target(block_), {x.data, x.stride, nullptr}, width_,
                       {y.row(begin), y.stride}, begin, end);
    });
  }

  void both() override {
    forward();
    const auto dy = nn::const_matrix<float>(dy_);
    const auto dx = nn::matrix<float>(dx_);
    const nn::kernels::Lists lists = nn::lists_by_source(block_);
    if (reduce_ == Reduce::kMax) {
      const auto x = nn::const_matrix<float>(x_), max = nn::const_matrix<float>(y_);
      nn::for_ranges(nullptr, block_.num_targets, kRows, [&](int64_t begin, int64_t end) {
        table_.max_share(nn::lists_by_target(block_), {x.data, x.stride, nullptr}, max, dy, width_,
                         nn::matrix<float>(share_), begin, end);
      });
      nn::for_ranges(nullptr, block_.num_sources, kRows, [&](int64_t begin, int64_t end) {
        table_.max_transposed(lists, block_.num_targets, x, max, nn::const_matrix<float>(share_),
                              {}, width_, dx, begin, end);
      });
      return;
    }
    const at::Tensor scale = nn::source_scale(block_, reduce_, at::kFloat, execution_);
    const float* factor = scale.defined() ? scale.const_data_ptr<float>() : nullptr;
    nn::for_ranges(nullptr, block_.num_sources, kRows, [&](int64_t begin, int64_t end) {
      table_.aggregate_transposed(lists, block_.num_targets, factor, dy, {}, width_, dx, begin,
                                  end);
    });
  }

 private:
  // Rows in the library's recycled memory.
  at::Tensor rows(int64_t count) const {
    return nn::scratch_tensor(execution_, {count, width_}, at::kFloat);
  }

  static constexpr int64_t kRows = 512;
  const nn::kernels::Table<float>& table_ = nn::kernels::table<float>();
  const sample::BlockView block_;
  const Reduce reduce_;
  const int64_t width_;
  const nn::Execution execution_;
  at::Tensor x_, y_, dx_, dy_, share_;
};

at::Tensor as_torch(const base::Tensor& tensor) {
  return at::from_blob(tensor.data(), {tensor.rows()}, at::TensorOptions(at::kLong));
}

class TorchWay : public Way {
 public:
  TorchWay(const Block& block, Reduce reduce, int64_t width)
      : x(at::rand({block.view().num_sources, width})),
        dy(at::ones({block.view().num_targets, width})),
        reduce(reduce) {
    x.set_requires_grad(true);
  }
  virtual at::Tensor aggregate() = 0;
  void forward() override {
    c10::NoGradGuard no_grad;
    aggregate();
  }
  void both() override {
    aggregate().backward(dy);
    x.mutable_grad().reset();
  }

 protected:
  at::Tensor x, dy;
  const Reduce reduce;
};

// Uses index_select, then index_add_ or scatter_reduce.
class ScatterWay : public TorchWay {
 public:
  ScatterWay(const Block& block, Reduce reduce, int64_t width)
      : TorchWay(block, reduce, width), sources_(as_torch(block.indices)) {
    targets_ = at::empty({sources_.numel()}, at::TensorOptions(at::kLong));
    counts_ = at::empty({dy.size(0), 1});
    for (int64_t t = 0; t < dy.size(0); ++t) {
      const int64_t first = block.view().indptr[t], last = block.view().indptr[t + 1];
      std::fill(targets_.mutable_data_ptr<int64_t>() + first,
                targets_.mutable_data_ptr<int64_t>() + last, t);
      counts_.mutable_data_ptr<float>()[t] = static_cast<float>(std::max<int64_t>(1, last - first));
    }
  }
  at::Tensor aggregate() override {
    const at::Tensor messages = x.index_select(0, sources_);
    const at::Tensor zeros = at::zeros({dy.size(0), x.size(1)});
    if (reduce == Reduce::kMax)
      return zeros.scatter_reduce(0, targets_.unsqueeze(1).expand_as(messages), messages, "amax",
                                  /*include_self=*/false);
    const at::Tensor sums = zeros.index_add(0, targets_, messages);
    return reduce == Reduce::kMean ? sums / counts_ : sums;
  }

 private:
  at::Tensor sources_, targets_, counts_;
};

// A product with a sparse CSR matrix.
class SparseWay : public TorchWay {
 public:
  SparseWay(const Block& block, Reduce reduce, int64_t width)
      : TorchWay(block, reduce, width),
        matrix_(at::sparse_csr_tensor(
            as_torch(block.indptr), as_torch(block.indices), at::ones({block.view().num_edges}),
            {block.view().num_targets, block.view().num_sources}, at::TensorOptions(at::kFloat))) {}
  at::Tensor aggregate() override {
    return at::_sparse_mm(matrix_, x,
                          reduce == Reduce::kMean  ? "mean"
                          : reduce == Reduce::kMax ? "amax"
                                                   : "sum");
  }

 private:
  at::Tensor matrix_;
};

Times run(Way& way, bool both, int threads, int64_t count) {
  at::set_num_threads(threads);
  const Times start = bench::now();
  for (int64_t i = 0; i < count; ++i) both ? way.both() : way.forward();
  return bench::now() - start;
}

struct Spread {
  double middle, low, high;
};
Spread spread_of(std::vector<double> values) {
  std::ranges::sort(values);
  return {values[values.size() / 2], values.front(), values.back()};
}

constexpr std::pair<const char*, Reduce> kReductions[] = {
    {"mean", Reduce::kMean}, {"sum", Reduce::kSum}, {"max", Reduce::kMax}};

void compare(const bench::Folder& folder, int64_t rounds) {
  for (const char* fanouts : kFanouts) {
    const Block block(folder, fanouts);
    std::printf("[%s]: %lld edges from %lld sources to %lld targets\n", fanouts,
                static_cast<long long>(block.view().num_edges),
                static_cast<long long>(block.view().num_sources),
                static_cast<long long>(block.view().num_targets));
    for (const auto& [name, reduce] : kReductions) {
      for (const int64_t width : {100, 256}) {
        std::vector<std::pair<const char*, std::unique_ptr<Way>>> ways;
        ways.emplace_back("libgnnmg", std::make_unique<OurWay>(block, reduce, width));
        ways.emplace_back("index_select + scatter",
                          std::make_unique<ScatterWay>(block, reduce, width));
        ways.emplace_back("sparse CSR product", std::make_unique<SparseWay>(block, reduce, width));
        for (const bool both : {false, true}) {
          for (const int threads : {1, 2}) {
            std::map<std::string, std::vector<double>> wall, cpu, wall_ratio, cpu_ratio;
            for (int64_t round = -1; round < rounds; ++round) {
              Times first;
              for (const auto& [who, way] : ways) {
                const Times times = run(*way, both, threads, 2);
                if (way == ways.front().second) first = times;
                if (round < 0) continue;  // not counted
                wall[who].push_back(500 * times.wall);
                cpu[who].push_back(500 * times.cpu);
                wall_ratio[who].push_back(times.wall / first.wall);
                cpu_ratio[who].push_back(times.cpu / first.cpu);
              }
            }
            for (const auto& [who, way] : ways) {
              const Spread w = spread_of(wall[who]), c = spread_of(cpu[who]),
                           wr = spread_of(wall_ratio[who]), cr = spread_of(cpu_ratio[who]);
              std::printf(
                  "  %-4s %3lld %-8s %d thread(s)  %-22s wall %7.1f ms (%.1f-%.1f) CPU %7.1f; "
                  "of ours: wall %.2f (%.2f-%.2f), CPU %.2f (%.2f-%.2f)\n",
                  name, static_cast<long long>(width), both ? "both" : "forward", threads, who,
                  w.middle, w.low, w.high, c.middle, wr.middle, wr.low, wr.high, cr.middle, cr.low,
                  cr.high);
            }
            std::fflush(stdout);
          }
        }
      }
    }
  }
}

void export_blocks(const bench::Folder& folder, const std::string& path) {
  for (const char* fanouts : kFanouts) {
    const Block block(folder, fanouts);
    const std::string start = path + "/block_" + fanouts;
    io::write_npy(start + "_indptr.npy", block.indptr.view());
    io::write_npy(start + "_indices.npy", block.indices.view());
    const int64_t sources = block.view().num_sources;
    io::write_npy(start + "_sources.npy",
                  base::Tensor::copy_of(std::span<const int64_t>(&sources, 1)).view());
  }
}

void serve(const bench::Folder& folder) {
  std::map<std::string, std::unique_ptr<Block>> blocks;
  std::string made_for;
  std::unique_ptr<OurWay> way;
  for (std::string line; std::getline(std::cin, line);) {
    std::istringstream words(line);
    std::string fanouts, reduction, direction;
    int64_t width = 0, count = 0;
    int threads = 0;
    if (!(words >> fanouts >> reduction >> width >> threads >> direction >> count))
      base::fail(base::Status::kInvalidArgument, "no such task: ", line);
    const std::string wanted = base::text(fanouts, " ", reduction, " ", width);
    if (wanted != made_for) {
      std::unique_ptr<Block>& block = blocks[fanouts];
      if (!block) block = std::make_unique<Block>(folder, fanouts);
      const auto found = std::ranges::find(
          kReductions, reduction, [](const auto& entry) { return std::string(entry.first); });
      if (found == std::end(kReductions))
        base::fail(base::Status::kInvalidArgument, "no such reduction: ", reduction);
      way = std::make_unique<OurWay>(*block, found->second, width);
      made_for = wanted;
    }
    const Times times = run(*way, direction == "both", threads, count);
    std::printf("{\"wall\": %.6f, \"cpu\": %.6f}\n", times.wall, times.cpu);
    std::fflush(stdout);
  }
}

int start(int argc, char** argv) {
  const std::string verb = argc > 2 ? argv[1] : "";
  if (verb != "torch" && verb != "export" && verb != "serve") {
    std::fprintf(stderr,
                 "usage: bench_nn torch <folder> [rounds] | export <folder> | serve <folder>\n");
    return 2;
  }
  const bench::Folder folder = bench::read_folder(argv[2], false);
  if (verb == "torch")
    compare(folder, argc > 3 ? std::stoll(argv[3]) : 5);
  else if (verb == "export")
    export_blocks(folder, argv[2]);
  else
    serve(folder);
  return 0;
}

}  // namespace
}  // namespace gnnmg

int main(int argc, char** argv) {
  try {
    return gnnmg::start(argc, argv);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "bench_nn: %s\n", error.what());
    return 1;
  }
}
