// A training pass without memory for its rows: an error, no leak, and an equal result of the next
// pass. A separate program, because it replaces the allocator.
#include <gtest/gtest.h>

#include <ATen/Parallel.h>
#include <ATen/TensorOperators.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/sum.h>
#include <c10/util/Exception.h>

#include "base/error.h"
#include "nn/model/model.h"
#include "nn/support.h"
#include "support/alloc_faults.h"

namespace gnnmg::nn {
namespace {

constexpr int64_t kSources = 900, kTargets = 700, kWidth = 24;
// Rows, weights and their gradients are larger; LibTorch's bookkeeping, whose failures it does not
// survive, is smaller.
constexpr int64_t kRowBytes = 8192;

struct Pass {
  std::vector<double> logits, gradients;
  bool operator==(const Pass&) const = default;
};

std::vector<double> numbers(const at::Tensor& t) {
  const at::Tensor exact = t.detach().to(at::kDouble).contiguous();
  return {exact.const_data_ptr<double>(), exact.const_data_ptr<double>() + exact.numel()};
}

class MemoryTest : public testing::TestWithParam<Aggregation> {
 protected:
  static ModelConfig config() {
    ModelConfig c;
    c.input_dim = kWidth;
    c.hidden_dim = 32;
    c.output_dim = 16;
    c.num_layers = 2;
    c.dropout = 0.25;
    c.aggregation = GetParam();
    return c;
  }

  // Runs a forward and a backward pass.
  void pass(Model& model) {
    const std::vector<sample::BlockView> blocks = {lower_.view(), upper_.view()};
    ForwardArgs args;
    args.input.dense = x_;
    args.blocks = blocks;
    args.training = true;
    model.zero_gradients();
    logits_ = model.forward(args);
    logits_.sum().backward();
  }

  // LibTorch's queue of this thread keeps the rest of a failed backward pass until the next one.
  static void empty_queue() { at::ones({}).set_requires_grad(true).mul(2).backward(); }

  // Translates LibTorch's errors as the C API does.
  static void translated(const std::function<void()>& body) {
    try {
      body();
    } catch (const c10::Error& error) {
      const std::string text = error.what_without_backtrace();
      if (text.find("DefaultCPUAllocator") == std::string::npos) throw;
      base::fail(base::Status::kNoMemory, "LibTorch has no memory");
    }
  }

  const TestBlock lower_{kSources, kTargets, random_edges(kSources, kTargets, 5000, 1)};
  const TestBlock upper_{kTargets, 300, random_edges(kTargets, 300, 2000, 2)};
  const at::Tensor x_ = random_tensor({kSources, kWidth}, at::kFloat, 3);
  at::Tensor logits_;
};

TEST_P(MemoryTest, NothingStaysHeldWhereAnAllocationFails) {
  const auto body = [&] {
    translated([&] {
      const std::unique_ptr<Model> model = make_model(config());
      try {
        pass(*model);
      } catch (...) {
        logits_ = at::Tensor();
        empty_queue();
        throw;
      }
      logits_ = at::Tensor();
    });
  };
  body();
  empty_queue();  // LibTorch also registers its operators for the exit at first use
  {               // LibTorch's one-time setup for its first failure
    const test::AllocationFaults faults({1, /*for_ever=*/false, kRowBytes});
    EXPECT_ANY_THROW(body());
  }
  const int64_t runs = test::fail_each_allocation(body, /*for_ever=*/false, /*first=*/1,
                                                  /*step=*/1, kRowBytes);
  // The model's buffers, each layer's rows and their gradients; under a sanitizer without
  // LibTorch's own allocations.
  EXPECT_GE(runs, 6);
}

TEST_P(MemoryTest, TheNextPassIsAsIfNothingHadFailed) {
  const std::unique_ptr<Model> untouched = make_model(config());
  pass(*untouched);
  const Pass expected{numbers(logits_), numbers(untouched->flat_gradients())};
  int failures = 0;
  for (int64_t n = 1;; ++n) {
    // A new model: the scratch memory of an old one does not fail again.
    const std::unique_ptr<Model> model = make_model(config());
    bool struck = false;
    {
      const test::AllocationFaults faults({n, /*for_ever=*/true, kRowBytes});
      try {
        translated([&] { pass(*model); });
      } catch (const base::Error& error) {
        EXPECT_EQ(error.status(), base::Status::kNoMemory);
        ++failures;
      } catch (const std::bad_alloc&) {
        ++failures;
      }
      struck = faults.struck();
    }
    pass(*model);
    ASSERT_EQ((Pass{numbers(logits_), numbers(model->flat_gradients())}), expected) << n;
    if (!struck) break;
  }
  EXPECT_GE(failures, 6);
}

// Attention over many edges between few nodes: an allocation of a row of all channels per edge
// would fail.
TEST(MemoryOfAttention, NoRowOfAllChannelsIsMadeForAnEdge) {
  constexpr int64_t kNodes = 60, kEdges = 20000, kHeads = 4, kChannels = 16, kColumns = 3;
  const TestBlock block(kNodes, kNodes, random_edges(kNodes, kNodes, kEdges, 1));
  const std::vector<sample::BlockView> blocks{block.view()};
  const std::vector<EdgeValues> carried{{{}, random_tensor({kEdges, kColumns}, at::kFloat, 2), {}}};
  ForwardArgs args;
  args.input.dense = random_tensor({kNodes, kWidth}, at::kFloat, 3);
  args.blocks = blocks;
  args.edges = carried;
  args.training = true;
  for (const Architecture architecture :
       {Architecture::kGat, Architecture::kGatv2, Architecture::kTransformer}) {
    ModelConfig config;
    config.architecture = architecture;
    config.input_dim = kWidth;
    config.hidden_dim = kHeads * kChannels;
    config.output_dim = kChannels;
    config.num_layers = 1;
    config.heads = kHeads;
    config.edge_dim = kColumns;
    const std::unique_ptr<Model> model = make_model(config);
    constexpr int64_t kTooLarge = kEdges * kHeads * kChannels * 4 / 4;
    const test::AllocationFaults faults({1, /*for_ever=*/true, kTooLarge});
    EXPECT_NO_THROW(model->forward(args).sum().backward())
        << "architecture " << static_cast<int>(architecture);
  }
}

INSTANTIATE_TEST_SUITE_P(Aggregations, MemoryTest,
                         testing::Values(Aggregation::kMean, Aggregation::kMax),
                         [](const auto& info) {
                           return info.param == Aggregation::kMean ? "mean" : "max";
                         });

}  // namespace
}  // namespace gnnmg::nn
