// The seal of a control connection: once both ends have proven to know the token, every frame that
// one sends carries two tags under a key of this connection and this direction. So nobody between
// them can change, add, leave out, repeat or reorder frames unnoticed.
//
//   length 4, kind 1 (its highest bit set) | tag of these | body | tag of all
//
// The header has a tag of its own, so that a changed length is noticed before the body has come.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "comm/join/token.h"

namespace gnnmg::comm {

inline constexpr size_t kFrameHeader = 5;  // length of the body, kind

// The keys of one connection, which both ends derive from the token and both nonces.
struct SessionKeys {
  Proof identity;   // of a member's first frame, by which it says who it is
  Proof to_leader;  // of what process 0 gets
  Proof to_member;  // of what it sends
};
SessionKeys make_session_keys(std::string_view token, const Nonce& server, const Nonce& client);

// One direction. Each end has one for what it sends and one for what it gets.
class Seal {
 public:
  static constexpr size_t kTag = 16;        // bytes: HMAC-SHA-256, cut
  static constexpr uint8_t kSealed = 0x80;  // of the kind
  explicit Seal(const Proof& key) : key_(key) {}

  // Appends the next frame, sealed, to `out`; nothing of it when it throws. `frame` is a header and
  // a body.
  void append(std::string_view frame, std::string& out);
  // Whether a header as it came, and its tag, are of the next frame.
  bool fits(std::string_view header, std::string_view tag) const;
  // The same for a frame as it came, with its second tag; true once, then the next is expected.
  bool accept(std::string_view header, std::string_view body, std::string_view tag);

 private:
  std::string header_tag(std::string_view header) const;
  std::string frame_tag(std::string_view header, std::string_view body) const;
  Proof key_;
  uint64_t number_ = 0;  // of the next frame
};

}  // namespace gnnmg::comm
