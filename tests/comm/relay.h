// A relay between two processes of a job: accepts a member's connection, connects to process 0, and
// forwards frames unchanged or changed. It knows the frames, but not the token.
#pragma once

#include <atomic>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "comm/join/socket.h"

namespace gnnmg::test {

enum class Way { kToLeader, kToMember };

class Relay {
 public:
  // Replaces the `number`-th frame of a connection in one direction, in wire format. The first
  // frame to process 0 is the identity.
  using Change = std::function<std::vector<std::string>(Way, int number, const std::string& frame)>;
  Relay(int port_of_leader, Change change);
  ~Relay();
  int port() const { return port_; }
  int connections() const { return connections_; }

 private:
  struct Pump {
    Way way;
    size_t greetings;  // remaining bytes of the handshake
    std::string in;
    int number = 0;
  };
  void serve();
  void pass(comm::Socket member);
  bool move(Pump& pump, const comm::Socket& from, const comm::Socket& to) const;

  const int leader_;
  const Change change_;
  comm::Socket listener_;
  int port_ = 0;
  std::atomic<bool> over_{false};
  std::atomic<int> connections_{0};
  std::thread thread_;
};

// Forwards every frame unchanged.
inline std::vector<std::string> unchanged(Way, int, const std::string& frame) { return {frame}; }

}  // namespace gnnmg::test
