// Faults of the network: while a SocketFaults lives, the library's table of socket calls counts
// every call and lets those fail, come short or be interrupted that the plan names.
#pragma once

#include <cstdint>

#include "comm/join/socket_table.h"

namespace gnnmg::test {

enum class SocketCall : int {
  kSocket,
  kBind,
  kListen,
  kConnect,
  kAccept,
  kRecv,
  kSend,
  kPoll,
  kName,
  kGetOption,
  kSetOption
};
inline constexpr int kSocketCalls = 11;

struct SocketPlan {
  SocketCall call = SocketCall::kSocket;  // which calls are counted for `fail_at`
  int64_t fail_at = 0;                    // the n-th such call fails, from 1; 0: none
  bool for_ever = false;                  // and all such calls after it
  int error = 0;                          // errno of a failing call
  int64_t chunk = 0;                      // recv and send move at most so many bytes; 0: no limit
  bool interrupts = false;  // every second call that a signal could interrupt is interrupted
};

// One at a time in a process; restores the table that was there before.
class SocketFaults {
 public:
  explicit SocketFaults(const SocketPlan& plan);
  ~SocketFaults();
  SocketFaults(const SocketFaults&) = delete;
  SocketFaults& operator=(const SocketFaults&) = delete;

  int64_t count(SocketCall call) const;
  bool struck() const;  // whether `fail_at` was reached

 private:
  const comm::SocketTable* previous_;
};

}  // namespace gnnmg::test
