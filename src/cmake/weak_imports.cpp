// A tool of the build: makes a shared library's imports from other libraries weak, so that it can
// be loaded with other versions of these, which lack some symbols, and report that itself. If all
// symbols exist, nothing changes.
//   weak_imports LIBRARY OTHER...
#include <elf.h>

#include <cstdio>
#include <cstring>
#include <fstream>
#include <iterator>
#include <set>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace {

// A 64-bit ELF file in this machine's byte order, and its dynamic symbols.
class Library {
 public:
  explicit Library(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    bytes_.assign(std::istreambuf_iterator<char>(file), {});
    const auto header = at<Elf64_Ehdr>(0);
    if (std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 || header.e_ident[EI_CLASS] != ELFCLASS64)
      throw std::runtime_error(path + ": expected a 64-bit ELF file");
    const auto section = [&](size_t number) {
      return at<Elf64_Shdr>(header.e_shoff + number * header.e_shentsize);
    };
    for (size_t i = 0; i < header.e_shnum; ++i) {
      if (section(i).sh_type != SHT_DYNSYM) continue;
      symbols_ = section(i);
      names_ = section(symbols_.sh_link).sh_offset;
      return;
    }
    throw std::runtime_error(path + ": has no dynamic symbols");
  }

  size_t size() const { return symbols_.sh_size / sizeof(Elf64_Sym); }
  Elf64_Sym symbol(size_t i) const { return at<Elf64_Sym>(offset(i)); }
  std::string_view name(size_t i) const { return bytes_.data() + names_ + symbol(i).st_name; }
  void make_weak(size_t i) {
    Elf64_Sym changed = symbol(i);
    changed.st_info = ELF64_ST_INFO(STB_WEAK, ELF64_ST_TYPE(changed.st_info));
    std::memcpy(bytes_.data() + offset(i), &changed, sizeof changed);
  }
  void write(const std::string& path) const {
    std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
    file.write(bytes_.data(), static_cast<std::streamsize>(bytes_.size()));
    if (!file.flush()) throw std::runtime_error(path + ": cannot be written");
  }

 private:
  template <typename T>
  T at(size_t offset) const {
    T value;
    if (offset > bytes_.size() || bytes_.size() - offset < sizeof value)
      throw std::runtime_error("an ELF file that ends too early");
    std::memcpy(&value, bytes_.data() + offset, sizeof value);
    return value;
  }
  size_t offset(size_t i) const { return symbols_.sh_offset + i * sizeof(Elf64_Sym); }

  std::vector<char> bytes_;
  Elf64_Shdr symbols_{};
  size_t names_ = 0;
};

void make_weak(const std::string& path, const std::vector<std::string>& others) {
  std::set<std::string, std::less<>> offered;
  for (const std::string& other : others) {
    const Library library(other);
    for (size_t i = 0; i < library.size(); ++i)
      if (library.symbol(i).st_shndx != SHN_UNDEF) offered.emplace(library.name(i));
  }
  Library library(path);
  for (size_t i = 0; i < library.size(); ++i) {
    const Elf64_Sym symbol = library.symbol(i);
    if (symbol.st_shndx == SHN_UNDEF && ELF64_ST_BIND(symbol.st_info) == STB_GLOBAL &&
        offered.contains(library.name(i)))
      library.make_weak(i);
  }
  library.write(path);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) {
    std::fputs("usage: weak_imports LIBRARY OTHER...\n", stderr);
    return 2;
  }
  try {
    make_weak(argv[1], {argv + 2, argv + argc});
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "weak_imports: %s\n", error.what());
    return 1;
  }
}
