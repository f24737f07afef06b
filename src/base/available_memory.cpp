#include "base/available_memory.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/file.h"
#include "base/memory.h"

namespace gnnmg::base {
namespace {

constexpr int64_t kAny = INT64_MAX;
constexpr std::string_view kGroups = "/sys/fs/cgroup";

// Returns the text of a file of the kernel, whose size is not known before; empty without the file.
std::string kernel_text(const std::string& path) {
  constexpr size_t kMost = 1 << 16;
  try {
    std::vector<uint8_t> bytes(kMost);
    const int64_t size = File(path).read_some(0, bytes);
    return {bytes.begin(), bytes.begin() + size};
  } catch (const Error&) {
    return {};
  }
}

// Returns the number after `start` and spaces; nullopt if the text has none.
std::optional<int64_t> number_after(std::string_view text, std::string_view start) {
  size_t at = text.find(start);
  if (at == text.npos) return {};
  at = text.find_first_not_of(' ', at + start.size());
  int64_t number = 0;
  if (at == text.npos ||
      std::from_chars(text.data() + at, text.data() + text.size(), number).ec != std::errc())
    return {};
  return number;
}

int64_t left_in_system() {
  const auto kilobytes = number_after(kernel_text("/proc/meminfo"), "MemAvailable:");
  return kilobytes ? *kilobytes * 1024 : kAny;
}

// Each control group from the process's own to the root may have a limit.
int64_t left_in_groups() {
  const std::string groups = kernel_text("/proc/self/cgroup");
  const size_t start = groups.find("0::/");
  if (start == groups.npos) return kAny;
  const size_t name = start + 3;
  std::string group = groups.substr(name, groups.find('\n', name) - name);
  int64_t left = kAny;
  for (;;) {
    const std::string folder = text(kGroups, group == "/" ? "" : group);
    const auto limit = number_after(kernel_text(folder + "/memory.max"), "");
    const auto used = number_after(kernel_text(folder + "/memory.current"), "");
    if (limit && used) left = std::min(left, std::max<int64_t>(*limit - *used, 0));
    if (group.size() <= 1) return left;
    group.resize(std::max<size_t>(group.rfind('/'), 1));
  }
}

int64_t left_in_budget() {
  const auto& budget = current_budget();
  if (!budget || budget->limit() == 0) return kAny;
  return std::max<int64_t>(budget->limit() - budget->used(), 0);
}

}  // namespace

int64_t available_memory() {
  return std::min({left_in_system(), left_in_groups(), left_in_budget()});
}

}  // namespace gnnmg::base
