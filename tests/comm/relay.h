// Somebody between two processes of a job: he takes a member's connection, makes one to process 0,
// and passes on what comes, as it is or changed. He knows the frames, and not the token.
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
  // What is passed on in place of the `number`-th frame of a connection in one direction, as it is
  // on the wire. The first one to process 0 says who comes.
  using Change = std::function<std::vector<std::string>(Way, int number, const std::string& frame)>;
  Relay(int port_of_leader, Change change);
  ~Relay();
  int port() const { return port_; }
  int connections() const { return connections_; }

 private:
  struct Pump {
    Way way;
    size_t greetings;  // bytes of the handshake that are still to come
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

// Passes everything on as it is.
inline std::vector<std::string> unchanged(Way, int, const std::string& frame) { return {frame}; }

}  // namespace gnnmg::test
