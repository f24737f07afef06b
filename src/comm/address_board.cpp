#include "comm/address_board.h"

#include <chrono>
#include <condition_variable>
#include <map>
#include <mutex>

#include "comm/join/control.h"

namespace gnnmg::comm {
namespace {

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

}  // namespace gnnmg::comm
