// The control connections of a job and the thread that serves them: heartbeats, lost processes, the
// ends of communicators, and exchanges at a rendezvous. Process 0 has a connection to every other
// process and forwards messages. Messages are small, and a successful collective does not wait for
// them.
#pragma once

#include <chrono>
#include <condition_variable>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "comm/group_state.h"
#include "comm/join/causes.h"
#include "comm/join/join.h"
#include "comm/processes.h"

namespace gnnmg::comm {

// Name of the last exchange of a job: a process that closes its connection afterwards is not lost.
inline constexpr std::string_view kFinish = "shutdown";

// Interval at which a wait checks its deadline and its cancel token.
inline constexpr std::chrono::milliseconds kControlSlice{10};

class Control : public std::enable_shared_from_this<Control> {
 public:
  explicit Control(Joined joined);
  ~Control();

  // Body of the control thread; returns after stop().
  void run();
  // Makes run() write pending messages, as far as peers read them within moments, and return.
  void stop() noexcept;

  int process() const { return process_; }
  int num_processes() const { return static_cast<int>(hosts_.size()); }
  const std::string& host(int process) const { return hosts_[process]; }
  const std::string& address() const { return address_; }
  // A secret of this job's processes; empty for a single process.
  const std::string& key() const { return key_; }
  std::string process_text(int process) const;  // "process 1 on host b"

  // Returns the bytes of all processes by process; `number` gets the number of this exchange in the
  // job.
  std::vector<std::string> gather(const std::string& name, const std::string& bytes,
                                  const Wait& wait, Ending ending = Ending::kForArrived,
                                  uint64_t* number = nullptr);
  // Ends the job with Error(kAborted) in every process.
  void abort(const std::string& why) noexcept;
  bool spent() const noexcept;
  std::optional<base::Error> failure() const;  // nothing after an orderly end
  void set_excuse(std::function<bool()> excuse);
  // Called once all have agreed to end: a closed connection is no loss from now on. The others
  // depend on process 0 for this message, so it returns once all others have the message or are
  // gone, or `wait` is over.
  void finish(const Wait& wait);
  // Returns once all messages of this process are written, or after a moment, so that the program
  // may end at once.
  void drain() noexcept;

  // Registers a communicator of the job: `first_ranks` by process and the total; `state` was made
  // with link(). Calls `end` if it ends in another process. Keeps both until the communicator has
  // ended or has no ranks any more.
  std::shared_ptr<Link> link(uint64_t group, std::vector<int> first_ranks);
  void add_group(uint64_t group, std::vector<int> first_ranks, std::shared_ptr<GroupState> state,
                 const std::function<void(const Cause&)>& end);
  // After run() has returned: ends and drops all communicators.
  void clear() noexcept;

  // Short values of each process for all processes, for a group's rendezvous. get() returns nothing
  // once over() is true.
  void put(uint64_t group, const std::string& key, const std::string& value);
  std::optional<std::string> get(uint64_t group, const std::string& key,
                                 const std::function<bool()>& over);
  bool has(uint64_t group, const std::string& key) const;

 private:
  friend class GroupLink;
  using Clock = base::SteadyClock;
  using Status = base::Status;
  using Outbox = std::deque<std::pair<int, std::string>>;  // receiver and frame

  struct Group {
    std::vector<int> first_ranks;
    std::shared_ptr<GroupState> state;
    std::function<void(const Cause&)> end;
    int process_of(int rank) const;
  };
  // A message of another process about a communicator.
  struct GroupMessage {
    int from = -1;
    FrameKind kind = FrameKind::kLeft;
    uint64_t group = 0;
    uint32_t rank = 0;  // kCame and kLeft only
    uint64_t operation = 0;
    Call call{};    // kCame only
    Cause cause{};  // kEnded only
    size_t bytes = 0;
  };
  // Values that ranks put on the board, by group and key, and an estimate of their memory.
  class BoardValues {
   public:
    void keep(uint64_t group, const std::string& key, const std::string& value);
    const std::string* find(uint64_t group, const std::string& key) const;
    void drop(uint64_t group) noexcept;
    size_t bytes() const { return bytes_; }

   private:
    static constexpr size_t kOverhead = 128;  // bytes per entry
    std::map<uint64_t, std::map<std::string, std::string>> groups_;
    size_t bytes_ = 0;
  };
  // The reason why a process gave up an exchange.
  struct CallOff {
    Status status = Status::kAborted;  // kTimeout; another one for a cancel
    std::string text{};
    int process = -1;  // the process that gave up
    int blamed = -1;   // the process that was waited for, or was canceled
    Ending ending = Ending::kForArrived;
    std::vector<int64_t> came{};  // the processes that had come: the exchange ends for them
    bool leader_silent = false;   // process 0 was silent; the text says so
  };
  // An exchange of bytes among all processes. Process 0 has all parts; the others have the messages
  // of process 0.
  struct Gather {
    std::string name;
    std::vector<bool> came;
    std::vector<std::string> withdrawn;     // one per process: reason for giving up, or empty
    std::vector<std::string> names, parts;  // process 0 only: names and bytes that have arrived
    std::vector<std::string> result;
    std::string mismatch;
    std::optional<CallOff> called_off;  // if it applies to this process
    bool done = false;
  };
  // The time left for an exchange.
  struct Patience {
    base::Deadline deadline;
    Clock::time_point start = deadline.since();
    bool settled = false;  // messages sent before the deadline have been read
  };
  struct Failure {
    base::Status status;
    std::string text;
    int rank = -1;
    uint64_t gather = 0;  // exchange of the failure, or 0
    std::vector<int> missing;
    bool told = false;
  };

