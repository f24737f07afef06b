#include "dist/engine.h"

#include <dlfcn.h>
#include <limits.h>
#include <link.h>
#include <unistd.h>

#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/file.h"
#include "device/plugin.h"

namespace gnnmg::dist {
namespace {

using base::fail;
using base::Status;

constexpr const char* kPlugin = "libgnnmg_grpc.so";
constexpr const char* kRemedy =
    "build the library where gRPC 1.51 for C++ is (Debian's libgrpc++-dev; src/cmake/setup.sh "
    "--tests installs it)";

std::string folder_of(const std::string& path) { return path.substr(0, path.rfind('/') + 1); }

// The library or program that holds this code.
std::string own_file() {
  Dl_info info{};
  if (dladdr(reinterpret_cast<const void*>(&open_engine), &info) != 0 && info.dli_fname &&
      std::string_view(info.dli_fname).find('/') != std::string_view::npos)
    return info.dli_fname;
  char program[4096];  // a program found by PATH
  const ssize_t size = readlink("/proc/self/exe", program, sizeof program);
  return size > 0 ? std::string(program, static_cast<size_t>(size)) : "";
}

// The file that a link leads to; `path` itself if it is none.
std::string target_of_links(const std::string& path) {
  char resolved[PATH_MAX];
  return realpath(path.c_str(), resolved) != nullptr ? resolved : path;
}

// The copies of gRPC that the process has loaded already.
struct LoadedGrpc {
  bool ours = false;  // the version that the plug-in needs
  std::string other;  // the file of another version: two in one process end it
};

LoadedGrpc loaded_grpc() {
  LoadedGrpc found;
  const auto look = [](dl_phdr_info* info, size_t, void* out) {
    const std::string_view path = info->dlpi_name ? info->dlpi_name : "";
    const std::string_view name = path.substr(path.rfind('/') + 1);
    for (const std::string_view ours : {GNNMG_GRPC_SONAME, GNNMG_GRPCPP_SONAME}) {
      if (!name.starts_with(ours.substr(0, ours.find(".so") + 3))) continue;
      LoadedGrpc& loaded = *static_cast<LoadedGrpc*>(out);
      if (name.starts_with(ours) && (name.size() == ours.size() || name[ours.size()] == '.'))
        loaded.ours = true;
      else
        loaded.other = path;
    }
    return 0;
  };
  dl_iterate_phdr(look, &found);
  return found;
}

}  // namespace

const Engine& open_engine_at(const std::string& path) {
  if (!base::exists(path))
    fail(Status::kDependency, path, " is not there, by which servers are reached; ", kRemedy);
  const LoadedGrpc loaded = loaded_grpc();
  if (!loaded.other.empty())
    fail(Status::kDependency, "the process has loaded ", loaded.other, ", and ", path,
         " needs " GNNMG_GRPC_SONAME
         ": two versions of gRPC cannot be in one process; run "
         "without the other one");
  // Local, so that its names meet nobody's; all bound now, so that missing ones are reported.
  void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    const char* said = dlerror();
    fail(Status::kDependency, path, " cannot be opened: ", said ? said : "no reason was given",
         "; ", kRemedy);
  }
  const auto function = reinterpret_cast<EngineFunction>(dlsym(library, kEngineFunction));
  const Engine* engine = function ? function(!loaded.ours) : nullptr;
  if (engine == nullptr || engine->size != static_cast<int64_t>(sizeof(Engine)) ||
      std::string_view(engine->version) != device::build_version())
    fail(Status::kDependency, path, " is of version ", engine ? engine->version : "unknown",
         ", the library of ", device::build_version(), "; install both from one build");
  return *engine;
}

const Engine& open_engine() {
  const std::string file = own_file();
  for (const std::string& folder : {folder_of(file), folder_of(target_of_links(file))})
    for (const char* libraries : {"", GNNMG_LIBRARY_FOLDER})
      if (base::exists(folder + libraries + kPlugin))
        return open_engine_at(folder + libraries + kPlugin);
  return open_engine_at(folder_of(file) + kPlugin);
}

}  // namespace gnnmg::dist
