#include "support/data.h"

#include <cstdlib>
#include <filesystem>

namespace gnnmg::test {
namespace fs = std::filesystem;

bool in_ci() {
  const char* value = std::getenv("CI");
  return value && std::string_view(value) == "true";
}

std::optional<std::string> data_dir() {
  const char* given = std::getenv("GNNMG_DATA");
  const fs::path folder =
      given && *given ? fs::path(given) : fs::path(GNNMG_TESTS_DIR) / "../../shared/data";
  std::error_code ignored;
  if (!fs::is_directory(folder, ignored)) return std::nullopt;
  return folder.lexically_normal().string();
}

bool has_data(std::string_view name) {
  const auto folder = data_dir();
  std::error_code ignored;
  return folder && fs::exists(fs::path(*folder) / name, ignored);
}

std::string data_path(std::string_view name) { return fs::path(data_dir().value()) / name; }

std::string source_path(std::string_view name) { return fs::path(GNNMG_TESTS_DIR) / name; }

std::string python_path() {
  if (const char* named = std::getenv("GNNMG_TEST_PYTHON"); named && *named) return named;
  const std::string own = source_path("../.deps/venv/bin/python");
  std::error_code ignored;
  return fs::exists(own, ignored) ? own : "python3";
}

}  // namespace gnnmg::test
