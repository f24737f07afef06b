// The store of torchrun's agent as the board for process 0's address. Its client blocks longer than
// its timeout, so each call runs on a thread of its own.
#include <torch/csrc/distributed/c10d/TCPStore.hpp>

#include "comm/blocking_call.h"
#include "comm/gloo/quiet.h"
#include "comm/processes.h"

namespace gnnmg::comm {
namespace {

using base::Status;
using StorePtr = c10::intrusive_ptr<c10d::TCPStore>;

// Runs `call` with errors as Error(kUnavailable), with the first line of LibTorch's text.
template <typename T>
T ask(const std::string& where, const Wait& wait, std::function<T()> call) {
  return blocking_call<T>(base::text("the store of torchrun's agent at ", where), wait,
                          [where, call = std::move(call)] {
                            const gloo::QuietLog quiet_log;
                            gloo::QuietWarnings handler;
                            const c10::WarningUtils::WarningHandlerGuard quiet_warnings(&handler);
                            try {
                              return std::make_unique<T>(call());
                            } catch (const std::exception& e) {
                              const std::string text = e.what();
                              base::fail(Status::kUnavailable, "the store of torchrun's agent at ",
                                         where, ": ", text.substr(0, text.find('\n')));
                            }
                          });
}

class AgentStore final : public Board {
 public:
  AgentStore(const std::string& host, int32_t port, const Wait& wait)
      : where_(base::text(host, ":", port)), wait_(wait) {
    c10d::TCPStoreOptions options;
    options.port = static_cast<uint16_t>(port);
    options.waitWorkers = false;
    options.timeout =
        std::chrono::milliseconds(std::clamp<int64_t>(wait.deadline.remaining_ms(), 1, 3'600'000));
    store_ = ask<StorePtr>(where_, wait_, [host, options] {
      return c10::make_intrusive<c10d::TCPStore>(host, options);
    });
  }

  void publish(const std::string& key, const std::string& value) override {
    ask<bool>(where_, wait_, [store = store_, key, value] {
      static_cast<c10d::Store&>(*store).set(key, value);
      return true;
    });
  }

  std::optional<std::string> look(const std::string& key) override {
    return ask<std::optional<std::string>>(where_, wait_,
                                           [store = store_, key]() -> std::optional<std::string> {
                                             if (!store->check({key})) return std::nullopt;
                                             const std::vector<uint8_t> value = store->get(key);
                                             return std::string(value.begin(), value.end());
                                           });
  }

 private:
  const std::string where_;
  const Wait wait_;
  StorePtr store_;
};

}  // namespace

std::shared_ptr<Processes> join_job(const JoinConfig& config, const Wait& wait) {
  return Processes::join(config, wait,
                         [](const std::string& host, int32_t port, const Wait& while_joining) {
                           return std::make_unique<AgentStore>(host, port, while_joining);
                         });
}

}  // namespace gnnmg::comm
