// Access to a server: a client must know its token. Bytes in, bytes out; nothing here knows a
// socket.
//
// One round trip opens a session; it costs the server no memory:
//
//   client -> server   nonce, 32 bytes; the address that it has called, as text
//   server -> client   1 where it has a token; milliseconds since its start, 8; nonce, 32; proof,
//                      32: HMAC of "server", the address called and both nonces
//
// From then on each question is preceded by a ticket of 144 bytes: the client's nonce, the
// milliseconds, the number of the question, the head of its message, and the HMAC of these under a
// key of the session. The first ticket proves the client, so sessions take memory only for clients
// that know the token. A ticket is good once. The server's nonce is an HMAC of the client's nonce
// and address under a secret of its own: it need not be kept, and nobody at another address can use
// the session.
//
// Without TLS this authenticates the head of each question. It neither hides nor seals the bytes
// after the head: use TLS where somebody may read or change the traffic (docs/security.md).
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <span>
#include <string>
#include <string_view>

#include "base/cancel.h"
#include "comm/join/token.h"
#include "dist/wire.h"

namespace gnnmg::dist {

inline constexpr size_t kTicketBytes = 32 + 8 + 8 + kHeadBytes + 32;

// The server's side. Any thread.
class Gate {
 public:
  // `own_address`: whether a text is an address of this server, so that nobody between can pass a
  // client's greeting on; empty: every text is, where certificates prove the server.
  using OwnAddress = std::function<bool(const std::string& called)>;
  Gate(std::string token, OwnAddress own_address);

  // Answers a greeting of a client at `from`, an address without a port. Error(kProtocol) for bytes
  // that are none, kAuth for one that called another address.
  std::string greet(std::string_view greeting, const std::string& from) const;
  // Error(kAuth) saying why a ticket from there is refused. Returns the head that the message has.
  std::string admit(std::string_view ticket, const std::string& from);
  int64_t num_sessions() const;  // that asked something in the last minute

 private:
  using Key = comm::Proof;
  struct Session {
    Key key{};
    uint64_t highest = 0;                // number of a ticket
    std::array<uint64_t, 16> seen = {};  // bits of the last 1 024 numbers, by number % 1024
    base::SteadyClock::time_point last;
  };
  int64_t now_ms() const;
  comm::Nonce nonce_for(std::string_view client, uint64_t at, const std::string& from) const;
  static bool take(Session& session, uint64_t number);
  void forget_old();

  const std::string token_;
  const OwnAddress own_address_;
  const comm::Nonce secret_ = comm::make_nonce();
  const base::SteadyClock::time_point start_ = base::SteadyClock::now();
  mutable std::mutex mutex_;
  std::map<std::string, Session, std::less<>> sessions_;  // key: nonce, milliseconds and address
};

// The client's side of one session. Any thread once it is open.
class Pass {
 public:
  // `called`: the server's address and port, in digits.
  Pass(std::string token, std::string called);
  std::string greeting() const;
  // Opens the session. Error(kAuth) where the server does not know the token, or was called by
  // another address than this one; kProtocol for bytes that are no answer.
  void accept(std::string_view answer);
  std::string ticket(std::span<const uint8_t> message);

 private:
  const std::string token_, called_;
  const comm::Nonce nonce_ = comm::make_nonce();
  uint64_t at_ = 0;
  comm::Proof key_{};
  std::mutex mutex_;
  uint64_t next_ = 1;
};

}  // namespace gnnmg::dist
