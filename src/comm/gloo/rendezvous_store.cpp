#include "comm/gloo/rendezvous_store.h"

#include <optional>

namespace gnnmg::comm::gloo {

using base::Status;

c10::intrusive_ptr<c10d::Store> RendezvousStore::clone() {
  auto copy = c10::make_intrusive<RendezvousStore>(board_, state_, deadline_);
  copy->words_ = words_;
  return copy;
}

void RendezvousStore::set(const std::string& key, const std::vector<uint8_t>& value) {
  const std::string& words = words_->told.emplace_back(value.begin(), value.end());
  words_->seen[key] = make_digest(words);
  board_->put(key, words);
}

std::vector<uint8_t> RendezvousStore::get(const std::string& key) {
  // Ranks at this point connect in milliseconds, even if their communicator has ended. A rank that
  // gave up at once would leave the others waiting for its connection.
  constexpr int64_t kGraceMs = 1'000;
  std::optional<base::Deadline> grace;
  const auto value = board_->get(key, [&] {
    if (!grace && state_->ended()) grace = base::Deadline::after_ms(kGraceMs);
    return deadline_.passed() || (grace && grace->passed());
  });
  if (!value) base::fail(Status::kTimeout, "rendezvous: no rank has set ", key);
  words_->seen[key] = make_digest(*value);
  return {value->begin(), value->end()};
}

Proof RendezvousStore::transcript() const {
  std::string all;
  for (const auto& [key, digest] : words_->seen) {
    all += bytes_of(make_digest(key));
    all += bytes_of(digest);
  }
  return make_digest(all);
}

bool RendezvousStore::check(const std::vector<std::string>& keys) {
  for (const std::string& key : keys)
    if (!board_->has(key)) return false;
  return true;
}

void RendezvousStore::wait(const std::vector<std::string>& keys) {
  for (const std::string& key : keys) get(key);
}

void RendezvousStore::wait(const std::vector<std::string>& keys, const std::chrono::milliseconds&) {
  wait(keys);
}

int64_t RendezvousStore::add(const std::string&, int64_t) {
  base::fail(Status::kInternal, "the rendezvous counts in its store");
}

bool RendezvousStore::deleteKey(const std::string&) {
  base::fail(Status::kInternal, "the rendezvous deletes from its store");
}

int64_t RendezvousStore::getNumKeys() {
  base::fail(Status::kInternal, "the rendezvous asks for the size of its store");
}

}  // namespace gnnmg::comm::gloo
