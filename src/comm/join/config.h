// What a process must know to join its job, and where it can be read: the variables of torchrun,
// Open MPI and Slurm, or by hand.
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
  std::string host = "127.0.0.1";  // of process 0; one that is not of this machine asks for a token
  int32_t port = 0;                // of process 0
  int32_t process = 0, num_processes = 1;
  // Among those of this machine, as far as the launcher says; 0 processes: it does not.
  int32_t local_process = 0, local_processes = 0;
  std::string interface;     // whose address this process uses; empty: the way to process 0
  std::string token_file;    // the job's secret, mode 0600; empty: none
  std::string job;           // a name that all processes of the job share; empty: none
  bool agent_store = false;  // `host` and `port` are of a store that tells process 0's address
  std::string restart = "0";
  int64_t heartbeat_ms = 500;  // process 0's holds for all: they judge each other by it
  std::string version;         // of the library; empty: this one's
};

// Error(kInvalidArgument) naming the field, unless all fields are in range and fit together.
void check_join_config(const JoinConfig& config);

// The value of a variable, or null.
using Lookup = std::function<const char*(const char* name)>;
// From the variables of torchrun, else Open MPI, else Slurm; GNNMG_TOKEN_FILE and GNNMG_INTERFACE
// besides. Error(kInvalidArgument) naming variable, value and what was expected; kNotFound when
// there is no launcher's variable at all.
JoinConfig read_join_environment(const Lookup& lookup);

// Where process 0 tells its address to the others. May block until `wait` is over.
class Board {
 public:
  virtual ~Board() = default;
  virtual void publish(const std::string& key, const std::string& value) = 0;
  virtual std::optional<std::string> look(const std::string& key) = 0;
};
using OpenBoard =
    std::function<std::unique_ptr<Board>(const std::string& host, int32_t port, const Wait& wait)>;

}  // namespace gnnmg::comm
