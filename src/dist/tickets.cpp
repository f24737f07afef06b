#include "dist/tickets.h"

#include <cstring>
#include <utility>

#include "base/error.h"
#include "io/bytes.h"

namespace gnnmg::dist {
namespace {

using base::fail;
using base::Status;
using comm::bytes_of;
using comm::make_mac;
using comm::make_proof;
using comm::Nonce;
using comm::Proof;

constexpr size_t kNonce = std::tuple_size_v<Nonce>, kProof = std::tuple_size_v<Proof>;
constexpr size_t kAnswerBytes = 1 + 8 + kNonce + kProof;
constexpr size_t kMaxCalled = 256;
constexpr int64_t kGreetingLasts = 5'000, kSessionLasts = 600'000, kRecent = 60'000;  // ms
constexpr uint64_t kWindow = 1024;
// Offsets of a ticket's fields.
constexpr size_t kTimeAt = kNonce, kNumberAt = kTimeAt + 8, kHeadAt = kNumberAt + 8,
                 kMacAt = kHeadAt + kHeadBytes;

Nonce nonce_at(std::string_view bytes, size_t at) {
  Nonce nonce;
  std::memcpy(nonce.data(), bytes.data() + at, nonce.size());
  return nonce;
}

uint64_t number_at(std::string_view bytes, size_t at) {
  return io::load_little<uint64_t>(io::as_bytes(bytes), at);
}

Proof server_proof(const std::string& token, std::string_view called, const Nonce& server,
                   const Nonce& client) {
  return make_proof(token, base::text("server of ", called), server, client);
}

}  // namespace

Gate::Gate(std::string token, OwnAddress own_address)
    : token_(std::move(token)), own_address_(std::move(own_address)) {}

int64_t Gate::now_ms() const {
  const auto since = base::SteadyClock::now() - start_;
  return std::chrono::duration_cast<std::chrono::milliseconds>(since).count();
}

Nonce Gate::nonce_for(std::string_view client, uint64_t at, const std::string& from) const {
  std::string seen(client);
  io::append_little(seen, at);
  seen += from;
  return make_mac(bytes_of(secret_), seen);
}

std::string Gate::greet(std::string_view greeting, const std::string& from) const {
  if (greeting.size() < kNonce || greeting.size() > kNonce + kMaxCalled)
    fail(Status::kProtocol, "a greeting of ", greeting.size(), " bytes");
  const std::string called(greeting.substr(kNonce));
  if (own_address_ && !own_address_(called))
    fail(Status::kAuth, "called as ", io::printable(called),
         ", which is no address of this server; call it by one of its own, or use TLS");
  const auto at = static_cast<uint64_t>(now_ms());
  const Nonce client = nonce_at(greeting, 0);
  const Nonce server = nonce_for(greeting.substr(0, kNonce), at, from);
  std::string answer(1, token_.empty() ? 0 : 1);
  io::append_little(answer, at);
  answer += bytes_of(server);
  answer += bytes_of(server_proof(token_, called, server, client));
  return answer;
}

std::string Gate::admit(std::string_view ticket, const std::string& from) {
  if (ticket.size() != kTicketBytes) fail(Status::kAuth, "a question without a ticket");
  const uint64_t at = number_at(ticket, kTimeAt), number = number_at(ticket, kNumberAt);
  const std::string name = std::string(ticket.substr(0, kNumberAt)) + from;
  Session session;
  bool known = false;
  {
    const std::lock_guard lock(mutex_);
    const auto found = sessions_.find(name);
    known = found != sessions_.end();
    if (known) session.key = found->second.key;
  }
  if (!known) {
    const int64_t age = now_ms() - static_cast<int64_t>(at);
    if (age < 0 || age > kGreetingLasts) fail(Status::kAuth, "a ticket of a session that is over");
    session.key = make_proof(token_, "key", nonce_for(ticket.substr(0, kNonce), at, from),
                             nonce_at(ticket, 0));
  }
  const Proof mac = make_mac(bytes_of(session.key), ticket.substr(0, kMacAt));
  if (!comm::equal(bytes_of(mac), ticket.substr(kMacAt)))
    fail(Status::kAuth, "a ticket that does not fit: the tokens differ");
  {
    const std::lock_guard lock(mutex_);
    if (!known) forget_old();
    Session& kept = sessions_.try_emplace(name, session).first->second;
    if (!take(kept, number)) fail(Status::kAuth, "a ticket that was used before");
    kept.last = base::SteadyClock::now();
  }
  return std::string(ticket.substr(kHeadAt, kHeadBytes));
}

// Returns whether the number is new, as far as can be known; it is not afterwards.
bool Gate::take(Session& session, uint64_t number) {
  const auto bit = [&](uint64_t n) { return uint64_t{1} << n % 64; };
  const auto word = [&](uint64_t n) -> uint64_t& { return session.seen[n % kWindow / 64]; };
  if (number == 0 || number + kWindow <= session.highest) return false;
  if (number > session.highest) {
    if (number - session.highest >= kWindow)
      session.seen.fill(0);
    else
      for (uint64_t n = session.highest + 1; n < number; ++n) word(n) &= ~bit(n);
    session.highest = number;
    word(number) &= ~bit(number);
  }
  if (word(number) & bit(number)) return false;
  word(number) |= bit(number);
  return true;
}

void Gate::forget_old() {
  const auto before = base::SteadyClock::now() - std::chrono::milliseconds(kSessionLasts);
  std::erase_if(sessions_, [&](const auto& entry) { return entry.second.last < before; });
}

int64_t Gate::num_sessions() const {
  const auto after = base::SteadyClock::now() - std::chrono::milliseconds(kRecent);
  const std::lock_guard lock(mutex_);
  int64_t count = 0;
  for (const auto& [name, session] : sessions_) count += session.last >= after;
  return count;
}

Pass::Pass(std::string token, std::string called)
    : token_(std::move(token)), called_(std::move(called)) {}

std::string Pass::greeting() const { return std::string(bytes_of(nonce_)) + called_; }

void Pass::accept(std::string_view answer) {
  if (answer.size() != kAnswerBytes)
    fail(Status::kProtocol, "what listens there is no server of this library");
  const bool asks = answer[0] != 0;
  if (asks && token_.empty())
    fail(Status::kAuth, "the server asks for a token, and none was given");
  if (!asks && !token_.empty()) fail(Status::kAuth, "a token was given, and the server has none");
  at_ = number_at(answer, 1);
  const Nonce server = nonce_at(answer, 9);
  const Proof proof = server_proof(token_, called_, server, nonce_);
  if (!comm::equal(bytes_of(proof), answer.substr(9 + kNonce)))
    fail(Status::kAuth, "the server does not know the token, or somebody stands between");
  key_ = make_proof(token_, "key", server, nonce_);
}

std::string Pass::ticket(std::span<const uint8_t> message) {
  std::string ticket(bytes_of(nonce_));
  io::append_little(ticket, at_);
  {
    const std::lock_guard lock(mutex_);
    io::append_little(ticket, next_++);
  }
  ticket += io::as_text(message.first(kHeadBytes));
  ticket += bytes_of(make_mac(bytes_of(key_), ticket));
  return ticket;
}

}  // namespace gnnmg::dist
