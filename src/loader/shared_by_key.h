// Objects that exist once per key in this process, and are destroyed with their last user.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <utility>

namespace gnnmg::loader {

// Callers with the same key wait while its object is made; other keys do not wait. Any thread.
template <typename Key, typename Value>
class SharedByKey {
 public:
  std::shared_ptr<Value> find(const Key& key) {
    const std::shared_ptr<Entry> entry = entry_of(key, false);
    if (entry == nullptr) return nullptr;
    const std::lock_guard lock(entry->mutex);
    return entry->value.lock();
  }
  // Returns the existing object, or keeps and returns the result of `make`. Its exceptions pass
  // through.
  template <typename Make>
  std::shared_ptr<Value> open(const Key& key, const Make& make) {
    const std::shared_ptr<Entry> entry = entry_of(key, true);
    const std::lock_guard lock(entry->mutex);
    std::shared_ptr<Value> value = entry->value.lock();
    if (value == nullptr) entry->value = value = make();
    return value;
  }

 private:
  struct Entry {
    std::mutex mutex;
    std::weak_ptr<Value> value;
  };
  std::shared_ptr<Entry> entry_of(const Key& key, bool make) {
    const std::lock_guard lock(mutex_);
    std::erase_if(entries_, [](const auto& entry) {
      if (entry.second.use_count() > 1) return false;  // another caller is asking for this key
      const std::lock_guard unused(entry.second->mutex);
      return entry.second->value.expired();
    });
    const auto found = entries_.find(key);
    if (found != entries_.end()) return found->second;
    if (!make) return nullptr;
    return entries_.emplace(key, std::make_shared<Entry>()).first->second;
  }

  std::mutex mutex_;
  std::map<Key, std::shared_ptr<Entry>> entries_;
};

}  // namespace gnnmg::loader
