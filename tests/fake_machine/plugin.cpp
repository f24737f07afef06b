// The fake GPUs of tests/fake_gpu as a plug-in: a copy of the library opens it as libgnnmg_cuda.so,
// so that programs run on GPUs unchanged. The environment determines its properties:
//   GNNMG_FAKE_GPUS       number, 0 to 8; default 2
//   GNNMG_FAKE_MEMORY     bytes of each
//   GNNMG_FAKE_DRIVER     "old": the driver is for an older CUDA
//   CUDA_VISIBLE_DEVICES  "": the process sees none of them, as with CUDA
//   GNNMG_FAKE_LATE       any value: they work later than requested, and a test can make them
//                         hang and change them while it runs, by the functions below.
#include <cstdlib>
#include <string>

#include "base/error.h"
#include "device/table.h"
#include "fake_gpu.h"
#include "fake_nccl/fake_nccl.h"
#include "late.h"

namespace {

namespace comm = gnnmg::comm;
namespace device = gnnmg::device;
namespace fake = gnnmg::fake_gpu;

int64_t number(const char* variable, int64_t otherwise) {
  const char* text = std::getenv(variable);
  return text == nullptr ? otherwise : std::atoll(text);
}

int num_visible() {
  const char* visible = std::getenv("CUDA_VISIBLE_DEVICES");
  const bool none = visible != nullptr && *visible == '\0';
  return none ? 0 : static_cast<int>(number("GNNMG_FAKE_GPUS", 2));
}

device::Table make_table() {
  const int count = num_visible();
  device::Table table = fake::make_table(count == 0 ? 1 : count);
  if (count == 0) table.num_devices = [] { return 0; };
  const char* driver = std::getenv("GNNMG_FAKE_DRIVER");
  if (driver != nullptr && std::string(driver) == "old")
    table.num_devices = []() -> int {
      gnnmg::base::fail(gnnmg::base::Status::kDependency,
                        "the NVIDIA driver is for CUDA 12.4, the library needs one for CUDA 13");
    };
  const int64_t memory = number("GNNMG_FAKE_MEMORY", 0);
  for (int device = 0; device < count && memory > 0; ++device) fake::set_memory(device, memory);
  return table;
}

fake::Late* late = nullptr;

}  // namespace

#define GNNMG_EXPORTED extern "C" __attribute__((visibility("default")))

GNNMG_EXPORTED const device::Table* gnnmg_cuda_device_table() noexcept {
  static const device::Table* const made = [] {
    static const device::Table at_once = make_table();
    static device::Table table = at_once;
    if (std::getenv("GNNMG_FAKE_LATE") != nullptr) {
      late = new fake::Late(at_once);  // lives until the process ends
      table = late->table();
      gnnmg::fake_nccl::put_off_operations(fake::Late::put);
    }
    // The late GPUs defer operations themselves, so the fake NCCL runs them at once.
    table.set<comm::nccl::Table>(&gnnmg::fake_nccl::table(at_once));
    return &table;
  }();
  return made;
}

GNNMG_EXPORTED void gnnmg_fake_lose(int device) { fake::lose(device); }
GNNMG_EXPORTED void gnnmg_fake_find_again(int device) { fake::find_again(device); }
GNNMG_EXPORTED void gnnmg_fake_hang(int device, int first) { late->hang(device, first); }
GNNMG_EXPORTED void gnnmg_fake_go_on(int device) { late->go_on(device); }
GNNMG_EXPORTED void gnnmg_fake_refuse_pinning(int refuse) { fake::refuse_pinning(refuse != 0); }
GNNMG_EXPORTED void gnnmg_fake_refuse_peer(int device, int peer, int refuse) {
  fake::refuse_peer(device, peer, refuse != 0);
}
GNNMG_EXPORTED void gnnmg_fake_set_memory(int device, int64_t bytes) {
  fake::set_memory(device, bytes);
}
GNNMG_EXPORTED int64_t gnnmg_fake_num_live(int device) { return fake::num_live(device); }
