// The processes of a job: how they find each other and agree, and what tells one of them that
// another is late or gone. Communicators among the rank threads of all processes are made from it.
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

// For whom a collective call is over when a process gives it up.
enum class Ending : uint8_t {
  kForThoseWhoCame,  // others have not begun with it
  kForAll,           // it goes with one that all have come to: they find it over
};

// What processes compare: a name and a value in words.
using Field = std::pair<std::string, std::string>;

// A process's share in a job. Functions from any thread, but gather, agree, make_group and shutdown
// are collective: every process calls them in the same order, one at a time.
//
// A process that gives one of them up, by a cancel or its deadline, calls it off for all who have
// come to it: they get Error(kTimeout) with the names of those who have not, or Error(kAborted)
// with the reason. The job goes on, and nobody else has missed anything: who comes later meets
// those who call it again (Ending says which calls differ). Only when process 0, which keeps count,
// is not heard of any more, does giving up end the job.
//
// After a process is lost, or the job has been aborted, it is spent: later calls are
// Error(kAborted) with the first cause, and all its communicators have ended. Freed without
// shutdown() it is an abort: the others end with Error(kAborted).
class Processes {
 public:
  // Meets the other processes: finds process 0, proves to know the token, compares version and
  // size. Error(kTimeout) naming who is missing, kMismatch on every process when they disagree,
  // kAuth, kUnavailable when the address cannot be had. `board` is where process 0's address is
  // told when config.agent_store says so.
  static std::shared_ptr<Processes> join(const JoinConfig& config, const Wait& wait,
                                         const OpenBoard& board = {});
  ~Processes();
  Processes(const Processes&) = delete;
  Processes& operator=(const Processes&) = delete;

  int process() const;
  int num_processes() const;
  // The machine of a process, as it calls itself.
  const std::string& host(int process) const;
  // Of this process, numeric: where its data connections listen.
  const std::string& address() const;

  // Everyone's bytes by process. `name` must be the same everywhere, else Error(kMismatch). For
  // what is said once, not for data: 64 MiB in all.
  std::vector<std::string> gather(const std::string& name, const std::string& bytes,
                                  const Wait& wait, Ending ending = Ending::kForThoseWhoCame);
  // Error(kMismatch) on every process, naming process, field and both values, unless all have the
  // same fields; the job can go on after it.
  void agree(const std::string& name, const std::vector<Field>& fields, const Wait& wait);
  // The orderly end: returns when all processes have called it. The program may end at once:
  // process 0 returns when all others know of the end, or `wait` is over.
  void shutdown(const Wait& wait);
  // Ends the job and its communicators everywhere with Error(kAborted) and this text. Idempotent.
  void abort(const std::string& why) noexcept;
  bool spent() const noexcept;
  // Asked at each heartbeat: true while this process waits for a callback of its host, which
  // excuses that its ranks are late. Replaces the one before; empty: nothing excuses.
  void set_excuse(std::function<bool()> excuse);
  // Leaving without a shutdown, which is an abort; and why, in words for the others.
  void leave() noexcept;
  void set_parting_words(const std::string& why);
  // Returns when what was said to the others has been written, or a tenth of a second later: nobody
  // is waited for. For what a program says before it ends.
  void drain() noexcept;

  const std::shared_ptr<Control>& control() const { return control_; }  // for engines

 private:
  explicit Processes(std::shared_ptr<Control> control);
  std::shared_ptr<Control> control_;
  std::thread thread_;
  std::mutex parting_;  // guards the one below
  std::string parting_words_;
};

// What a process brings to the making of a communicator.
struct Share {
  int num_ranks = 1;            // others may bring other numbers
  std::vector<Field> fields{};  // must be the same everywhere, as in agree()
  std::string name = "make_group";
  // Why this process cannot take part; the others get it as Error(kAborted).
  std::optional<base::Error> obstacle{};
};

// A communicator of all processes' rank threads over Gloo; ranks are numbered by process, then
// thread. Collective: one exchange.
std::shared_ptr<ThreadGroup> make_group(std::shared_ptr<Processes> processes, const Share& share,
                                        const Wait& wait);

// Processes::join with the store of torchrun's agent as the board.
std::shared_ptr<Processes> join_job(const JoinConfig& config, const Wait& wait);

}  // namespace gnnmg::comm
