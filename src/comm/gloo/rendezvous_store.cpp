#include "comm/gloo/rendezvous_store.h"

#include <chrono>
#include <condition_variable>
#include <map>
#include <mutex>

namespace gnnmg::comm::gloo {
namespace {

using base::Status;

class LocalBoard final : public AddressBoard {
 public:
  void put(const std::string& key, const std::string& value) override {
    const std::lock_guard lock(mutex_);
    values_[key] = value;
    changed_.notify_all();
  }
  std::optional<std::string> get(const std::string& key,
                                 const std::function<bool()>& over) override {
    std::unique_lock lock(mutex_);
    while (!values_.contains(key)) {
      lock.unlock();
      if (over()) return std::nullopt;
      lock.lock();
      changed_.wait_for(lock, std::chrono::milliseconds(5), [&] { return values_.contains(key); });
    }
    return values_[key];
  }
  bool has(const std::string& key) override {
    const std::lock_guard lock(mutex_);
    return values_.contains(key);
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::map<std::string, std::string> values_;
};

class ControlBoard final : public AddressBoard {
 public:
  ControlBoard(std::shared_ptr<Control> control, uint64_t group)
      : control_(std::move(control)), group_(group) {}
  void put(const std::string& key, const std::string& value) override {
    control_->put(group_, key, value);
  }
  std::optional<std::string> get(const std::string& key,
                                 const std::function<bool()>& over) override {
    return control_->get(group_, key, over);
  }
  bool has(const std::string& key) override { return control_->has(group_, key); }

 private:
  const std::shared_ptr<Control> control_;
  const uint64_t group_;
};

}  // namespace

std::shared_ptr<AddressBoard> make_local_board() { return std::make_shared<LocalBoard>(); }

std::shared_ptr<AddressBoard> make_control_board(std::shared_ptr<Control> control, uint64_t group) {
  return std::make_shared<ControlBoard>(std::move(control), group);
}

c10::intrusive_ptr<c10d::Store> RendezvousStore::clone() {
  auto copy = c10::make_intrusive<RendezvousStore>(board_, state_, deadline_);
  copy->told_ = told_;
  return copy;
}

void RendezvousStore::set(const std::string& key, const std::vector<uint8_t>& value) {
  board_->put(key, told_->emplace_back(value.begin(), value.end()));
}

std::vector<uint8_t> RendezvousStore::get(const std::string& key) {
  // Ranks that have come this far connect in milliseconds, whatever has become of their
  // communicator. One that gave up at once would leave the others waiting for its connection.
  constexpr int64_t kGraceMs = 1'000;
  std::optional<base::Deadline> grace;
  const auto value = board_->get(key, [&] {
    if (!grace && state_->ended()) grace = base::Deadline::after_ms(kGraceMs);
    return deadline_.passed() || (grace && grace->passed());
  });
  if (!value) base::fail(Status::kTimeout, "rendezvous: no rank has told ", key);
  return {value->begin(), value->end()};
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
