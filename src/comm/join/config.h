// Settings for joining a job, by hand or from the variables of torchrun, Open MPI and Slurm.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "comm/collectives.h"

namespace gnnmg::comm {

inline constexpr int64_t kHeartbeatLeast = 10, kHeartbeatMost = 600'000;  // ms

struct JoinConfig {
  std::string host = "127.0.0.1";  // process 0's host; another machine's address requires a token
  int32_t port = 0;                // process 0's port
  int32_t process = 0, num_processes = 1;
  // Position among the processes of this machine, if the launcher says so; 0 processes: unknown.
  int32_t local_process = 0, local_processes = 0;
  std::string interface;     // names the interface of this process's address; empty: the one that
                             // reaches process 0
  std::string token_file;    // holds the job's secret, mode 0600; empty: none
  std::string job;           // same name in all processes of the job; empty: none
  bool agent_store = false;  // `host` and `port` are those of a store with process 0's address
  std::string restart = "0";
  int64_t heartbeat_ms = 500;  // process 0's value applies to all processes
  std::string version;         // library version; empty: this build's
};

// Error(kInvalidArgument) naming the field if a field is out of range or contradicts another one.
void check_join_config(const JoinConfig& config);

// Returns the value of a variable, or null.
using Lookup = std::function<const char*(const char* name)>;
// Reads the variables of torchrun, else Open MPI, else Slurm, and also GNNMG_TOKEN_FILE and
// GNNMG_INTERFACE. Error(kInvalidArgument) naming variable, value and expected value; kNotFound if
// no launcher has set a variable.
JoinConfig read_join_environment(const Lookup& lookup);

// A store in which process 0 publishes its address. May block until `wait` is over.
class Board {
 public:
  virtual ~Board() = default;
  virtual void publish(const std::string& key, const std::string& value) = 0;
  virtual std::optional<std::string> look(const std::string& key) = 0;
};
using OpenBoard =
    std::function<std::unique_ptr<Board>(const std::string& host, int32_t port, const Wait& wait)>;

}  // namespace gnnmg::comm
