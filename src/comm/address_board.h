// A board for the addresses that ranks need to connect to each other. It is in this process, or
// goes over the job's control connections: then only proven members can read it, and it needs no
// port.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

namespace gnnmg::comm {

class Control;

// The group number of the job itself, whose values last as long as the job. No communicator has it.
inline constexpr uint64_t kJobGroup = 0;

// Short values that each rank puts up for all ranks. Any thread.
class AddressBoard {
 public:
  virtual ~AddressBoard() = default;
  virtual void put(const std::string& key, const std::string& value) = 0;
  // Waits for the value. Returns nothing once `over` is true; calls it every few milliseconds.
  virtual std::optional<std::string> get(const std::string& key,
                                         const std::function<bool()>& over) = 0;
  virtual bool has(const std::string& key) = 0;
};
std::shared_ptr<AddressBoard> make_local_board();
std::shared_ptr<AddressBoard> make_control_board(std::shared_ptr<Control> control, uint64_t group);

}  // namespace gnnmg::comm
