// CPU cores near a PCI device, as the system reports them, and threads that stay on these cores.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace gnnmg::device {

// The cores of a NUMA node, ascending.
struct NodeCores {
  int node = 0;
  std::vector<int> cores;
};

// Returns the cores of the device's NUMA node according to /sys. `bus_id`: "0000:19:00.0", letters
// of either case. Returns nullopt if the system does not know the node or the device. Any thread.
std::optional<NodeCores> cores_beside(std::string_view bus_id) noexcept;

// Binds the calling thread, and all threads that it starts later, to those of `cores` that it may
// run on, and returns them. Changes nothing and returns nullopt if there are none, if the thread
// may run on no others anyway, or if the system refuses.
std::optional<NodeCores> stay_beside(std::string_view bus_id) noexcept;

// Formats cores as the system writes them: "0-3, 8".
std::string text_of_cores(const std::vector<int>& cores);
// Parses a list of cores. A space after a comma and a newline at the end are optional. Returns
// nullopt if the text is no such list.
std::optional<std::vector<int>> cores_of_text(std::string_view text);

}  // namespace gnnmg::device
