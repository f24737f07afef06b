// The control connections of a job and the thread that serves them: signs of life, who is lost, the
// ends of communicators, what processes tell each other at a rendezvous. Process 0 has a connection
// to each of the others and passes on what they say; everything is small, and nobody waits for it
// in a collective that goes well.
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

// The name of the last exchange of a job: whoever closes its connection after it is not lost.
inline constexpr std::string_view kFinish = "shutdown";

// How long a wait sleeps before it looks at its deadline and its cancel token again.
inline constexpr std::chrono::milliseconds kControlSlice{10};

class Control : public std::enable_shared_from_this<Control> {
 public:
  explicit Control(Joined joined);
  ~Control();

  // The thread's body: returns after stop().
  void run();
  // Has run() write what is still to go, as far as peers take it within moments, and return.
  void stop() noexcept;

  int process() const { return process_; }
  int num_processes() const { return static_cast<int>(hosts_.size()); }
  const std::string& host(int process) const { return hosts_[process]; }
  const std::string& address() const { return address_; }
  // Known to the processes of this job alone; empty where there is one.
  const std::string& key() const { return key_; }
  std::string process_text(int process) const;  // "process 1 on host b"

  // Everyone's bytes by process, and the number of this exchange in the job.
  std::vector<std::string> gather(const std::string& name, const std::string& bytes,
                                  const Wait& wait, Ending ending = Ending::kForThoseWhoCame,
                                  uint64_t* number = nullptr);
  // Ends the job with Error(kAborted) here and everywhere.
  void abort(const std::string& why) noexcept;
  bool spent() const noexcept;
  std::optional<base::Error> failure() const;  // nothing after an orderly end
  void set_excuse(std::function<bool()> excuse);
  // After everyone has agreed to end: a closed connection is no loss from now on. Process 0,
  // without which nobody learns of it, returns when all others know or are gone, or `wait` is over.
  void finish(const Wait& wait);
  // Returns when what this process has said is written, or a moment later: so that a program that
  // ends at once has said it.
  void drain() noexcept;

  // A communicator of the job: `first_ranks` by process, and one more. `state` must have been made
  // with link(). `end` is called when it ends elsewhere. Both are kept until the communicator has
  // ended or no rank takes part in it any more.
  std::shared_ptr<Link> link(uint64_t group, std::vector<int> first_ranks);
  void add_group(uint64_t group, std::vector<int> first_ranks, std::shared_ptr<GroupState> state,
                 std::function<void(const Cause&)> end);
  // After run() has returned: ends all communicators, and lets go of them.
  void clear() noexcept;

  // A few words that each process can leave for all, for a group's rendezvous. get() returns
  // nothing once over() is true.
  void put(uint64_t group, const std::string& key, const std::string& value);
  std::optional<std::string> get(uint64_t group, const std::string& key,
                                 const std::function<bool()>& over);
  bool has(uint64_t group, const std::string& key) const;

 private:
  friend class GroupLink;
  using Clock = base::SteadyClock;
  using Status = base::Status;
  using Outbox = std::deque<std::pair<int, std::string>>;  // for whom

  struct Group {
    std::vector<int> first_ranks;
    std::shared_ptr<GroupState> state;
    std::function<void(const Cause&)> end;
    int process_of(int rank) const;
  };
  // What another process says of a communicator.
  struct Word {
    int from = -1;
    FrameKind kind = FrameKind::kLeft;
    uint64_t group = 0;
    uint32_t rank = 0;  // kCame, kLeft
    uint64_t operation = 0;
    Call call{};    // kCame
    Cause cause{};  // kEnded
    size_t bytes = 0;
  };
  // What ranks leave for each other, by group and key, and about how much memory it takes.
  class Words {
   public:
    void keep(uint64_t group, const std::string& key, const std::string& value);
    const std::string* find(uint64_t group, const std::string& key) const;
    void drop(uint64_t group) noexcept;
    size_t bytes() const { return bytes_; }

