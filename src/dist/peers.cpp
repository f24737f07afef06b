#include "dist/peers.h"

#include <algorithm>
#include <set>
#include <utility>

#include "base/error.h"
#include "dist/host.h"
#include "dist/peer.h"
#include "dist/peer_call.h"

namespace gnnmg::dist {
namespace {

using base::fail;
using base::Status;

constexpr int64_t kFileDeadline = 10'000;  // ms, of one piece
constexpr int64_t kTriesUntold = 3;        // attempts before a warning in the log

class PeersChannel : public Channel {
 public:
  explicit PeersChannel(std::shared_ptr<const Peers> peers) : peers_(std::move(peers)) {}
  std::unique_ptr<Call> ask(int32_t part, std::span<const uint8_t> message) override {
    return std::make_unique<PeerCall>(peers_, part, message);
  }

 private:
  std::shared_ptr<const Peers> peers_;
};

class PeersFiles : public Files {
 public:
  explicit PeersFiles(std::shared_ptr<const Peers> peers) : peers_(std::move(peers)) {}
  int64_t read_piece(const std::string& name, int64_t offset, std::vector<uint8_t>& out,
                     const base::CancelToken& cancel) const override {
    const FileQuestion question{next_request_++, peers_->data().stamp, name, offset};
    Message message;
    write_file_question(question, message);
    PeerCall call(peers_, part_of_file(name), message.span());
    const auto answer = call.wait(base::Deadline::after_ms(kFileDeadline), cancel);
    const FilePiece piece = read_file_piece(question, answer);
    out.assign(piece.bytes.begin(), piece.bytes.end());
    return piece.file_bytes;
  }

 private:
  std::shared_ptr<const Peers> peers_;
  mutable std::atomic<uint64_t> next_request_{1};
};

void check_safety(const std::vector<Address>& addresses, const PeersConfig& config) {
  for (const Address& address : addresses) {
    if (address.loopback || config.tls.given()) continue;
    if (!config.insecure)
      fail(Status::kInvalidArgument, address.name(),
           " is not this machine: give certificates for TLS, or say that the network between is "
           "safe (insecure)");
    if (config.token.empty())
      fail(Status::kInvalidArgument, address.name(), " is not this machine: give a token file");
  }
}

// The status of a server that was reached, or can never be: trying again does not help.
bool is_final(Status status) {
  return status != Status::kOk && status != Status::kUnavailable && status != Status::kTimeout &&
         status != Status::kBusy && status != Status::kNoMemory;
}

// "3, 7"
std::string list_of(const std::vector<int32_t>& parts) {
  std::string text;
  constexpr size_t kMost = 16;
  for (size_t i = 0; i < std::min(parts.size(), kMost); ++i)
    text += base::text(i == 0 ? "" : ", ", parts[i]);
  if (parts.size() > kMost) text += base::text(" and ", parts.size() - kMost, " more");
  return text;
}

}  // namespace

Peers::Peers(const PeersConfig& config, base::Log& log)
    : config_(config), log_(log), board_(std::make_shared<Board>()) {}
Peers::~Peers() {
  for (const auto& peer : peers_) peer->stop();
}

std::shared_ptr<Peers> Peers::meet(const Engine& engine, const std::vector<Address>& addresses,
                                   const PeersConfig& config, base::Log& log,
                                   const base::Deadline& deadline,
                                   const base::CancelToken& cancel) {
  check_safety(addresses, config);
  const std::shared_ptr<Peers> peers(new Peers(config, log));
  for (const Address& address : addresses)
    peers->peers_.push_back(std::make_shared<Peer>(
        engine, ConnectSettings{address.digits, address.host, config.token, config.tls}, address,
        config.connect_ms, peers->board_,
        [all = peers.get()](const Peer& peer, const Hello& hello) { all->agree(peer, hello); }));

  std::unique_lock lock(peers->board_->mutex);
  std::set<const Peer*> told;
  while (true) {
    const auto left = peers->missing();
    if (left && left->empty()) break;
    peers->check_meeting(left, deadline);
    for (const auto& peer : peers->peers_)
      if (!peer->connection && peer->tries >= kTriesUntold && told.insert(peer.get()).second)
        log.add(base::LogLevel::kWarning,
                base::text("waiting for the server ", peer->name(), ": ", peer->text));
    cancel.check("meeting the servers");
    peers->board_->changed.wait_for(lock, kSlice);
  }
  return peers;
}

// Called by the peers' threads, without the board's lock.
void Peers::agree(const Peer& peer, const Hello& hello) {
  const std::string own = library_version();
  if (hello.version != own)
    fail(Status::kMismatch, "the server has version ", hello.version,
         " of the library, this process ", own, "; use the same on both sides");
  const std::lock_guard lock(board_->mutex);
  if (data_.num_parts == 0) {
    data_ = hello;
    data_.parts.clear();
    data_from_ = peer.name();
    return;
  }
  const std::string differs = difference(data_, data_from_, hello, peer.name());
  if (differs.empty()) return;
  const std::string text = base::text("servers have different data: ", differs);
  log_.add(base::LogLevel::kWarning, text);
  fail(Status::kMismatch, text);
}

// The parts that no connected server has; nothing before a server has described the data.
std::optional<std::vector<int32_t>> Peers::missing() const {
  if (data_.num_parts == 0) return {};
  std::vector<int32_t> parts;
  for (int32_t part = 0; part < data_.num_parts; ++part) {
    const bool there =
        std::any_of(peers_.begin(), peers_.end(),
                    [&](const auto& peer) { return peer->connection && peer->has(part); }) ||
        std::ranges::binary_search(config_.own, part);
    if (!there) parts.push_back(part);
  }
  return parts;
}

// Throws where waiting does not help, or has taken too long.
void Peers::check_meeting(const std::optional<std::vector<int32_t>>& missing,
                          const base::Deadline& deadline) const {
  bool all_there = true;
  std::string served, away;
  for (const auto& peer : peers_) {
    if (is_final(peer->status)) fail(peer->status, peer->name(), ": ", peer->text);
    all_there &= peer->connection != nullptr;
    if (peer->connection)
      served += base::text("; ", list_of(peer->parts), " by ", peer->name());
    else
      away += base::text("; ", peer->name(), ": ", peer->text.empty() ? "no answer" : peer->text);
  }
  if (missing && all_there)
    fail(Status::kMismatch, "parts ", list_of(*missing), " are served by nobody", served);
  if (deadline.passed())
    fail(Status::kTimeout, missing ? base::text("parts ", list_of(*missing)) : "the parts",
         " are served by nobody who could be reached", served, away);
}

std::unique_ptr<Channel> Peers::channel() {
  return std::make_unique<PeersChannel>(shared_from_this());
}

std::unique_ptr<Files> Peers::files() { return std::make_unique<PeersFiles>(shared_from_this()); }

}  // namespace gnnmg::dist