  // Called on the control thread:
  void receive(int from);
  void handle(int from, const Frame& frame);
  void handle_report(int from, FrameKind kind, FrameReader& reader);  // called on process 0
  void handle_verdict(FrameKind kind, FrameReader& reader);  // called on the other processes
  void handle_beat(int from, FrameReader& reader);
  void handle_group_message(int from, const Frame& frame);
  void handle_put(int from, const Frame& frame);
  void handle_gather(int from, FrameReader& reader);
  void handle_gather_came(FrameReader& reader);
  void handle_gathered(FrameReader& reader);
  void handle_given_up(int from, FrameReader& reader);
  void handle_called_off(FrameReader& reader);
  void handle_job_end(int from, const Frame& frame);
  void lose(int process, const std::string& why);
  void distrust(int process, const std::string& why);
  void beat();
  void sweep();
  void pass(Clock::time_point& next_beat);
  bool all_written() const;
  size_t undelivered_bytes() const;
  void serve_acceptor(std::span<const PollEntry> entries);
  void flush();
  std::string beat_frame(bool excused);
  void pass_on(int from, const Frame& frame);

  // Called on any thread:
  void send(int target, std::string bytes);  // only to process `target`
  void send_all(const std::string& bytes, int except = -1);
  void wake() noexcept;
  void settle() noexcept;
  void fail_job(const Failure& failure, bool elsewhere);
  void end_groups_by(const Failure& failure);
  void end_groups(const std::function<Cause(const Group&)>& cause_of);
  std::optional<Group> find_group(uint64_t id) const;
  static GroupMessage read_group_message(int from, const Frame& frame);
  bool speaks_for(int from, const Group& group, uint32_t rank) const;
  void check_group_message(const GroupMessage& message, const Group& group) const;
  void apply_group_message(GroupMessage message);
  void bring(uint64_t number, const std::string& name, const std::string& bytes);
  void note_gather(uint64_t number, int process, const std::string& name, std::string bytes);
  void call_off(uint64_t number, CallOff why);
  void give_up(uint64_t number, CallOff why);
  void send_job_end(const Failure& failure, int except);
  void forget(uint64_t id) noexcept;

  // Called with the lock held:
  [[noreturn]] void throw_failure(uint64_t gather);
  double silence(int process) const;  // seconds since its last message
  std::string last_heard(int process) const;
  std::string silence_text() const;  // about process 0
  bool is_silent(int process) const;
  // True if its last message said that it waits for its host; a silent process has no excuse.
  bool is_excused(int process) const;
  void post_all(const std::string& bytes);  // called on process 0
  Gather* open_gather(uint64_t number);
  std::optional<CallOff> give_missing(std::unique_lock<std::mutex>& lock, const Gather& gather,
                                      const Wait& wait, Patience& patience);
  void complete_gather(uint64_t number, Gather& gather);
  void apply(uint64_t number, const CallOff& why);
  CallOff leave_called_off(uint64_t number);

  const int process_;
  const std::vector<std::string> hosts_;
  const std::string address_, key_;
  const int64_t heartbeat_ms_;
  std::vector<Connection> connections_;     // used by the control thread
  std::unique_ptr<LateAcceptor> acceptor_;  // used by the control thread; null once closed
  std::string scratch_;                     // used by the control thread, like the next two
  std::vector<PollEntry> entries_;
  Outbox taken_;
  int wake_fd_ = -1;

  std::mutex call_mutex_;     // allows one collective call; taken before mutex_
  mutable std::mutex mutex_;  // guards all below; taken after a GroupState's lock, never before one
  std::condition_variable changed_;
  Outbox outbox_;
  std::vector<Clock::time_point> heard_;  // last message, by process
  std::vector<char> excused_;             // one per process
  std::vector<char> lost_;                // one per process
  std::vector<char> parted_;  // process 0 only, one per process: knows of the end or is gone
  std::map<uint64_t, Group> groups_;
  std::map<uint64_t, std::vector<GroupMessage>> early_;  // groups that are not made here yet
  size_t num_early_ = 0, early_bytes_ = 0;
  uint64_t newest_group_ = 0;
  BoardValues board_values_;
  std::map<uint64_t, Gather> gathers_;
  uint64_t last_gather_ = 0;
  std::optional<Failure> failure_;
  bool groups_told_ = false;  // groups know of failure_; sweep() repeats it after a lack of memory
  std::function<bool()> excuse_;
  uint64_t passes_ = 0;
  bool stopping_ = false, finished_ = false;
  bool written_ = true;  // all taken frames are written
};

}  // namespace gnnmg::comm
