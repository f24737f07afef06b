#include "device/plugin.h"

#include <dlfcn.h>

#include "base/error.h"

namespace gnnmg::device {
namespace {

// Returns the folder of the library or program that contains this code, with a slash at its end.
std::string own_folder() {
  Dl_info info{};
  if (dladdr(reinterpret_cast<const void*>(&open_plugin), &info) == 0 || info.dli_fname == nullptr)
    return "";
  const std::string path = info.dli_fname;
  return path.substr(0, path.rfind('/') + 1);  // an empty text if the path has no slash
}

// RTLD_LOCAL keeps the names apart from other libraries; RTLD_NOW makes `reason` name a missing
// symbol.
void* open_library(const std::string& path, std::string* reason) {
  void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    const char* said = dlerror();
    *reason = said != nullptr ? said : path;
  }
  return library;
}

}  // namespace

const char* build_version() noexcept { return GNNMG_BUILD_VERSION; }

bool has_driver() {
  void* driver = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_LOCAL);
  if (driver != nullptr) dlclose(driver);
  return driver != nullptr;
}

Plugin open_plugin_at(const std::string& path) {
  std::string reason;
  void* library = open_library(path, &reason);
  // CUDA's runtime and NCCL lie in folders that LibTorch's CUDA half knows and an installed plug-in
  // does not. The loader finds them once they are loaded.
  if (library == nullptr && dlopen("libtorch_cuda.so", RTLD_LAZY | RTLD_LOCAL) != nullptr)
    library = open_library(path, &reason);
  if (library == nullptr) {
    return {nullptr,
            base::text("the CUDA plug-in cannot be opened: ", reason,
                       "; the library is built with nvcc of CUDA 13 and LibTorch's CUDA "
                       "libraries (src/cmake/setup.sh --full --cuda-compiler), and where it is "
                       "installed, LD_LIBRARY_PATH names the lib folder of such a LibTorch")};
  }
  const auto function = reinterpret_cast<TableFunction>(dlsym(library, kTableFunction));
  if (function == nullptr) {
    dlclose(library);
    return {nullptr, base::text(path, " is not a CUDA plug-in of this library: it has no function ",
                                kTableFunction, "; install both from one build")};
  }
  const Table* table = function();
  if (table->size != static_cast<int64_t>(sizeof(Table)) ||
      std::string(table->version) != build_version()) {
    // If the size differs, later fields may differ too; the version has always been the second
    // field.
    return {nullptr,
            base::text("the CUDA plug-in ", path, " is of version ", table->version,
                       ", the library of ", build_version(), "; install both from one build")};
  }
  return {table, ""};
}

const Plugin& open_plugin() {
  static const Plugin plugin = open_plugin_at(own_folder() + "libgnnmg_cuda.so");
  return plugin;
}

}  // namespace gnnmg::device