   private:
    static constexpr size_t kOverhead = 128;  // of an entry
    std::map<uint64_t, std::map<std::string, std::string>> groups_;
    size_t bytes_ = 0;
  };
  // That an exchange was given up.
  struct CallOff {
    Status status = Status::kAborted;  // kTimeout, or anything else for a cancel
    std::string text{};
    int process = -1;  // that gave it up
    int blamed = -1;   // that was waited for, or cancelled
    Ending ending = Ending::kForThoseWhoCame;
    std::vector<int64_t> came{};  // whom it concerns: those who had come
    bool in_the_dark = false;     // process 0 was silent, and the text says so
  };
  // An exchange of everyone's bytes. Process 0 has all of it, the others what they are told.
  struct Gather {
    std::string name;
    std::vector<bool> came;
    std::vector<std::string> withdrawn;     // by process: why it has come no longer
    std::vector<std::string> names, parts;  // of process 0: what has come
    std::vector<std::string> result;
    std::string mismatch;
    std::optional<CallOff> called_off;  // as far as it concerns this process
    bool done = false;
  };
  // How long an exchange is still waited for.
  struct Patience {
    base::Deadline deadline;
    Clock::time_point start = deadline.since();
    bool settled = false;  // what the others have sent by the deadline has been read
  };
  struct Failure {
    base::Status status;
    std::string text;
    int rank = -1;
    uint64_t gather = 0;  // in which it happened, or 0
    std::vector<int> missing;
    bool told = false;
  };

  // On the control thread:
  void receive(int from);
  void handle(int from, const Frame& frame);
  void handle_report(int from, FrameKind kind, FrameReader& reader);  // on process 0
  void handle_verdict(FrameKind kind, FrameReader& reader);           // on the others
  void handle_beat(int from, FrameReader& reader);
  void handle_word(int from, const Frame& frame);
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
  void serve_door(std::span<const PollEntry> entries);
  void flush();
  std::string beat_frame(bool excused);
  void pass_on(int from, const Frame& frame);

  // Any thread:
  void send(int target, std::string bytes);  // to one process
  void send_all(const std::string& bytes, int except = -1);
  void wake() noexcept;
  void settle() noexcept;
  void fail_job(Failure failure, bool elsewhere);
  void end_groups_by(const Failure& failure);
  void end_groups(const std::function<Cause(const Group&)>& cause_of);
  std::optional<Group> find_group(uint64_t id) const;
  static Word read_word(int from, const Frame& frame);
  bool speaks_for(int from, const Group& group, uint32_t rank) const;
  void check_word(const Word& word, const Group& group) const;
  void hear(Word word);
  void bring(uint64_t number, const std::string& name, const std::string& bytes);
  void note_gather(uint64_t number, int process, const std::string& name, std::string bytes);
  void call_off(uint64_t number, CallOff why);
  void give_up(uint64_t number, CallOff why);
  void send_job_end(const Failure& failure, int except);
  void forget(uint64_t id) noexcept;

  // With the lock held:
  [[noreturn]] void throw_failure(uint64_t gather);
  double silence(int process) const;  // seconds since something was heard of it
  std::string last_heard(int process) const;
  std::string silence_text() const;  // of process 0
  bool is_silent(int process) const;
  // It waits for its host, as far as is known now: what a silent process said last is no excuse.
  bool is_excused(int process) const;
  void post_all(const std::string& bytes);  // on process 0
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
  std::vector<Connection> connections_;  // the control thread's
  std::unique_ptr<LateDoor> door_;       // the control thread's; null once it is closed
  std::string scratch_;                  // the control thread's, like the two below
  std::vector<PollEntry> entries_;
  Outbox taken_;
  int wake_fd_ = -1;

  std::mutex call_mutex_;     // one collective call at a time; taken before mutex_
  mutable std::mutex mutex_;  // guards all below; taken after a GroupState's lock, and no such
                              // lock is taken under it
  std::condition_variable changed_;
  Outbox outbox_;
  std::vector<Clock::time_point> heard_;  // by process
  std::vector<char> excused_;             // by process
  std::vector<char> lost_;                // by process
  std::vector<char> parted_;  // by process, on process 0: it knows of the end, or is gone
  std::map<uint64_t, Group> groups_;
  std::map<uint64_t, std::vector<Word>> early_;  // of groups not known here yet
  size_t num_early_ = 0, early_bytes_ = 0;
  uint64_t newest_group_ = 0;
  Words words_;
  std::map<uint64_t, Gather> gathers_;
  uint64_t last_gather_ = 0;
  std::optional<Failure> failure_;
  bool groups_told_ = false;  // of the failure; by sweep(), where memory was short at first
  std::function<bool()> excuse_;
  uint64_t passes_ = 0;
  bool stopping_ = false, finished_ = false;
  bool written_ = true;  // what has been taken from the outbox is
};

}  // namespace gnnmg::comm
