#include "base/free_memory.h"

#include <algorithm>
#include <fstream>
#include <limits>
#include <memory>

#include "base/error.h"
#include "base/memory.h"

namespace gnnmg::base {
namespace {

// The number after `name` in lines such as "MemTotal:  1234 kB" or "active_file 1234"; 0: none.
int64_t number_of(const std::string& path, const std::string& name) {
  std::ifstream file(path);
  std::string word;
  int64_t value = 0;
  while (file >> word) {
    if (word == name && file >> value) return value;
    file.ignore(std::numeric_limits<std::streamsize>::max(), '\n');
  }
  return 0;
}

// The only number of a file; `other` if it has none, such as "max".
int64_t number_in(const std::string& path, int64_t other) {
  std::ifstream file(path);
  int64_t value = 0;
  return file >> value ? value : other;
}

// The path of the process's group in the hierarchy, "/a/b", from the line "0::/a/b".
std::string group_of(const std::string& path) {
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);)
    if (line.starts_with("0::")) return line.substr(3);
  return "/";
}

void limit_by(const std::string& folder, FreeMemory& memory) {
  const int64_t limit = number_in(folder + "/memory.max", memory.total);
  if (limit >= memory.total) return;
  const std::string stat = folder + "/memory.stat";
  const int64_t files = number_of(stat, "active_file") + number_of(stat, "inactive_file");
  const int64_t used = number_in(folder + "/memory.current", 0);
  memory.total = limit;
  memory.available = std::min(memory.available, std::max<int64_t>(0, limit - used + files));
}

}  // namespace

FreeMemory free_memory(const std::string& root) {
  const std::string info = root + "proc/meminfo";
  FreeMemory memory{number_of(info, "MemTotal:") * 1024, number_of(info, "MemAvailable:") * 1024};
  std::string group = group_of(root + "proc/self/cgroup");
  while (true) {
    limit_by(text(root, "sys/fs/cgroup", group), memory);
    const size_t slash = group.rfind('/');
    if (slash == group.npos || group.empty()) return memory;
    group.resize(slash);
  }
}

int64_t available_memory() {
  const FreeMemory memory = free_memory();
  const int64_t of_system = memory.total > 0 ? memory.available : INT64_MAX;
  const std::shared_ptr<MemoryBudget>& budget = current_budget();
  if (!budget || budget->limit() == 0) return of_system;
  return std::min(of_system, std::max<int64_t>(budget->limit() - budget->used(), 0));
}

}  // namespace gnnmg::base
