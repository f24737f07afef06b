// Arguments that collectives refuse before they send anything.
#include "comm/check.h"

#include <gtest/gtest.h>

#include <functional>
#include <vector>

namespace gnnmg::comm {
namespace {

using base::DType;
using base::TensorView;

std::string refusal(const std::function<void()>& body) {
  try {
    body();
  } catch (const base::Error& error) {
    const bool of_root = std::string_view(error.what()).find("root") != std::string_view::npos;
    EXPECT_EQ(error.status(), of_root ? base::Status::kNotFound : base::Status::kInvalidArgument);
    return error.what();
  }
  return "accepted";
}

std::vector<float> memory(64);
TensorView view(DType dtype, base::Shape shape) { return {memory.data(), dtype, shape}; }

TEST(Check, Reduce) {
  EXPECT_EQ(refusal([] { check_reduce(view(DType::kF16, {3}), ReduceOp::kMean); }), "accepted");
  EXPECT_EQ(refusal([] { check_reduce(view(DType::kU8, {3}), ReduceOp::kMax); }), "accepted");
  EXPECT_EQ(refusal([] { check_reduce(view(DType::kBool, {3}), ReduceOp::kSum); }),
            "all_reduce: elements of type bool cannot be reduced");
  EXPECT_EQ(refusal([] { check_reduce(view(DType::kI64, {3}), ReduceOp::kMean); }),
            "all_reduce: the mean needs floating-point elements, found i64");
  EXPECT_EQ(refusal([] { check_reduce(view(DType::kF32, {3}), static_cast<ReduceOp>(9)); }),
            "all_reduce: operation 9 is none of sum, mean, min, max");
  EXPECT_EQ(refusal([] { check_reduce({nullptr, DType::kF32, {3}}, ReduceOp::kSum); }),
            "all_reduce: data is null for a tensor of shape [3]");
  EXPECT_EQ(refusal([] { check_reduce({nullptr, DType::kF32, {0}}, ReduceOp::kSum); }), "accepted");
}

TEST(Check, Root) {
  const TensorView a = view(DType::kF32, {3});
  EXPECT_EQ(refusal([&] { check_broadcast(a, 1, 2); }), "accepted");
  EXPECT_EQ(refusal([&] { check_broadcast(a, 2, 2); }),
            "broadcast: root 2 is no rank of a world of 2");
  EXPECT_EQ(refusal([&] { check_broadcast(a, -1, 2); }),
            "broadcast: root -1 is no rank of a world of 2");
}

TEST(Check, Gather) {
  const TensorView a = view(DType::kF32, {3}), b = view(DType::kF32, {2, 2});
  EXPECT_EQ(refusal([&] { check_gather(a, {{a, b}}, 0, 2); }), "accepted");
  EXPECT_EQ(refusal([&] { check_gather(a, {{a}}, 0, 2); }),
            "all_gather outputs: expected one tensor for each of 2 ranks, found 1");
  EXPECT_EQ(
      refusal([&] { check_gather(a, {{a, b}}, 1, 2); }),
      "all_gather: a rank's input has shape [3], but its own place in the outputs has [2, 2]");
  EXPECT_EQ(refusal([&] { check_gather(a, {{a, view(DType::kF64, {1})}}, 0, 2); }),
            "all_gather outputs: tensor of rank 1 has elements of type f64, expected f32");
}

TEST(Check, Exchange) {
  const TensorView a = view(DType::kF32, {3}), b = view(DType::kF32, {2, 2});
  EXPECT_EQ(refusal([&] { check_exchange({{a, b}}, {{a, a}}, 0, 2); }), "accepted");
  EXPECT_EQ(
      refusal([&] { check_exchange({{a, b}}, {{b, a}}, 0, 2); }),
      "all_to_all: a rank's input has shape [3], but its own place in the outputs has [2, 2]");
  EXPECT_EQ(refusal([&] { check_exchange({{a, b}}, {{a}}, 0, 2); }),
            "all_to_all outputs: expected one tensor for each of 2 ranks, found 1");
}

TEST(Check, World) {
  EXPECT_EQ(refusal([] { check_world(1); }), "accepted");
  EXPECT_EQ(refusal([] { check_world(0); }),
            "world size 0: expected 1 to 256 ranks in one process");
  EXPECT_EQ(refusal([] { check_world(257); }),
            "world size 257: expected 1 to 256 ranks in one process");
}

}  // namespace
}  // namespace gnnmg::comm
