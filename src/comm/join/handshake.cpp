#include "comm/join/handshake.h"

#include <algorithm>
#include <cstring>

namespace gnnmg::comm {

using base::Status;

namespace {

constexpr std::string_view kMagic("gnnmg\x01\r\n", 8);
constexpr size_t kGreeting = 8 + 1 + 32;
constexpr size_t kReply = 8 + 32 + 32;
constexpr size_t kAnswer = 1 + 32;
constexpr std::string_view kMemberRole = "member", kLeaderRole = "process 0";

std::array<uint8_t, 32> bytes_at(const std::string& text, size_t offset) {
  std::array<uint8_t, 32> bytes;
  std::memcpy(bytes.data(), text.data() + offset, bytes.size());
  return bytes;
}

}  // namespace

ServerHandshake::ServerHandshake(const std::string& token, std::string& out)
    : token_(token), nonce_(make_nonce()) {
  out += kMagic;
  out.push_back(token.empty() ? 0 : 1);
  out += bytes_of(nonce_);
}

ServerHandshake::Result ServerHandshake::advance(FrameBuffer& in, std::string& out) {
  const auto reply = in.take(kReply);
  if (!reply) return Result::kMore;
  if (!reply->starts_with(kMagic)) return Result::kStranger;
  const Nonce client = bytes_at(*reply, 8);
  const bool known = equal(std::string_view(*reply).substr(40),
                           bytes_of(make_proof(token_, kMemberRole, nonce_, client)));
  out.push_back(known ? 1 : 0);
  out += bytes_of(known ? make_proof(token_, kLeaderRole, nonce_, client) : Proof{});
  if (!known) return Result::kWrongToken;
  keys_ = make_session_keys(token_, nonce_, client);
  return Result::kProven;
}

bool ClientHandshake::advance(FrameBuffer& in, std::string& out) {
  if (!greeted_) {
    const auto greeting = in.take(kGreeting);
    if (!greeting) return false;
    if (!greeting->starts_with(kMagic))
      base::fail(Status::kProtocol, "the program that listens there is no process 0 of a job");
    const bool asked = (*greeting)[8] != 0;
    if (asked == token_.empty()) {  // lets process 0 count the refusal
      out += kMagic;
      out += bytes_of(nonce_);
      out += bytes_of(Proof{});
    }
    if (asked && token_.empty())
      base::fail(Status::kAuth,
                 "process 0 asks for the job's token, and this process has none: expected a token "
                 "file (GNNMG_TOKEN_FILE, or the argument token_file)");
    if (!asked && !token_.empty())
      base::fail(Status::kAuth, "this process has a token, and process 0 has none");
    server_ = bytes_at(*greeting, 9);
    out += kMagic;
    out += bytes_of(nonce_);
    out += bytes_of(make_proof(token_, kMemberRole, server_, nonce_));
    greeted_ = true;
  }
  const auto answer = in.take(kAnswer);
  if (!answer) return false;
  if ((*answer)[0] != 1)
    base::fail(Status::kAuth, "process 0 refused this process's token: the tokens differ");
  if (!equal(std::string_view(*answer).substr(1),
             bytes_of(make_proof(token_, kLeaderRole, server_, nonce_))))
    base::fail(Status::kAuth, "the program that answers as process 0 does not know the token");
  return true;
}

}  // namespace gnnmg::comm
