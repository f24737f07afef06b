#include "dist/peer_call.h"

#include <algorithm>
#include <new>
#include <thread>
#include <utility>

#include "base/error.h"
#include "dist/frame.h"

namespace gnnmg::dist {
namespace {

using base::fail;
using base::Status;
using base::SteadyClock;
using std::chrono::milliseconds;

constexpr int64_t kTries = 3;
// A server that was too slow is asked last for this time.
constexpr auto kSlow = milliseconds(1'000);
// A failing read waits this long for the job's own error.
constexpr auto kVerdict = milliseconds(900);

double seconds_since(SteadyClock::time_point then) {
  const auto tenths = std::chrono::duration_cast<milliseconds>(SteadyClock::now() - then) / 100;
  return static_cast<double>(tenths.count()) / 10;
}

milliseconds pause_of_busy(int64_t times) {
  constexpr int64_t kFirst = 20, kMost = 1'000;
  return milliseconds(std::min(kMost, kFirst << std::min<int64_t>(times, 6)));
}

}  // namespace

PeerCall::PeerCall(std::shared_ptr<const Peers> peers, int32_t part,
                   std::span<const uint8_t> message)
    : peers_(std::move(peers)), part_(part), message_(message) {
  Lock lock(peers_->board_->mutex);
  send(lock);
}

PeerCall::~PeerCall() {
  const Lock lock(peers_->board_->mutex);
  try {
    peers_->board_->spare.give(std::move(answer_));
  } catch (const std::bad_alloc&) {  // the memory is freed
  }
}

std::span<const uint8_t> PeerCall::wait(const base::Deadline& deadline,
                                        const base::CancelToken& cancel) {
  try {
    return wait_for_answer(deadline, cancel);
  } catch (const base::Error& error) {
    if (error.status() == Status::kUnavailable || error.status() == Status::kTimeout)
      await_verdict(cancel);
    throw;
  }
}

void PeerCall::throw_verdict() const {
  if (!peers_->config_.verdict) return;
  if (const auto verdict = peers_->config_.verdict()) throw base::Error(*verdict);
}

// A server that does not answer may be a process whose job is about to say that it is lost.
void PeerCall::await_verdict(const base::CancelToken& cancel) const {
  if (!peers_->config_.verdict) return;
  for (const auto until = SteadyClock::now() + kVerdict; SteadyClock::now() < until;) {
    throw_verdict();
    cancel.check("waiting for rows of another part");
    std::this_thread::sleep_for(kSlice);
  }
}

std::span<const uint8_t> PeerCall::wait_for_answer(const base::Deadline& deadline,
                                                   const base::CancelToken& cancel) {
  const int64_t allowed_ms = deadline.remaining_ms();
  base::Deadline limit = deadline;
  Lock lock(peers_->board_->mutex);
  while (true) {
    if (auto reply = take_reply()) {
      answer_ = std::move(reply->message);
      lock.unlock();
      attempts_.clear();  // gives up all questions under way
      return answer_.span();
    }
    cancel.check("waiting for rows of another part");
    if (under_way_ == 0) {
      if (send(lock)) {
        if (away_since_ && peers_->config_.patience_ms > 0 && !deadline.never())
          limit = base::Deadline::after_ms(allowed_ms);
        away_since_.reset();
        continue;
      }
      check_away();
    } else {
      look_for_hedge(lock);
    }
    if (!away_since_ || peers_->config_.patience_ms == 0) check_deadline(limit);
    peers_->board_->changed.wait_until(lock, std::min(SteadyClock::now() + kSlice, hedge_at()));
  }
}

// The server with the least to do of those that have the part, a connection and room, and are not
// being asked by this call; one that was too slow lately comes last.
std::shared_ptr<Peer> PeerCall::choose() const {
  std::shared_ptr<Peer> best;
  const auto now = SteadyClock::now();
  const auto load = [&](const Peer& peer) {
    return std::pair(peer.slow_until > now, peer.in_flight);
  };
  for (const auto& peer : peers_->peers_) {
    if (!peer->connection || !peer->has(part_) || peer->in_flight >= peers_->config_.max_in_flight)
      continue;
    const bool asked = std::any_of(attempts_.begin(), attempts_.end(),
                                   [&](const Attempt& attempt) { return attempt.peer == peer; });
    if (!asked && (!best || load(*peer) < load(*best))) best = peer;
  }
  return best;
}

bool PeerCall::anyone() const {
  return std::any_of(peers_->peers_.begin(), peers_->peers_.end(),
                     [&](const auto& peer) { return peer->connection && peer->has(part_); });
}

bool PeerCall::send(Lock& lock) {
  if (SteadyClock::now() < not_before_) return false;
  const std::shared_ptr<Peer> peer = choose();
  if (!peer) return false;
  const size_t number = attempts_.size();
  if (number > 0) peers_->counts_.asked_again.fetch_add(1, std::memory_order_relaxed);
  attempts_.push_back({peer, peer->connection, nullptr, SteadyClock::now()});
  ++peer->in_flight;
  ++under_way_;
  const std::shared_ptr<Connection> connection = peer->connection;
  Message spare = peers_->board_->spare.take();
  lock.unlock();  // the reply may come within the call
  auto asking =
      connection->ask(message_, std::move(spare),
                      [board = peers_->board_, inbox = inbox_, peer, number](Reply&& reply) {
                        const std::lock_guard guard(board->mutex);
                        --peer->in_flight;
                        if (reply.status == Status::kOk) peer->last_answer = SteadyClock::now();
                        inbox->replies.emplace_back(number, std::move(reply));
                        board->changed.notify_all();
                      });
  lock.lock();
  attempts_[number].asking = std::move(asking);
  return true;
}

// An answer, if one has come; failures meanwhile are recorded.
std::optional<Reply> PeerCall::take_reply() {
  for (auto& [number, reply] : std::exchange(inbox_->replies, {})) {
    Attempt& attempt = attempts_[number];
    if (reply.status == Status::kOk) return std::move(reply);
    --under_way_;
    const std::shared_ptr<Peer> peer = std::move(attempt.peer);
    switch (reply.status) {
      case Status::kUnavailable:
      case Status::kAuth:  // the server was restarted; a wrong token shows when it is greeted
        peer->drop(attempt.connection, reply.status, std::move(reply.text));
        break;
      case Status::kBusy:
        not_before_ = SteadyClock::now() + pause_of_busy(busy_++);
        peers_->counts_.busy.fetch_add(1, std::memory_order_relaxed);
        break;
      default:
        fail(reply.status, about(*peer), reply.text);
    }
  }
  return {};
}

// The time at which a replica is asked too.
SteadyClock::time_point PeerCall::hedge_at() const {
  const int64_t after = peers_->config_.hedge_ms;
  if (after > 0 && under_way_ == 1)
    for (const Attempt& attempt : attempts_)
      if (attempt.peer) return attempt.since + milliseconds(after);
  return SteadyClock::time_point::max();
}

void PeerCall::look_for_hedge(Lock& lock) {
  const auto now = SteadyClock::now();
  if (now < hedge_at()) return;
  for (const Attempt& attempt : attempts_)
    if (attempt.peer) attempt.peer->slow_until = now + kSlow;
  if (send(lock)) peers_->counts_.hedged.fetch_add(1, std::memory_order_relaxed);
}

// Throws once no owner of the part can be waited for any longer.
void PeerCall::check_away() {
  if (anyone()) return away_since_.reset();  // busy
  throw_verdict();
  if (!away_since_) away_since_ = SteadyClock::now();
  const bool patient =
      SteadyClock::now() < *away_since_ + milliseconds(peers_->config_.patience_ms);
  const auto final = [](const Peer& peer) {
    return peer.tries > 0 && (peer.status == Status::kMismatch || peer.status == Status::kAuth);
  };
  // The error tells the trouble of a server that is known to have the part, a lasting one first.
  const auto weight = [&](const Peer& peer) { return std::pair(peer.has(part_), final(peer)); };
  const Peer* last = nullptr;
  for (const auto& peer : peers_->peers_) {
    if (!peer->may_have(part_)) continue;
    if (!final(*peer) && (patient || peer->tries < kTries)) return;
    if (!last || weight(*last) < weight(*peer)) last = peer.get();
  }
  if (!last) fail(Status::kUnavailable, "no server has it");
  std::string text = base::text(about(*last), last->text, "; ", last->tries, " tries in ",
                                seconds_since(last->lost), " s");
  if (last->last_answer != SteadyClock::time_point())
    text += base::text("; last answer ", seconds_since(last->last_answer), " s before");
  fail(final(*last) ? last->status : Status::kUnavailable, text);
}

void PeerCall::check_deadline(const base::Deadline& deadline) const {
  if (!deadline.passed()) return;
  // A question that was told to come later may only just have been asked once more.
  const auto now = SteadyClock::now();
  const milliseconds grace = busy_ > 0 ? pause_of_busy(busy_ - 1) : milliseconds(0);
  for (const Attempt& attempt : attempts_)
    if (attempt.peer && now - attempt.since >= grace)
      fail(Status::kTimeout, about(*attempt.peer), "no answer within ",
           seconds_since(attempt.since), " s");
  for (const auto& peer : peers_->peers_)
    if (peer->has(part_))
      fail(Status::kUnavailable, about(*peer), "too many questions are under way, and it told ",
           busy_, " times to come later");
  fail(Status::kUnavailable, "no server has it");
}

std::string PeerCall::about(const Peer& peer) const {
  const auto request = io::load_little<uint64_t>(message_, offsetof(Head, request));
  return base::text(peer.name(), ", request ", request, ": ");
}

}  // namespace gnnmg::dist
