// Network faults: while a SocketFaults lives, the library's table of socket calls counts every
// call, and makes the calls of a plan fail, transfer less or be interrupted.
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
  SocketCall call = SocketCall::kSocket;  // calls that count for `fail_at`
  int64_t fail_at = 0;                    // the n-th such call fails, from 1; 0: none
  bool for_ever = false;                  // all later calls fail too
  int error = 0;                          // errno of a failing call
  int64_t chunk = 0;                      // largest transfer of recv and send; 0: no limit
  bool interrupts = false;  // every second call that a signal could interrupt is interrupted
};

// One at a time per process; restores the previous table.
class SocketFaults {
 public:
  explicit SocketFaults(const SocketPlan& plan);
  ~SocketFaults();
  SocketFaults(const SocketFaults&) = delete;
  SocketFaults& operator=(const SocketFaults&) = delete;

  int64_t count(SocketCall call) const;
  bool struck() const;  // true once `fail_at` was reached

 private:
  const comm::SocketTable* previous_;
};

}  // namespace gnnmg::test
