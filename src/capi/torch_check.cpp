// Finds the LibTorch in this process. Another copy than the one that the library was built for may
// load without a complaint and corrupt memory, so its version is compared first of all. The
// library's imports of LibTorch are weak (src/cmake/weak_imports.cpp), so that this is reached
// where some are missing.
#include "capi/torch_check.h"

#include <dlfcn.h>
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

// The names of LibTorch's that this library imports, weak and in C++.
class Imports {
 public:
  // None where this is no shared library, but a program that has all of it linked in.
  static std::vector<std::string> missing() {
    Dl_info own;
    if (dladdr(reinterpret_cast<const void*>(&Imports::missing), &own) == 0) return {};
    void* const handle = dlopen(own.dli_fname, RTLD_NOW | RTLD_NOLOAD);
    if (handle == nullptr) return {};
    link_map* map = nullptr;
    std::vector<std::string> names;
    if (dlinfo(handle, RTLD_DI_LINKMAP, static_cast<void*>(&map)) == 0)
      names = Imports(*map).absent_in(handle);
    dlclose(handle);
    return names;
  }

 private:
  explicit Imports(const link_map& map) {
    for (const ElfW(Dyn)* entry = map.l_ld; entry->d_tag != DT_NULL; ++entry) {
      const auto* const place = reinterpret_cast<const void*>(entry->d_un.d_ptr);
      if (entry->d_tag == DT_SYMTAB) symbols_ = static_cast<const ElfW(Sym)*>(place);
      if (entry->d_tag == DT_STRTAB) names_ = static_cast<const char*>(place);
      // The second word counts the symbols in front of those that others can find: the imports.
      if (entry->d_tag == DT_GNU_HASH) count_ = static_cast<const uint32_t*>(place)[1];
    }
  }
  std::vector<std::string> absent_in(void* handle) const {
    std::vector<std::string> names;
    if (symbols_ == nullptr || names_ == nullptr) return names;
    for (uint32_t i = 1; i < count_; ++i) {
      const char* const name = names_ + symbols_[i].st_name;
      if (symbols_[i].st_shndx == SHN_UNDEF && ELF64_ST_BIND(symbols_[i].st_info) == STB_WEAK &&
          name[0] == '_' && name[1] == 'Z' && dlsym(handle, name) == nullptr)
        names.emplace_back(name);
    }
    return names;
  }

  const ElfW(Sym) * symbols_ = nullptr;
  const char* names_ = nullptr;
  uint32_t count_ = 0;
};

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

FoundTorch find_torch_and_missing() {
  FoundTorch found = find_torch();
  found.missing = Imports::missing();
  return found;
}

void check_torch(const FoundTorch& found) {
  const uint64_t major = found.abi_version >> 56;
  const uint64_t minor = found.abi_version >> 48 & 0xFF;
  const bool right = major == TORCH_VERSION_MAJOR && minor == TORCH_VERSION_MINOR;
  if (right && found.paths.size() <= 1 && found.missing.empty()) return;
  std::string where;
  for (const std::string& path : found.paths) where += (where.empty() ? "" : " and ") + path;
  if (found.paths.size() > 1)
    base::fail(base::Status::kDependency, "this process holds more than one LibTorch: ", where);
  if (right)
    base::fail(base::Status::kDependency, "the LibTorch ", version_text(found.abi_version),
               " of this process, from ", where, ", lacks ", found.missing.size(),
               " names that one of this version has, as ", found.missing.front());
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
