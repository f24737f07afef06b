// The processes of a job: how they find each other and agree, and what tells one of them that
// another is late or gone. Communicators among the rank threads of all processes are made from it.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "comm/collectives.h"
#include "comm/join/config.h"

namespace gnnmg::comm {

class Control;

// What processes compare: a name and a value in words.
using Field = std::pair<std::string, std::string>;

// A process's share in a job. Functions from any thread, but gather, agree, make_group and shutdown
// are collective: every process calls them in the same order, one at a time. After a process is
// lost, or has given up in one of these, the job is spent: later calls are Error(kAborted) with the
// first cause, and all its communicators have ended. Freed without shutdown() it is an abort: the
// others end with Error(kAborted).
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
                                  const Wait& wait);
  // Error(kMismatch) on every process, naming process, field and both values, unless all have the
  // same fields; the job can go on after it.
  void agree(const std::string& name, const std::vector<Field>& fields, const Wait& wait);
  // The orderly end: returns when all processes have called it.
  void shutdown(const Wait& wait);
  // Ends the job and its communicators everywhere with Error(kAborted) and this text. Idempotent.
  void abort(const std::string& why) noexcept;
  bool spent() const noexcept;
  // Asked at each heartbeat: true while this process waits for a callback of its host, which
  // excuses that its ranks are late. Replaces the one before; empty: nothing excuses.
  void set_excuse(std::function<bool()> excuse);

  const std::shared_ptr<Control>& control() const { return control_; }  // for engines

 private:
  explicit Processes(std::shared_ptr<Control> control);
  std::shared_ptr<Control> control_;
  std::thread thread_;
};

// A communicator of all processes' rank threads over Gloo: this process brings `num_ranks`, the
// others may bring other numbers; ranks are numbered by process, then thread. Collective.
std::shared_ptr<ThreadGroup> make_group(std::shared_ptr<Processes> processes, int num_ranks,
                                        const Wait& wait);

// Processes::join with the store of torchrun's agent as the board.
std::shared_ptr<Processes> join_job(const JoinConfig& config, const Wait& wait);

}  // namespace gnnmg::comm
