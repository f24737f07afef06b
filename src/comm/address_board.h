// Where ranks leave what the others need in order to connect to them: a board in this process, or
// one over the job's control connections, where it is told to processes that have proven to belong
// to the job and no port of its own listens for it.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

namespace gnnmg::comm {

class Control;

// The words of the job itself, which last as long as it: no communicator has this number.
inline constexpr uint64_t kWordsOfJob = 0;

// A few words that each rank leaves for all. Any thread.
class AddressBoard {
 public:
  virtual ~AddressBoard() = default;
  virtual void put(const std::string& key, const std::string& value) = 0;
  // Waits for the value; nothing when `over` became true first, which is asked now and then.
  virtual std::optional<std::string> get(const std::string& key,
                                         const std::function<bool()>& over) = 0;
  virtual bool has(const std::string& key) = 0;
};
std::shared_ptr<AddressBoard> make_local_board();
std::shared_ptr<AddressBoard> make_control_board(std::shared_ptr<Control> control, uint64_t group);

}  // namespace gnnmg::comm
