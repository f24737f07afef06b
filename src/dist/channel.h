// The way to the owners of rows that this process lacks. An engine (gRPC, one process, a test's
// script) carries messages; wire.h has their content.
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
  // The answer, which lasts as long as the call. Error(kUnavailable) when no owner of the part can
  // be reached, kTimeout once `deadline` has passed, kCancelled.
  virtual std::span<const uint8_t> wait(const base::Deadline& deadline,
                                        const base::CancelToken& cancel) = 0;
};

// Any thread.
class Channel {
 public:
  virtual ~Channel() = default;
  // Sends a message to an owner of part `part`, without waiting for the answer. `message` lies
  // unchanged until the call ends. wait() throws the error of a call that fails at once.
  virtual std::unique_ptr<Call> ask(int32_t part, std::span<const uint8_t> message) = 0;
};

// A channel to parts of this process: server p answers for part p; where it is null, nobody does.
std::unique_ptr<Channel> make_local_channel(std::vector<std::shared_ptr<const Server>> servers);

}  // namespace gnnmg::dist
