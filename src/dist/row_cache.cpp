#include "dist/row_cache.h"

#include <chrono>
#include <utility>

#include "base/error.h"

namespace gnnmg::dist {

using base::fail;
using base::Status;

RowCache::Choice::Choice(std::span<const int64_t> nodes, std::vector<int32_t> slots,
                         int64_t num_nodes, const uint8_t* table)
    : rows_(nodes, num_nodes), slots_(std::move(slots)), table_(table) {}

RowCache::Choice::~Choice() { unread_.set_value(); }

std::shared_ptr<const RowCache::Choice> RowCache::read() const {
  const std::lock_guard lock(mutex_);
  return now_;
}

void RowCache::replace(std::span<const int64_t> nodes, const Fetch& fetch,
                       const base::CancelToken& cancel) {
  const auto count = static_cast<int64_t>(nodes.size());
  if (!now_) {
    table_.resize_discard(base::checked_mul(count, row_bytes_, "the rows kept"));
    capacity_ = count;
  }
  if (count > capacity_)
    fail(Status::kInvalidArgument, count, " rows are to be kept, expected ", capacity_, " at most");

  constexpr int32_t kFetched = -1;
  std::vector<int32_t> slots(nodes.size(), kFetched), staying_slots;
  std::vector<int64_t> staying;
  std::vector<bool> taken(static_cast<size_t>(capacity_));
  for (size_t i = 0; now_ && i < nodes.size(); ++i) {
    slots[i] = static_cast<int32_t>(now_->slot_of(nodes[i]));
    if (slots[i] == kFetched) continue;
    staying.push_back(nodes[i]);
    staying_slots.push_back(slots[i]);
    taken[slots[i]] = true;
  }
  std::vector<int64_t> fetched;
  std::vector<int32_t> fetched_slots;
  int32_t free = 0;
  for (size_t i = 0; i < nodes.size(); ++i) {
    if (slots[i] != kFetched) continue;
    while (taken[free]) ++free;
    fetched.push_back(nodes[i]);
    fetched_slots.push_back(slots[i] = free++);
  }
  const bool leave = now_ && now_->size() > std::ssize(staying);
  if (now_ && !leave && fetched.empty()) return;

  if (leave) publish(staying, std::move(staying_slots));
  wait_for_readers(cancel);
  fetch(fetched, fetched_slots, table_.data());
  publish(nodes, std::move(slots));
}

void RowCache::publish(std::span<const int64_t> nodes, std::vector<int32_t> slots) {
  auto next = std::make_shared<Choice>(nodes, std::move(slots), num_nodes_, table_.data());
  std::future<void> unread = next->unread_.get_future();
  if (now_) leaving_.push_back(std::move(now_unread_));
  now_unread_ = std::move(unread);
  const std::lock_guard lock(mutex_);
  now_.swap(next);
}

void RowCache::wait_for_readers(const base::CancelToken& cancel) {
  for (const std::future<void>& unread : leaving_)
    while (unread.wait_for(std::chrono::milliseconds(20)) != std::future_status::ready)
      cancel.check("choosing the rows to keep");
  leaving_.clear();
}

}  // namespace gnnmg::dist
