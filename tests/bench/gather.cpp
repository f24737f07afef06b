// The gather of feature rows into reused memory, compared with a streaming copy of the same size.
#include <benchmark/benchmark.h>

#include <fcntl.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <string>

#include "base/file.h"
#include "base/philox.h"
#include "feature/kept_store.h"
#include "feature/store.h"

namespace gnnmg::feature {
namespace {

constexpr int64_t kTableRows = 1'000'000;

std::vector<int64_t> random_ids(int64_t count) {
  std::vector<int64_t> ids(count);
  base::Stream stream({1, 1}, 1);
  for (int64_t& id : ids) id = static_cast<int64_t>(stream.below(kTableRows));
  return ids;
}

void set_rate(benchmark::State& state, int64_t bytes) {
  state.SetBytesProcessed(state.iterations() * bytes);
}

// Arguments: bytes per row, rows, threads.
void gather(benchmark::State& state) {
  const int64_t row_bytes = state.range(0), count = state.range(1);
  base::ThreadPool pool(static_cast<int>(state.range(2)));
  const base::Tensor table = base::Tensor::zeros(base::DType::kU8, {kTableRows, row_bytes});
  const std::vector<int64_t> ids = random_ids(count);
  base::PageVector<uint8_t> out;
  out.resize_discard(count * row_bytes);
  std::memset(out.data(), 0, out.size());
  for (auto _ : state)
    gather_rows(static_cast<const uint8_t*>(table.data()), row_bytes, ids, out.data(), &pool);
  set_rate(state, count * row_bytes);
}
BENCHMARK(gather)
    ->ArgNames({"row_bytes", "rows", "threads"})
    ->ArgsProduct({{200, 400, 1024, 2408}, {10'000, 400'000}, {1, 2}})
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime();

void copy(benchmark::State& state) {
  const int64_t bytes = state.range(0) << 20;
  base::PageVector<uint8_t> from, to;
  from.resize_discard(bytes);
  to.resize_discard(bytes);
  std::memset(from.data(), 0, bytes);
  std::memset(to.data(), 0, bytes);
  for (auto _ : state) {
    std::memcpy(to.data(), from.data(), bytes);
    benchmark::ClobberMemory();
  }
  set_rate(state, bytes);
}
// Rows of a mapped file. Arguments: bytes per row, rows; 1: kept in memory from the first read on,
// 0: read from the file each time; 1: the file has left the page cache before, and nothing is kept.
void mapped(benchmark::State& state) {
  const int64_t row_bytes = state.range(0), count = state.range(1);
  const bool keep = state.range(2) != 0, cold = state.range(3) != 0;
  const std::string path = "/var/tmp/bench_gather.bin";
  {
    base::AtomicFile file(path);
    const std::vector<uint8_t> some(static_cast<size_t>(row_bytes * 1000), uint8_t{1});
    for (int64_t row = 0; row < kTableRows; row += 1000) file.write(some);
    file.commit();
  }
  const std::shared_ptr<base::MappedFile> file = base::MappedFile::open(path);
  const base::Tensor table(
      {const_cast<uint8_t*>(file->bytes().data()), base::DType::kU8, {kTableRows, row_bytes}},
      file);
  const auto make = [&] { return keep ? make_kept_store(table) : make_store(table); };
  std::unique_ptr<FeatureStore> store = make();
  base::PageVector<uint8_t> out;
  out.resize_discard(count * row_bytes);
  const std::vector<int64_t> ids = random_ids(count);
  if (!cold) store->gather(ids, out.data(), nullptr);
  for (auto _ : state) {
    if (cold) {
      state.PauseTiming();
      store.reset();
      posix_fadvise(file->file().fd(), 0, 0, POSIX_FADV_DONTNEED);
      store = make();
      state.ResumeTiming();
    }
    store->gather(ids, out.data(), nullptr);
  }
  set_rate(state, count * row_bytes);
  std::remove(path.c_str());
}
BENCHMARK(mapped)
    ->ArgNames({"row_bytes", "rows", "keep", "cold"})
    ->ArgsProduct({{400}, {20'000}, {0, 1}, {0, 1}})
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime();

BENCHMARK(copy)->ArgName("MiB")->Arg(4)->Arg(160)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace gnnmg::feature

BENCHMARK_MAIN();
