// The job's token, a secret that every process reads from a file, and a proof of knowing it that
// reveals nothing about it.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace gnnmg::comm {

using Nonce = std::array<uint8_t, 32>;
using Proof = std::array<uint8_t, 32>;
inline std::string_view bytes_of(const Proof& proof) {
  return {reinterpret_cast<const char*>(proof.data()), proof.size()};
}

// Reads a token file of 32 to 1024 bytes, readable only by its owner, which must be this user or
// root; a file of root also by its group. Error(kAuth) naming the file otherwise, kNotFound, kIo.
std::string read_token(const std::string& path);

// Returns random bytes of the system.
Nonce make_nonce();

// HMAC-SHA-256 and SHA-256. std::bad_alloc without memory.
Proof make_mac(std::string_view key, std::string_view message);
Proof make_digest(std::string_view bytes);

// HMAC-SHA-256 of a role and both nonces under the token, which may be empty. The role keeps one
// side's proof from serving as the other's.
Proof make_proof(std::string_view token, std::string_view role, const Nonce& server,
                 const Nonce& client);
// True if both are the same; takes the same time for any difference.
bool equal(std::string_view a, std::string_view b) noexcept;

}  // namespace gnnmg::comm
