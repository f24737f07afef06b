// Fake GPUs, one per rank, with the fake NCCL. Options:
//   first=<n>     ranks of earlier processes, whose GPUs precede this one's; the same number in
//   each process gpus=0        no GPUs: the CPU gpu_mib=<n>   memory of each late=1        work is
//   delayed, and starting a kernel after unfinished work blocks the thread nccl=<faults> as
//   GNNMG_FAKE_NCCL_FAULTS nccl_version=<n>
#include <chrono>
#include <numeric>
#include <thread>

#include "base/background.h"
#include "fake_gpu.h"
#include "fake_nccl/fake_nccl.h"
#include "late.h"
#include "train/job/on_devices.h"

namespace gnnmg::test {
namespace {

constexpr int kMost = 8;

fake_gpu::Late* late = nullptr;  // lives until the process ends

void put_on(int first, Recipe& setup, Host& host) {
  static const device::Table& table = [&]() -> device::Table& {
    // The late GPUs defer operations themselves, so the fake NCCL runs them at once.
    static device::Table at_once = fake_gpu::make_table(kMost);
    at_once.set<comm::nccl::Table>(&fake_nccl::table(at_once));
    static device::Table all = at_once;
    if (late) {
      all = late->table();
      all.set<comm::nccl::Table>(at_once.of<comm::nccl::Table>());
    }
    return all;
  }();
  if (late) fake_nccl::put_off_operations(fake_gpu::Late::put);
  setup.trainer.devices.resize(static_cast<size_t>(std::max(setup.trainer.num_ranks, 1)));
  std::iota(setup.trainer.devices.begin(), setup.trainer.devices.end(), first);
  setup.trainer.num_ranks = 0;
  host.devices = &table;
}

}  // namespace

void open_devices(const Options& options) {
  if (!options.given("late")) return;
  static const device::Table at_once = fake_gpu::make_table(kMost);
  late = new fake_gpu::Late(at_once, fake_gpu::Launches::kHoldUp);
}

void place(const Options& options, Recipe& setup, Host& host) {
  if (options.number("gpus", 1) == 0) return;
  const int64_t before = options.number("process", 0) * options.number("ranks", 1);
  fake_gpu::set_first_on_bus(static_cast<int>(options.number("first", before)));
  for (int device = 0; device < kMost && options.given("gpu_mib"); ++device)
    fake_gpu::set_memory(device, options.number("gpu_mib", 0) << 20);
  fake_nccl::reset();
  for (const fake_nccl::Fault& fault : fake_nccl::parse_faults(options.text("nccl", "")))
    fake_nccl::plan(fault);
  if (options.given("nccl_version"))
    fake_nccl::set_version(static_cast<int>(options.number("nccl_version", 0)));
  put_on(0, setup, host);
}

void place(int process, Recipe& setup, Host& host) { put_on(2 * process, setup, host); }

bool slow() { return true; }

int64_t num_on_devices() {
  for (int i = 0; i < 2000 && base::num_left() > 0; ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  const fake_nccl::Count count = fake_nccl::count();
  int64_t held = count.made - count.aborted - count.destroyed + count.streams + base::num_left() +
                 static_cast<int64_t>(fake_nccl::violations().size());
  for (int device = 0; device < kMost; ++device) held += fake_gpu::num_live(device);
  return held;
}

int64_t num_held_up() { return late ? late->num_held_up() : 0; }

void lose_device() { fake_gpu::lose(0); }

}  // namespace gnnmg::test
