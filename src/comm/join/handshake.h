// The first bytes of a connection. Both sides prove to know the job's token before they read
// anything else of each other, and derive the keys that seal the rest of the connection. The bytes
// are the same in all protocol versions, so any two versions can tell each other their version. No
// input or output here, so tests can feed any bytes.
//
//   process 0 -> stranger   magic, whether there is a token, nonce       41 bytes
//   stranger -> process 0   magic, nonce, proof of a member              72 bytes
//   process 0 -> member     whether it is accepted, proof of process 0   33 bytes
#pragma once

#include <string>

#include "comm/join/frame.h"
#include "comm/join/token.h"

namespace gnnmg::comm {

class ServerHandshake {
 public:
  enum class Result { kMore, kProven, kStranger, kWrongToken };
  // Appends the greeting to `out`.
  ServerHandshake(const std::string& token, std::string& out);
  // Reads from `in` and appends the answer to `out`. The caller closes the connection at once after
  // kStranger, and after writing `out` after kWrongToken.
  Result advance(FrameBuffer& in, std::string& out);
  const SessionKeys& keys() const { return keys_; }  // valid after kProven

 private:
  const std::string& token_;
  Nonce nonce_;
  SessionKeys keys_{};
};

class ClientHandshake {
 public:
  explicit ClientHandshake(const std::string& token) : token_(token), nonce_(make_nonce()) {}
  // Returns true once process 0 has proven itself. Error(kAuth) for a different token, kProtocol
  // for another program; the caller writes `out` in both cases too.
  bool advance(FrameBuffer& in, std::string& out);
  // Valid once advance() is true.
  SessionKeys keys() const { return make_session_keys(token_, server_, nonce_); }

 private:
  const std::string& token_;
  Nonce nonce_;
  Nonce server_{};
  bool greeted_ = false;
};

}  // namespace gnnmg::comm
