// The port at which process 0 accepts the other processes: it asks each stranger for the token and
// then for its identity. A stranger without the token costs a socket for five seconds and nothing
// else.
#pragma once

#include <functional>
#include <list>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "comm/join/handshake.h"
#include "comm/join/join.h"

namespace gnnmg::comm::join {

// A connection before its process is a member, or after a refusal.
struct Candidate {
  Candidate(Socket socket, std::string from, const std::string& token)
      : address(std::move(from)), handshake(token, connection.out) {
    connection.socket = std::move(socket);
    connection.in.set_limit(kStrangerLimit);
  }
  Connection connection;
  std::string address;
  ServerHandshake handshake;
  base::SteadyClock::time_point since = base::SteadyClock::now();
  bool proven = false;
  bool closing = false;  // closes once `connection.out` is written
};

// The identity that a candidate sends after it has proven to know the token.
struct Identity {
  Identity(const std::string& body, const SessionKeys& keys);
  std::string name() const;  // "process 1 on host b (pid 12)"
  bool of_this_protocol() const { return protocol == kProtocolVersion; }
  // For other protocol versions only these are read.
  std::string protocol, version, host;
  int64_t pid = 0, process = 0;
  std::string job;
  int64_t num_processes = 0;
  std::string told;      // process 0's address as the board gave it; empty: no board
  bool genuine = false;  // the proof matches: nobody in between has changed the message

 private:
  void read(FrameReader reader);
};
std::string own_name(const ProcessInfo& self);

class Acceptor {
 public:
  // Returns false once the candidate is a member, or must be dropped.
  using Admit = std::function<bool(Candidate& candidate, const Identity& identity)>;
  Acceptor(Socket listener, std::string token);
  ~Acceptor();
  Acceptor(const Acceptor&) = delete;
  Acceptor& operator=(const Acceptor&) = delete;

  // watch() adds the sockets to poll; serve() then reads from candidates, writes to them, and
  // accepts new ones.
  void watch(std::vector<PollEntry>& entries) const;
  void serve(std::span<const PollEntry> entries, const Admit& admit);
  bool written() const;

  static void refuse(Candidate& candidate, base::Status status, const std::string& text);
  // Counts a refusal for turned_away().
  void note(const std::string& who, const std::string& why);
  // "; turned away: 10.0.0.7 for a wrong token or none (3 times)", or empty.
  std::string turned_away() const;

 private:
  void accept();
  bool advance(Candidate& candidate, const Admit& admit);

  const Socket listener_;
  const std::string token_;
  std::list<Candidate> candidates_;  // oldest first
  std::map<std::string, int> turned_away_;
  int more_turned_away_ = 0;
};

}  // namespace gnnmg::comm::join

namespace gnnmg::comm {

// Keeps the port of a complete job open for a while, to tell surplus processes that the job is
// complete.
class LateAcceptor {
 public:
  struct Member {
    std::string host;
    int64_t pid = 0;
  };
  // `members` by process, with this one first.
  LateAcceptor(std::unique_ptr<join::Acceptor> acceptor, ProcessInfo self, int32_t port,
               std::vector<Member> members);
  ~LateAcceptor();
  bool over() const;  // the caller should destroy it
  void watch(std::vector<PollEntry>& entries) const { acceptor_->watch(entries); }
  void serve(std::span<const PollEntry> entries);
  // Makes a late acceptor of this process close its port, so that another job can listen there.
  static void release_port(int32_t port);

 private:
  bool admit(join::Candidate& candidate, const join::Identity& identity) const;

  const std::unique_ptr<join::Acceptor> acceptor_;
  const ProcessInfo self_;
  const int32_t port_;
  const std::vector<Member> members_;
  const base::SteadyClock::time_point since_ = base::SteadyClock::now();
};

}  // namespace gnnmg::comm
