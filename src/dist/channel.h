// The way to those who have the rows that this process lacks. An engine (gRPC, one process, a
// test's script) carries messages; what they say is wire.h's business.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/cancel.h"
#include "dist/serve.h"
#include "dist/wire.h"

namespace gnnmg::dist {

// One request under way. Its end gives the request up if nobody has waited for it.
class Call {
 public:
  virtual ~Call() = default;
  // The answer, which lasts as long as the call. Error(kUnavailable) when nobody can be reached who
  // has the part, kTimeout once `deadline` has passed, kCancelled.
  virtual std::span<const uint8_t> wait(const base::Deadline& deadline,
                                        const base::CancelToken& cancel) = 0;
};

// Any thread.
class Channel {
 public:
  virtual ~Channel() = default;
  // Sends a message to one who has part `part`, without waiting for the answer. `message` lies
  // unchanged until the call ends. What fails at once is thrown by wait().
  virtual std::unique_ptr<Call> ask(int32_t part, std::span<const uint8_t> message) = 0;
};

// To parts of this process: part p is server p's, or nobody's where that is null.
std::unique_ptr<Channel> make_local_channel(std::vector<std::shared_ptr<const Server>> servers);

}  // namespace gnnmg::dist
