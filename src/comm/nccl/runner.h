// How operations of a rank run, whatever they are: counted, compared with what the other ranks
// call, started, waited for within a deadline, and ended on every rank when one fails. Apart from
// the engine, which knows what an operation is made of.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "comm/group_state.h"
#include "comm/nccl/engine.h"
#include "comm/nccl/in_flight.h"

namespace gnnmg::comm::nccl {

// Used by the thread of the rank; abort, spent and positions from any. An operation begins when all
// ranks of this process have come, and returns when all of their kernels are started, and over
// where the host waits for it: their calls are compared, and no rank's thread takes or gives back
// memory while another one's kernel waits for one that is still to be started. Other processes'
// calls nobody sees beforehand, so among several each operation begins with a roll call over NCCL
// itself.
class Runner {
 public:
  Runner(std::shared_ptr<GroupState> state, int rank, std::shared_ptr<Parts> parts);
  ~Runner();
  Runner(const Runner&) = delete;
  Runner& operator=(const Runner&) = delete;

  int rank() const { return rank_; }
  int world_size() const { return state_->world_size(); }
  GroupState& state() { return *state_; }
  CommStream& comm_stream() { return parts_->comm_stream; }
  Handle& handle() { return parts_->handle; }
  const Table& nccl() { return parts_->handle.nccl(); }
  bool spent() const noexcept { return lost_.has_value() || state_->ended(); }
  void set_caller(const std::string& name) { caller_ = name; }

  // Staging memory for the operation that is called next. Null when the communicator has ended: the
  // operation will say why.
  uint8_t* stage(int64_t bytes);
  // `start` queues copies to staging memory and calls NCCL, last. Returns when all of it is over.
  void run(Call call, const Wait& wait, const std::function<void()>& start);
  // From staging memory to the caller's, at the end of an operation that all ranks are through.
  void write(const std::function<void()>& copies);
  // `start` calls NCCL, which works behind what is in `queue` now; what comes there later is behind
  // it. Returns when it is queued.
  void put(Call call, base::DeviceQueue* queue, const Wait& wait,
           const std::function<void()>& start);
  // Returns when all that is in `queue` is over, and with it what was put there.
  void finish(base::DeviceQueue* queue, const Wait& wait);
  // Returns when over() says so, with what has come by then compared and forgotten.
  void await(const std::function<bool()>& over, const Wait& wait);
  void shutdown(const Wait& wait);

 private:
  // What was put into a queue, until the ranks' words of it have been compared.
  struct Put {
    std::string what;
    uint64_t operation, digest;
    int64_t place;  // of the words, below kMostDigests
  };
  void refuse() const;
  bool reserve(const std::function<void()>& allocate);
  void close() noexcept;
  void begin(const std::string& what, const Wait& wait, const std::function<void()>& enter);
  // False when NCCL refuses an argument and the communicator stays usable: what it says is kept.
  bool start_calls(const std::string& what, const std::function<void()>& start);
  void throw_refused();
  base::KernelGate& gate() { return *parts_->locals.gate; }
  void await_local_ranks(const Call& call, const Wait& wait,
                         const std::function<bool()>& try_enter);
  void await_launch(const std::string& what, const Wait& wait);
  void await_launched(const std::string& what, const Wait& wait);
  void compare_calls(const Call& call, const Wait& wait);
  void compare_sizes(const Call& call, const Wait& wait);
  void gather_words(const std::string& what, const std::vector<int64_t>& own, const Wait& wait);
  [[noreturn]] void differ(const std::string& what, uint64_t operation);
  bool compare_puts();
  bool words_there(const Put& put);
  void put_digest(const Put& put, const Wait& wait);
  void watch(const std::string& what, const Wait& wait, const std::function<bool()>& poll);
  bool over(bool& launched);
  void guard(const std::string& what, const Wait& wait, const std::function<void()>& body);
  void fail(const base::Error& error, uint64_t operation);
  void lose(const std::string& why);
  void find_loss() noexcept;

  const std::shared_ptr<GroupState> state_;
  const int rank_;
  std::shared_ptr<Parts> parts_;
  std::optional<InFlight> in_flight_;  // of a rank alone nothing is
  uint64_t operation_ = 0;
  int64_t launches_ = 0;  // calls of NCCL's, groups counted as one
  std::string caller_;
  std::string refused_;              // by NCCL, in the operation that runs
  std::optional<base::Error> lost_;  // the device
  bool aborted_ = false;             // here
  std::vector<Put> puts_;            // since the last finish, or that await has not seen
  int64_t next_place_ = 0;
  bool shut_down_ = false;
};

}  // namespace gnnmg::comm::nccl
