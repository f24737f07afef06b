// The first bytes of a connection: both sides prove to know the job's token before either reads
// anything else of the other. Without input or output of its own, so that it can be fed anything.
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

 private:
  const std::string& token_;
  Nonce nonce_;
};

class ClientHandshake {
 public:
  explicit ClientHandshake(const std::string& token) : token_(token), nonce_(make_nonce()) {}
  // True when process 0 has proven itself. Error(kAuth) when the tokens differ, kProtocol when the
  // other side is none of ours; `out` is to be written then too.
  bool advance(FrameBuffer& in, std::string& out);
  bool greeted() const { return greeted_; }

 private:
  const std::string& token_;
  Nonce nonce_;
  Nonce server_{};
  bool greeted_ = false;
};

}  // namespace gnnmg::comm
