#include "device/affinity.h"

#include <sched.h>

#include <algorithm>
#include <charconv>

#include "base/error.h"
#include "base/file.h"
#include "base/lower.h"

namespace gnnmg::device {
namespace {

// Reads one block, because files in /sys report the size of a page whatever they hold.
std::string contents_of(const std::string& path) {
  constexpr size_t kMost = 1 << 16;
  const base::File file(path);
  std::vector<uint8_t> bytes(kMost);
  const int64_t count = file.read_some(0, bytes);
  return {bytes.begin(), bytes.begin() + count};
}

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && (text.back() == '\n' || text.back() == ' ')) text.remove_suffix(1);
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  return text;
}

std::optional<int> number_of(std::string_view text) {
  int value = 0;
  const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || rest != text.data() + text.size()) return std::nullopt;
  return value;
}

bool is_bus_id(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || c == ':' || c == '.';
  });
}

}  // namespace

std::optional<std::vector<int>> cores_of_text(std::string_view text) {
  std::vector<int> cores;
  text = trimmed(text);
  while (!text.empty()) {
    const size_t comma = std::min(text.find(','), text.size());
    const std::string_view part = trimmed(text.substr(0, comma));
    const size_t dash = part.find('-', 1);
    const auto first = number_of(part.substr(0, dash));
    const auto last = dash == part.npos ? first : number_of(part.substr(dash + 1));
    if (!first || !last || *first < 0 || *last < *first || *last >= 1 << 20) return std::nullopt;
    for (int core = *first; core <= *last; ++core) cores.push_back(core);
    if (comma == text.size()) break;
    text.remove_prefix(comma + 1);
    if (trimmed(text).empty()) return std::nullopt;
  }
  std::sort(cores.begin(), cores.end());
  cores.erase(std::unique(cores.begin(), cores.end()), cores.end());
  return cores;
}

std::string text_of_cores(const std::vector<int>& cores) {
  std::string list;
  for (size_t i = 0; i < cores.size();) {
    size_t last = i;
    while (last + 1 < cores.size() && cores[last + 1] == cores[last] + 1) ++last;
    list += base::text(list.empty() ? "" : ", ", cores[i]);
    if (last > i) list += base::text("-", cores[last]);
    i = last + 1;
  }
  return list;
}

std::optional<NodeCores> cores_beside(std::string_view bus_id) noexcept {
  try {
    const std::string name = base::lower(bus_id);
    if (!is_bus_id(name)) return std::nullopt;
    const auto node =
        number_of(trimmed(contents_of(base::text("/sys/bus/pci/devices/", name, "/numa_node"))));
    if (!node || *node < 0) return std::nullopt;
    auto cores =
        cores_of_text(contents_of(base::text("/sys/devices/system/node/node", *node, "/cpulist")));
    if (!cores || cores->empty()) return std::nullopt;
    return NodeCores{*node, std::move(*cores)};
  } catch (const std::exception&) {  // missing or unreadable: the answer is nullopt
    return std::nullopt;
  }
}

std::optional<NodeCores> stay_beside(std::string_view bus_id) noexcept {
  std::optional<NodeCores> near = cores_beside(bus_id);
  cpu_set_t allowed;
  if (!near || sched_getaffinity(0, sizeof allowed, &allowed) != 0) return std::nullopt;
  cpu_set_t wanted;
  CPU_ZERO(&wanted);
  std::erase_if(near->cores,
                [&](int core) { return core >= CPU_SETSIZE || !CPU_ISSET(core, &allowed); });
  for (const int core : near->cores) CPU_SET(core, &wanted);
  if (near->cores.empty() || CPU_EQUAL(&wanted, &allowed)) return std::nullopt;
  if (sched_setaffinity(0, sizeof wanted, &wanted) != 0) return std::nullopt;
  return near;
}

}  // namespace gnnmg::device
