// The processes of a job: they find each other, agree on settings, and notice late and lost
// processes. Communicators among the rank threads of all processes are made from it.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "comm/collectives.h"
#include "comm/join/config.h"

namespace gnnmg::comm {

class Control;

// The processes for which a collective call ends when one of them gives it up.
enum class Ending : uint8_t {
  kForArrived,  // late processes have not begun with it
  kForAll,      // late processes find it ended too
};

// A field that processes compare: name and value as text.
using Field = std::pair<std::string, std::string>;

// A process's share in a job. Functions on any thread, but gather, agree, make_group and shutdown
// are collective: every process calls them in the same order, one at a time.
//
// A process that gives up such a call, by a cancel or its deadline, calls it off for all processes
// that have come: they get Error(kTimeout) with the names of the missing ones, or Error(kAborted)
// with the reason. The job goes on without loss: a late process meets the ones that call again
// (Ending describes the exceptions). Giving up ends the job only if process 0, which coordinates
// the calls, is silent.
//
// After a process is lost, or the job has been aborted, the object is spent: later calls are
// Error(kAborted) with the first cause, and all its communicators have ended. Destroying it without
// shutdown() is an abort: the others end with Error(kAborted).
class Processes {
 public:
  // Joins the job: finds process 0, proves to know the token, compares version and size.
  // Error(kTimeout) names the missing processes, kMismatch on every process if settings differ,
  // kAuth, kUnavailable if the address is not available. Process 0's address is on `board` if
  // config.agent_store is set.
  static std::shared_ptr<Processes> join(const JoinConfig& config, const Wait& wait,
                                         const OpenBoard& board = {});
  ~Processes();
  Processes(const Processes&) = delete;
  Processes& operator=(const Processes&) = delete;

  int process() const;
  int num_processes() const;
  // The host name of a process, as the process reports it.
  const std::string& host(int process) const;
  // Numeric address of this process, for its data connections.
  const std::string& address() const;

  // Returns the bytes of all processes by process. Error(kMismatch) if `name` differs. For small
  // data at a rendezvous: 64 MiB in all.
  std::vector<std::string> gather(const std::string& name, const std::string& bytes,
                                  const Wait& wait, Ending ending = Ending::kForArrived);
  // Error(kMismatch) on every process, naming process, field and both values, unless all have the
  // same fields. The job can go on afterwards.
  void agree(const std::string& name, const std::vector<Field>& fields, const Wait& wait);
  // The orderly end: returns once all processes have called it. The program may end right after it:
  // process 0 returns once all others know of the end, or `wait` is over.
  void shutdown(const Wait& wait);
  // Ends the job and its communicators everywhere with Error(kAborted) and this text. Idempotent.
  void abort(const std::string& why) noexcept;
  bool spent() const noexcept;
  // Called at each heartbeat: returns true while this process waits for a callback of its host,
  // which excuses its late ranks. Replaces the previous function; empty: no excuse.
  void set_excuse(std::function<bool()> excuse);
  // Leaves without a shutdown, which is an abort; set_leave_reason() gives the reason for the
  // others.
  void leave() noexcept;
  void set_leave_reason(const std::string& why);
  // Returns once all messages of this process are written, or after a tenth of a second. For
  // messages right before the program ends.
  void drain() noexcept;

  const std::shared_ptr<Control>& control() const { return control_; }  // used by engines

 private:
  explicit Processes(std::shared_ptr<Control> control);
  std::shared_ptr<Control> control_;
  std::thread thread_;
  std::mutex reason_mutex_;  // guards leave_reason_
  std::string leave_reason_;
};

// A process's contribution to a new communicator.
struct Share {
  int num_ranks = 1;            // may differ between processes
  std::vector<Field> fields{};  // must be the same in all processes, as in agree()
  std::string name = "make_group";
  // Set if this process cannot take part; the others get it as Error(kAborted).
  std::optional<base::Error> obstacle{};
};

// Makes a communicator of the rank threads of all processes, over Gloo, or in memory if there is
// one process; ranks are numbered by process, then thread. Collective: one exchange.
std::shared_ptr<ThreadGroup> make_group(std::shared_ptr<Processes> processes, const Share& share,
                                        const Wait& wait);

// Calls Processes::join() with the store of torchrun's agent as the board.
std::shared_ptr<Processes> join_job(const JoinConfig& config, const Wait& wait);

}  // namespace gnnmg::comm
