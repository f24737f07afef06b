// Which LibTorch is in this process? Another copy than the one that the library was built for may
// load without a complaint and corrupt memory, so its version is compared first of all.
#include "capi/torch_check.h"

#include <link.h>
#include <torch/headeronly/version.h>

#include "base/error.h"

// In LibTorch since 2.11: version in the upper bytes. Weak, because older ones lack it.
extern "C" __attribute__((weak)) uint64_t aoti_torch_abi_version();

namespace gnnmg::capi {
namespace {

std::string version_text(uint64_t abi_version) {
  return base::text(abi_version >> 56, ".", abi_version >> 48 & 0xFF, ".",
                    abi_version >> 40 & 0xFF);
}

int note_torch(dl_phdr_info* info, size_t, void* paths) {
  const std::string path = info->dlpi_name ? info->dlpi_name : "";
  if (path.find("libtorch_cpu.so") != std::string::npos)
    static_cast<std::vector<std::string>*>(paths)->push_back(path);
  return 0;
}

}  // namespace

FoundTorch find_torch() {
  FoundTorch found;
  if (aoti_torch_abi_version != nullptr) found.abi_version = aoti_torch_abi_version();
  dl_iterate_phdr(note_torch, &found.paths);
  return found;
}

void check_torch(const FoundTorch& found) {
  const uint64_t major = found.abi_version >> 56;
  const uint64_t minor = found.abi_version >> 48 & 0xFF;
  if (major == TORCH_VERSION_MAJOR && minor == TORCH_VERSION_MINOR && found.paths.size() <= 1)
    return;
  std::string where;
  for (const std::string& path : found.paths) where += (where.empty() ? "" : " and ") + path;
  if (found.paths.size() > 1)
    base::fail(base::Status::kDependency, "this process holds more than one LibTorch: ", where);
  base::fail(base::Status::kDependency, "built for LibTorch ", TORCH_VERSION_MAJOR, ".",
             TORCH_VERSION_MINOR, ", but this process has ",
             found.abi_version == 0 ? std::string("an older one") : version_text(found.abi_version),
             where.empty() ? "" : " from ", where);
}

int32_t torch_version(const FoundTorch& found) {
  return static_cast<int32_t>((found.abi_version >> 56) * 10000 +
                              (found.abi_version >> 48 & 0xFF) * 100 +
                              (found.abi_version >> 40 & 0xFF));
}

}  // namespace gnnmg::capi
