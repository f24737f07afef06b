// One question about a part, asked of its owners until one has answered.
#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "dist/channel.h"
#include "dist/peer.h"
#include "dist/peers.h"

namespace gnnmg::dist {

class PeerCall : public Call {
 public:
  // Sends the message where a server has room for it. `part` -1: to any server.
  PeerCall(std::shared_ptr<const Peers> peers, int32_t part, std::span<const uint8_t> message);
  ~PeerCall() override;
  std::span<const uint8_t> wait(const base::Deadline& deadline,
                                const base::CancelToken& cancel) override;

 private:
  using Lock = std::unique_lock<std::mutex>;
  struct Attempt {
    std::shared_ptr<Peer> peer;
    std::shared_ptr<Connection> connection;
    std::unique_ptr<Asking> asking;
    base::SteadyClock::time_point since;
  };
  // Replies as they come, by the number of their attempt; under the board's lock.
  struct Inbox {
    std::vector<std::pair<size_t, Reply>> replies;
  };

  std::span<const uint8_t> wait_for_answer(const base::Deadline& deadline,
                                           const base::CancelToken& cancel);
  void throw_verdict() const;
  void await_verdict(const base::CancelToken& cancel) const;
  std::shared_ptr<Peer> choose() const;
  bool anyone() const;
  bool send(Lock& lock);
  std::optional<Reply> take_reply();
  void look_for_hedge(Lock& lock);
  base::SteadyClock::time_point hedge_at() const;
  void check_away();
  void check_deadline(const base::Deadline& deadline) const;
  std::string about(const Peer& peer) const;

  const std::shared_ptr<const Peers> peers_;
  const int32_t part_;
  const std::span<const uint8_t> message_;
  const std::shared_ptr<Inbox> inbox_ = std::make_shared<Inbox>();
  std::vector<Attempt> attempts_;  // null peers: over
  size_t under_way_ = 0;
  int64_t busy_ = 0;  // number of kBusy answers
  base::SteadyClock::time_point not_before_{};
  std::optional<base::SteadyClock::time_point> away_since_;  // no owner of the part is there
  Message answer_;
};

}  // namespace gnnmg::dist
