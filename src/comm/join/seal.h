// The seal of a control connection: after the handshake every frame carries two tags under a key of
// its connection and direction, so nobody in between can change, add, drop, repeat or reorder
// frames unnoticed.
//
//   length 4, kind 1 (its highest bit set) | tag of these | body | tag of all
//
// The header has a tag of its own, so that a changed length is found before the body arrives.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "comm/join/token.h"

namespace gnnmg::comm {

inline constexpr size_t kFrameHeader = 5;  // length of the body, kind

// Keys of a connection; both ends derive them from the token and both nonces.
struct SessionKeys {
  Proof identity;   // seals a member's identity frame
  Proof to_leader;  // seals frames to process 0
  Proof to_member;  // seals frames from process 0
};
SessionKeys make_session_keys(std::string_view token, const Nonce& server, const Nonce& client);

// One direction of a connection; each end has two of them.
class Seal {
 public:
  static constexpr size_t kTag = 16;        // bytes: HMAC-SHA-256, cut
  static constexpr uint8_t kSealed = 0x80;  // bit of the kind
  explicit Seal(const Proof& key) : key_(key) {}

  // Appends `frame`, a header and a body, to `out` with its seal; appends nothing if it throws.
  void append(std::string_view frame, std::string& out);
  // True if a received header and its tag belong to the next frame.
  bool fits(std::string_view header, std::string_view tag) const;
  // The same for a whole received frame and its second tag. After true the following frame is next.
  bool accept(std::string_view header, std::string_view body, std::string_view tag);

 private:
  std::string header_tag(std::string_view header) const;
  std::string frame_tag(std::string_view header, std::string_view body) const;
  Proof key_;
  uint64_t number_ = 0;  // number of the next frame
};

}  // namespace gnnmg::comm
