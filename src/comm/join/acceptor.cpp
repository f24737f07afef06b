#include "comm/join/acceptor.h"

#include <algorithm>
#include <mutex>
#include <set>

namespace gnnmg::comm {

using base::Status;
using base::SteadyClock;

namespace join {

namespace {

constexpr auto kHandshakeTime = std::chrono::seconds(5);
constexpr size_t kMostCandidates = 256;  // above it the oldest one is dropped
constexpr size_t kMostNoted = 8;         // different refusals that turned_away() lists

}  // namespace

Identity::Identity(const std::string& body, const SessionKeys& keys) {
  constexpr size_t kProof = 4 + sizeof(Proof);
  const std::string_view all(body),
      said = all.substr(0, body.size() - std::min(body.size(), kProof));
  genuine = body.size() >= kProof &&
            equal(all.substr(said.size() + 4), bytes_of(make_mac(bytes_of(keys.identity), said)));
  try {
    read(FrameReader(body));
  } catch (const base::Error&) {
    if (genuine) throw;
    protocol = kProtocolVersion;  // too damaged to read
  }
}

void Identity::read(FrameReader reader) {
  protocol = reader.text();
  version = reader.text();
  host = reader.text();
  pid = reader.i64();
  process = reader.i64();
  if (!of_this_protocol()) return;
  job = reader.text();
  num_processes = reader.i64();
  told = reader.text();
  reader.text();  // skip the proof
  reader.finish();
}

std::string Identity::name() const {
  return base::text("process ", process, " on host ", host, " (pid ", pid, ")");
}

std::string own_name(const ProcessInfo& self) {
  return base::text("process ", self.process, " on host ", self.host, " (pid ", self.pid, ")");
}

Acceptor::Acceptor(Socket listener, std::string token)
    : listener_(std::move(listener)), token_(std::move(token)) {}

Acceptor::~Acceptor() = default;

void Acceptor::watch(std::vector<PollEntry>& entries) const {
  entries.push_back({listener_.fd(), false, false, false});
  for (const Candidate& candidate : candidates_)
    entries.push_back(
        {candidate.connection.socket.fd(), !candidate.connection.out.empty(), false, false});
}

void Acceptor::serve(std::span<const PollEntry> entries, const Admit& admit) {
  const SteadyClock::time_point now = SteadyClock::now();
  size_t i = 1;
  for (auto candidate = candidates_.begin(); candidate != candidates_.end();) {
    const bool readable = entries[i++].readable;
    bool keep = now - candidate->since < kHandshakeTime;
    try {
      keep = keep && (!readable || advance(*candidate, admit));
    } catch (const base::Error&) {  // bytes of strangers are no error of the job
      if (candidate->proven) note(candidate->address, "a malformed message");
      keep = false;
    }
    std::string& out = candidate->connection.out;
    if (keep && !out.empty())
      keep = candidate->connection.socket.write(out) != Socket::Result::kClosed;
    if (keep && candidate->closing && out.empty()) keep = false;
    candidate = keep ? std::next(candidate) : candidates_.erase(candidate);
  }
  if (entries[0].readable) accept();
}

void Acceptor::accept() {
  for (int i = 0; i < 64; ++i) {  // at most 64 per round
    Socket socket;
    Address from;
    try {
      socket = listener_.accept(&from);
    } catch (const base::Error&) {  // out of descriptors: drop the oldest candidate
      if (candidates_.empty()) throw;
      candidates_.pop_front();
      return;
    }
    if (!socket.open()) return;
    if (candidates_.size() >= kMostCandidates) candidates_.pop_front();
    candidates_.emplace_back(std::move(socket), from.host(), token_);
  }
}

// Returns false if the candidate is a member now, or must be dropped.
bool Acceptor::advance(Candidate& candidate, const Admit& admit) {
  Connection& connection = candidate.connection;
  std::string bytes;
  if (connection.socket.read(bytes) == Socket::Result::kClosed) return false;
  if (candidate.closing) return true;
  connection.in.append(bytes);
  if (!candidate.proven) {
    switch (candidate.handshake.advance(connection.in, connection.out)) {
      case ServerHandshake::Result::kMore:
        return true;
      case ServerHandshake::Result::kStranger:
        return false;
      case ServerHandshake::Result::kWrongToken:
        note(candidate.address,
             token_.empty() ? "a token, but process 0 has none" : "a wrong token or none");
        candidate.closing = true;
        return true;
      case ServerHandshake::Result::kProven:
        candidate.proven = true;
    }
  }
  const auto frame = connection.in.next();
  if (!frame) return true;
  if (frame->kind != FrameKind::kIdentity)
    base::fail(Status::kProtocol, "it does not say who it is");
  const SessionKeys& keys = candidate.handshake.keys();
  const Identity identity(frame->body, keys);
  if (identity.of_this_protocol()) connection.seal(keys.to_member, keys.to_leader);
  return admit(candidate, identity);
}

void Acceptor::refuse(Candidate& candidate, Status status, const std::string& text) {
  FrameWriter refused(FrameKind::kRefused);
  refused.i64(static_cast<int32_t>(status));
  refused.text(text);
  candidate.connection.send(refused.finish());
  candidate.closing = true;
}

bool Acceptor::written() const {
  return std::ranges::all_of(
      candidates_, [](const Candidate& candidate) { return candidate.connection.out.empty(); });
}

void Acceptor::note(const std::string& who, const std::string& why) {
  const std::string text = base::text(who, " for ", why);
  if (turned_away_.size() < kMostNoted || turned_away_.contains(text))
    ++turned_away_[text];
  else
    ++more_turned_away_;
}

std::string Acceptor::turned_away() const {
  std::string text;
  for (const auto& [who, times] : turned_away_) {
    text += base::text(text.empty() ? "; turned away: " : ", ", who);
    if (times > 1) text += base::text(" (", times, " times)");
  }
  if (more_turned_away_ > 0) text += base::text(" and ", more_turned_away_, " more");
  return text;
}

}  // namespace join

namespace {

// Time for surplus processes to arrive after all members have come.
constexpr auto kLate = std::chrono::seconds(10);

std::mutex open_mutex;  // guards open_ports()
// Ports of the late acceptors in this process; true: another job wants to listen there.
std::map<int32_t, bool>& open_ports() {
  static auto& ports = *new std::map<int32_t, bool>;
  return ports;
}

}  // namespace

LateAcceptor::LateAcceptor(std::unique_ptr<join::Acceptor> acceptor, ProcessInfo self, int32_t port,
                           std::vector<Member> members)
    : acceptor_(std::move(acceptor)),
      self_(std::move(self)),
      port_(port),
      members_(std::move(members)) {
  std::lock_guard lock(open_mutex);
  open_ports()[port_] = false;
}

LateAcceptor::~LateAcceptor() {
  std::lock_guard lock(open_mutex);
  open_ports().erase(port_);
}

bool LateAcceptor::over() const {
  if (SteadyClock::now() - since_ > kLate) return true;
  std::lock_guard lock(open_mutex);
  return open_ports()[port_];
}

void LateAcceptor::release_port(int32_t port) {
  std::lock_guard lock(open_mutex);
  const auto found = open_ports().find(port);
  if (found != open_ports().end()) found->second = true;
}

void LateAcceptor::serve(std::span<const PollEntry> entries) {
  acceptor_->serve(entries, [this](join::Candidate& candidate, const join::Identity& identity) {
    return admit(candidate, identity);
  });
}

bool LateAcceptor::admit(join::Candidate& candidate, const join::Identity& identity) const {
  const std::string full = base::text("; the job has all of its ", self_.num_processes,
                                      " processes and goes on without");
  const auto differ = [&](const char* what, const auto& theirs, const auto& ours) {
    join::Acceptor::refuse(candidate, Status::kMismatch,
                           base::text(identity.name(), " has ", what, " ", theirs, ", ",
                                      join::own_name(self_), " has ", ours, full));
    return true;
  };
  if (!identity.of_this_protocol())
    return differ("protocol", identity.protocol, join::kProtocolVersion);
  if (!identity.genuine) return false;
  if (identity.job != self_.job) return differ("job", identity.job, self_.job);
  if (identity.num_processes != self_.num_processes)
    return differ("world size (number of processes)", identity.num_processes, self_.num_processes);
  if (identity.process < 0 || identity.process >= self_.num_processes) return false;
  const Member& member = members_[identity.process];
  // A member joins another job at the same port: its process 0 will listen there soon.
  if (member.host == identity.host && member.pid == identity.pid) return false;
  join::Acceptor::refuse(
      candidate, Status::kMismatch,
      base::text("two processes are number ", identity.process, ": on host ", member.host, " (pid ",
                 member.pid, ") and on host ", identity.host, " (pid ", identity.pid, ")", full));
  return true;
}

}  // namespace gnnmg::comm
