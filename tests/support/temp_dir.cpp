#include "support/temp_dir.h"

#include <stdlib.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>

namespace gnnmg::test {
namespace fs = std::filesystem;

TempDir::TempDir() : path_(fs::temp_directory_path() / "gnnmg-test-XXXXXX") {
  if (!mkdtemp(path_.data())) throw std::runtime_error("cannot make the folder " + path_);
}

TempDir::~TempDir() {
  std::error_code ignored;
  for (fs::recursive_directory_iterator it(path_, ignored), end; it != end; it.increment(ignored))
    if (it->is_directory(ignored) && !it->is_symlink(ignored))
      fs::permissions(it->path(), fs::perms::owner_all, fs::perm_options::add, ignored);
  fs::remove_all(path_, ignored);
}

std::string TempDir::file(std::string_view name) const { return fs::path(path_) / name; }

std::string TempDir::write(std::string_view name, std::span<const uint8_t> bytes) const {
  const fs::path path = fs::path(path_) / name;
  fs::create_directories(path.parent_path());
  std::ofstream out(path, std::ios::binary);
  out.write(reinterpret_cast<const char*>(bytes.data()),
            static_cast<std::streamsize>(bytes.size()));
  if (!out.flush()) throw std::runtime_error("cannot write " + path.string());
  return path;
}

std::string TempDir::write(std::string_view name, std::string_view text) const {
  return write(name, {reinterpret_cast<const uint8_t*>(text.data()), text.size()});
}

std::vector<std::string> TempDir::list() const {
  std::vector<std::string> names;
  for (const auto& entry : fs::recursive_directory_iterator(path_))
    names.push_back(entry.path().lexically_relative(path_));
  std::sort(names.begin(), names.end());
  return names;
}

std::string slurp(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) throw std::runtime_error("cannot read " + path);
  return {std::istreambuf_iterator<char>(in), {}};
}

}  // namespace gnnmg::test
