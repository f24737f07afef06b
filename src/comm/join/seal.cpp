#include "comm/join/seal.h"

namespace gnnmg::comm {

SessionKeys make_session_keys(std::string_view token, const Nonce& server, const Nonce& client) {
  return {make_proof(token, "key: who", server, client),
          make_proof(token, "key: to process 0", server, client),
          make_proof(token, "key: to a member", server, client)};
}

std::string Seal::header_tag(std::string_view header) const {
  std::string message;
  for (int i = 0; i < 8; ++i) message.push_back(static_cast<char>(number_ >> (8 * i)));
  message += header;
  return std::string(bytes_of(make_mac(bytes_of(key_), message)).substr(0, kTag));
}

// Covers more bytes than the header's tag, so neither serves as the other.
std::string Seal::frame_tag(std::string_view header, std::string_view body) const {
  std::string both(header);
  both += bytes_of(make_digest(body));
  return header_tag(both);
}

void Seal::append(std::string_view frame, std::string& out) {
  std::string header(frame.substr(0, kFrameHeader));
  header.back() = static_cast<char>(static_cast<uint8_t>(header.back()) | kSealed);
  const std::string_view body = frame.substr(kFrameHeader);
  const std::string first = header_tag(header), second = frame_tag(header, body);
  out.reserve(out.size() + frame.size() + 2 * kTag);
  out += header;
  out += first;
  out += body;
  out += second;
  ++number_;
}

bool Seal::fits(std::string_view header, std::string_view tag) const {
  return equal(header_tag(header), tag);
}

bool Seal::accept(std::string_view header, std::string_view body, std::string_view tag) {
  if (!equal(frame_tag(header, body), tag)) return false;
  ++number_;
  return true;
}

}  // namespace gnnmg::comm
