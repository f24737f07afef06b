// Every collective with contents that all ranks know, for any engine. Failures are thrown, because
// programs that tests start use these checks too.
#pragma once

#include <cstring>
#include <numeric>
#include <vector>

#include "comm/collectives.h"

namespace gnnmg::test {

template <typename T>
base::TensorView view_of(std::vector<T>& values) {
  return {values.data(), base::dtype_of<T>(), {static_cast<int64_t>(values.size())}};
}

template <typename T>
void expect_each(const std::vector<T>& values, T expected, const char* what) {
  for (size_t i = 0; i < values.size(); ++i)
    if (values[i] != expected)
      throw base::Error(base::Status::kInternal,
                        base::text(what, ": element ", i, " of ", values.size(), " is ", values[i],
                                   ", expected ", expected));
}

// Runs each operation once on `count` elements; `wait` makes the wait of each.
template <typename MakeWait>
void check_collectives(comm::Collectives& comm, int64_t count, const MakeWait& wait) {
  const int world = comm.world_size(), me = comm.rank();
  const auto size = static_cast<size_t>(count);
  std::vector<float> sums(size, static_cast<float>(me + 1));
  comm.all_reduce(view_of(sums), comm::ReduceOp::kSum, wait());
  expect_each(sums, static_cast<float>(world * (world + 1) / 2), "all_reduce, sum");
  std::vector<int64_t> most(size, me);
  comm.all_reduce(view_of(most), comm::ReduceOp::kMax, wait());
  expect_each(most, static_cast<int64_t>(world - 1), "all_reduce, max");
  for (int root = 0; root < world; ++root) {
    std::vector<int32_t> word(size, me == root ? 7 + root : -1);
    comm.broadcast(view_of(word), root, wait());
    expect_each(word, 7 + root, "broadcast");
  }
  for (const bool even : {true, false}) {
    std::vector<std::vector<int32_t>> parts;
    for (int r = 0; r < world; ++r)
      parts.emplace_back(size + static_cast<size_t>(even ? 0 : r % 3), -1);
    std::vector<base::TensorView> outputs;
    for (auto& part : parts) outputs.push_back(view_of(part));
    std::vector<int32_t> mine(parts[static_cast<size_t>(me)].size(), 100 + me);
    comm.all_gather(view_of(mine), outputs, wait());
    for (int r = 0; r < world; ++r)
      expect_each(parts[static_cast<size_t>(r)], 100 + r,
                  even ? "all_gather" : "all_gather, uneven");
  }
  // Rank a sends (a + 2b) % 3 times `count` elements to rank b.
  const auto amount = [&](int from, int to) {
    return static_cast<size_t>((from + 2 * to) % 3) * size;
  };
  std::vector<std::vector<double>> out, in;
  std::vector<base::TensorView> inputs, outputs;
  for (int r = 0; r < world; ++r) {
    out.emplace_back(amount(me, r), me * 100.0 + r);
    in.emplace_back(amount(r, me), -1.0);
  }
  for (int r = 0; r < world; ++r) {
    inputs.push_back(view_of(out[static_cast<size_t>(r)]));
    outputs.push_back(view_of(in[static_cast<size_t>(r)]));
  }
  comm.all_to_all(inputs, outputs, wait());
  for (int r = 0; r < world; ++r)
    expect_each(in[static_cast<size_t>(r)], r * 100.0 + me, "all_to_all");
  comm.barrier(wait());
}

}  // namespace gnnmg::test
