// A board in place of the store of torchrun's agent: everybody with the pointer can write to it.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

#include "comm/join/config.h"

namespace gnnmg::test {

struct SharedBoard : comm::Board {
  struct Words {
    std::mutex mutex;
    std::map<std::string, std::string> map;
  };
  explicit SharedBoard(std::shared_ptr<Words> shared) : words(std::move(shared)) {}
  void publish(const std::string& key, const std::string& value) override {
    std::lock_guard lock(words->mutex);
    words->map[key] = value;
  }
  std::optional<std::string> look(const std::string& key) override {
    std::lock_guard lock(words->mutex);
    const auto found = words->map.find(key);
    if (found == words->map.end()) return std::nullopt;
    return found->second;
  }
  std::shared_ptr<Words> words;
};

}  // namespace gnnmg::test
