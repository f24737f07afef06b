// One server as a client sees it: a thread of its own keeps a connection to it, greets it anew
// after each break, and says why there is none.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "base/cancel.h"
#include "dist/addresses.h"
#include "dist/engine.h"
#include "dist/hello.h"
#include "dist/spare_messages.h"

namespace gnnmg::dist {

// The time between two looks of a wait at its cancel token.
inline constexpr auto kSlice = std::chrono::milliseconds(20);

// Shared by all peers and the calls to them: one lock, and one bell for all that changes.
struct Board {
  std::mutex mutex;
  std::condition_variable changed;
  SpareMessages spare;
};

class Peer {
 public:
  // Throws Error(kMismatch) where the server is of other data than those before it.
  using Agree = std::function<void(const Peer& peer, const Hello& hello)>;
  // `connect`: to this address. Objects that `agree` uses live until stop().
  Peer(const Engine& engine, ConnectSettings settings, Address address, int64_t connect_ms,
       std::shared_ptr<Board> board, Agree agree);
  // Ends the thread that keeps the connection. Called before the last share is given up, which a
  // reply that is late may have.
  void stop();
  Peer(const Peer&) = delete;
  Peer& operator=(const Peer&) = delete;
  const std::string& name() const { return name_; }

  // The members below are read and written under the board's lock.

  std::shared_ptr<Connection> connection;      // null: none now
  std::vector<int32_t> parts;                  // parts in its last greeting; empty before the first
  int32_t in_flight = 0;                       // questions
  base::SteadyClock::time_point slow_until{};  // until then others are asked first
  // The reason why there is no connection, and the number of tries since there was one.
  base::Status status = base::Status::kOk;
  std::string text;
  int64_t tries = 0;
  base::SteadyClock::time_point lost = base::SteadyClock::now(), last_answer{};

  // `part` -1: any server can answer.
  bool has(int32_t part) const;
  // Before its first greeting it may have any.
  bool may_have(int32_t part) const { return parts.empty() || has(part); }
  // The connection is of no use any more, if it still is this one.
  void drop(const std::shared_ptr<Connection>& broken, base::Status why, std::string what);

 private:
  void keep();
  std::pair<std::shared_ptr<Connection>, Hello> reach(bool again) const;

  const Engine& engine_;
  const ConnectSettings settings_;
  const Address address_;
  const std::string name_;
  const int64_t connect_ms_;
  const std::shared_ptr<Board> board_;
  const Agree agree_;
  base::CancelToken ended_;
  std::thread keeper_;
};

}  // namespace gnnmg::dist
