// Compares the calls of ranks in several processes before NCCL runs them: different calls would
// hang NCCL or mix up data. Ranks first gather digests of their calls on the same stream. If these
// differ, each rank sends its call in words, and all ranks report the same difference.
#include <algorithm>
#include <atomic>
#include <string_view>
#include <utility>

#include "comm/nccl/runner.h"

namespace gnnmg::comm::nccl {

using base::Status;

// FNV-1a over the parts of a call that must be the same on all ranks; never 0, which stands for a
// missing digest.
uint64_t digest_of(const Call& call, uint64_t operation) {
  uint64_t hash = 0xcbf29ce484222325u;
  const auto add = [&](std::string_view bytes) {
    for (const char byte : bytes) hash = (hash ^ static_cast<uint8_t>(byte)) * 0x100000001b3u;
    hash = (hash ^ 0xFFu) * 0x100000001b3u;  // separator, so that texts do not run together
  };
  add(call.what);
  add(call.detail);
  add(call.caller);
  add(base::text(operation, " ", call.sent.size(), " ", call.received.size()));
  return hash | 1;
}

void Runner::fail_mismatch(const std::string& what, uint64_t operation) {
  state_->end_unless_explained(
      rank_, operation,
      {Status::kMismatch,
       base::text(what, ": rank ", rank_, " and others call different operations"),
       rank_,
       operation,
       {}});
  state_->throw_cause(rank_, operation);
}

// Gathers `own` of every rank, by rank, into the pinned words. All ranks pass equally many.
void Runner::gather_numbers(const std::string& what, const std::vector<int64_t>& own,
                            const Wait& wait) {
  const auto bytes = static_cast<int64_t>(own.size() * sizeof(int64_t));
  const CommStream::WordBuffer buffer = comm_stream().word_buffer(bytes * world_size());
  std::copy(own.begin(), own.end(), buffer.host + rank_ * own.size());
  comm_stream().copy(buffer.device + rank_ * bytes, buffer.host + rank_ * own.size(), bytes);
  await_launch(what, wait);
  handle().call([&](Communicator* communicator) {
    return nccl().all_gather(buffer.device + rank_ * bytes, buffer.device, bytes, Type::kU8,
                             communicator, comm_stream().get());
  });
  bool launched = false, copied = false;
  watch(what, wait, [&] {
    if (!over(launched)) return false;
    if (!std::exchange(copied, true))
      comm_stream().copy(buffer.host, buffer.device, bytes * world_size());
    return comm_stream().finished();
  });
}

void Runner::compare_calls(const Call& call, const Wait& wait) {
  const auto own = static_cast<int64_t>(digest_of(call, operation_));
  gather_numbers(call.what, {own}, wait);
  const int64_t* words = comm_stream().word_buffer(0).host;
  for (int r = 0; r < world_size(); ++r)
    if (words[r] != own) fail_mismatch(call.what, operation_);
  if (!call.sent.empty()) compare_sizes(call, wait);
}

// Compares the size that each rank sends to each other rank with the expected size; all ranks check
// all pairs.
void Runner::compare_sizes(const Call& call, const Wait& wait) {
  std::vector<int64_t> own = call.sent;
  own.insert(own.end(), call.received.begin(), call.received.end());
  gather_numbers(call.what, own, wait);
  const int64_t* words = comm_stream().word_buffer(0).host;
  const int world = world_size();
  for (int from = 0; from < world; ++from)
    for (int to = 0; to < world; ++to) {
      const int64_t sent = words[2 * world * from + to];
      const int64_t expected = words[2 * world * to + world + from];
      if (sent == expected) continue;
      state_->end({Status::kMismatch,
                   size_difference(call.what, from, sent, to, expected, call.detail),
                   to,
                   operation_,
                   {}});
      state_->throw_cause(rank_, operation_);
    }
}

// Gathers the digest of a queued operation without waiting: the copy follows it in the queue, and a
// later call compares it. Until then each operation has its own place in the buffer.
void Runner::put_digest(const Put& put, const Wait& wait) {
  constexpr int64_t kWord = sizeof(uint64_t);
  const int64_t world = world_size();
  const CommStream::WordBuffer buffer = comm_stream().digests(world);
  const int64_t place = put.place * (world + 1);
  int64_t* own = buffer.host + place + world;
  std::fill_n(buffer.host + place, world, 0);
  *own = static_cast<int64_t>(put.digest);
  uint8_t* words = buffer.device + place * kWord;
  comm_stream().copy(words + rank_ * kWord, own, kWord);
  await_launch(put.what, wait);
  handle().call([&](Communicator* communicator) {
    return nccl().all_gather(words + rank_ * kWord, words, kWord, Type::kU8, communicator,
                             comm_stream().get());
  });
  await_launched(put.what, wait);
  comm_stream().copy(buffer.host + place, words, world * kWord);
  puts_.push_back(put);
  compare_puts();  // a difference found now spares NCCL the operation
  puts_.pop_back();
}

// True once the digests of all ranks have arrived. Ends the communicator if they differ.
bool Runner::digests_arrived(const Put& put) {
  const int64_t world = world_size();
  int64_t* words = comm_stream().digests(world).host + put.place * (world + 1);
  bool all_there = true;
  for (int64_t r = 0; r < world; ++r) {
    const int64_t found = std::atomic_ref(words[r]).load(std::memory_order_relaxed);
    if (found == 0)
      all_there = false;
    else if (found != static_cast<int64_t>(put.digest))
      fail_mismatch(put.what, put.operation);
  }
  return all_there;
}

// False while digests are missing. Ends the communicator if they differ.
bool Runner::compare_puts() {
  if (!state_->spread()) return true;
  bool all_there = true;
  for (const Put& put : puts_) all_there = digests_arrived(put) && all_there;
  return all_there;
}

}  // namespace gnnmg::comm::nccl
