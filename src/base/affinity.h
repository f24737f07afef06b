// Cores that lie near a device of the PCI bus, as the system tells, and threads that stay on them.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace gnnmg::base {

// The cores of a memory node, ascending.
struct NodeCores {
  int node = 0;
  std::vector<int> cores;
};

// Those next to the device, by /sys. `bus_id`: "0000:19:00.0", letters of either case. Nothing
// where the system does not tell, or has no such device. Any thread.
std::optional<NodeCores> cores_beside(std::string_view bus_id) noexcept;

// Keeps the calling thread, and those that it starts from here on, on such of the cores as it may
// run on; returns these. Nothing, and nothing is changed, where they are none, or all that it may
// run on already, or where the system refuses.
std::optional<NodeCores> stay_beside(std::string_view bus_id) noexcept;

// "0-3, 8": cores as the system writes them.
std::string text_of_cores(const std::vector<int>& cores);
// The cores of such a text, in which commas may stand without a space, and a line may end; nothing
// where it is no such text.
std::optional<std::vector<int>> cores_of_text(std::string_view text);

}  // namespace gnnmg::base
