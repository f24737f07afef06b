// The first bytes of a connection: both sides prove to know the job's token before either reads
// anything else of the other, and both come to the keys of this connection, with which all that
// follows is sealed. The bytes have been the same since the first protocol, so that any two
// versions get as far as telling each other which they are. Without input or output of its own, so
// that it can be fed anything.
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
  // Takes what has come; appends the answer to `out`. After kStranger the connection is closed at
  // once, after kWrongToken when `out` is written.
  Result advance(FrameBuffer& in, std::string& out);
  const SessionKeys& keys() const { return keys_; }  // after kProven

 private:
  const std::string& token_;
  Nonce nonce_;
  SessionKeys keys_{};
};

class ClientHandshake {
 public:
  explicit ClientHandshake(const std::string& token) : token_(token), nonce_(make_nonce()) {}
  // True when process 0 has proven itself. Error(kAuth) when the tokens differ, kProtocol when the
  // other side is none of ours; `out` is to be written then too.
  bool advance(FrameBuffer& in, std::string& out);
  SessionKeys keys() const { return make_session_keys(token_, server_, nonce_); }  // after that

 private:
  const std::string& token_;
  Nonce nonce_;
  Nonce server_{};
  bool greeted_ = false;
};

}  // namespace gnnmg::comm
