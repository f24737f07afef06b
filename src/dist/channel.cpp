#include "dist/channel.h"

#include <utility>

#include "base/error.h"

namespace gnnmg::dist {
namespace {

// Answers when it is waited for.
class LocalCall : public Call {
 public:
  LocalCall(std::shared_ptr<const Server> server, std::span<const uint8_t> message)
      : server_(std::move(server)), message_(message) {}
  std::span<const uint8_t> wait(const base::Deadline&, const base::CancelToken& cancel) override {
    cancel.check("waiting for rows");
    if (!server_) base::fail(base::Status::kUnavailable, "nobody has it");
    server_->answer(message_, answer_);
    return answer_.span();
  }

 private:
  std::shared_ptr<const Server> server_;
  std::span<const uint8_t> message_;
  Message answer_;
};

class LocalChannel : public Channel {
 public:
  explicit LocalChannel(std::vector<std::shared_ptr<const Server>> servers)
      : servers_(std::move(servers)) {}
  std::unique_ptr<Call> ask(int32_t part, std::span<const uint8_t> message) override {
    return std::make_unique<LocalCall>(servers_.at(static_cast<size_t>(part)), message);
  }

 private:
  std::vector<std::shared_ptr<const Server>> servers_;
};

}  // namespace

std::unique_ptr<Channel> make_local_channel(std::vector<std::shared_ptr<const Server>> servers) {
  return std::make_unique<LocalChannel>(std::move(servers));
}

}  // namespace gnnmg::dist
