// The variables of launchers. Each is checked where it is read, so that the error can name it.
#include <charconv>
#include <string_view>

#include "comm/join/config.h"

namespace gnnmg::comm {
namespace {

using base::Status;

constexpr int64_t kMostProcesses = 1024;
// Ports derived from a job's name are below the range that systems assign themselves.
constexpr int32_t kFirstDerivedPort = 20000;
constexpr int32_t kDerivedPorts = 10000;

class Environment {
 public:
  explicit Environment(const Lookup& lookup) : lookup_(lookup) {}

  // An empty variable counts as unset.
  std::optional<std::string> find(const char* name) const {
    const char* value = lookup_(name);
    if (!value || !*value) return std::nullopt;
    return value;
  }
  bool has(const char* name) const { return find(name).has_value(); }

  std::optional<int64_t> number(const char* name, int64_t low, int64_t high) const {
    const auto value = find(name);
    if (!value) return std::nullopt;
    int64_t result = 0;
    const char* end = value->data() + value->size();
    const auto parsed = std::from_chars(value->data(), end, result);
    if (parsed.ec != std::errc() || parsed.ptr != end || result < low || result > high)
      refuse(name, base::text("expected a whole number from ", low, " to ", high));
    return result;
  }
  int64_t need(const char* name, int64_t low, int64_t high, const char* because) const {
    const auto value = number(name, low, high);
    if (!value)
      base::fail(Status::kInvalidArgument, name, " is not set, but ", because, " = \"",
                 find(because).value_or(""), "\" is: expected a whole number from ", low, " to ",
                 high);
    return *value;
  }

  [[noreturn]] void refuse(const char* name, const std::string& expected) const {
    base::fail(Status::kInvalidArgument, name, " = \"", find(name).value_or(""), "\": ", expected);
  }

 private:
  const Lookup& lookup_;
};

// Names of the variables for rank and size, in the job and on this machine.
struct Names {
  const char *rank, *size, *local_rank, *local_size;
};

void read_ranks(const Environment& env, const Names& names, JoinConfig& config) {
  const int64_t size = env.need(names.size, 1, kMostProcesses, names.rank);
  const int64_t rank = env.need(names.rank, 0, kMostProcesses - 1, names.size);
  if (rank >= size)
    env.refuse(names.rank, base::text("expected less than ", names.size, " = ", size));
  config.process = static_cast<int32_t>(rank);
  config.num_processes = static_cast<int32_t>(size);
  std::optional<int64_t> local_size;
  if (names.local_size) local_size = env.number(names.local_size, 1, kMostProcesses);
  const auto local_rank = env.number(names.local_rank, 0, kMostProcesses - 1);
  if (local_size && *local_size > size)
    env.refuse(names.local_size, base::text("expected at most ", names.size, " = ", size));
  const int64_t bound = local_size.value_or(size);
  if (local_rank && *local_rank >= bound)
    env.refuse(names.local_rank,
               base::text("expected less than ", local_size ? names.local_size : names.size, " = ",
                          bound));
  config.local_process = static_cast<int32_t>(local_rank.value_or(0));
  config.local_processes = static_cast<int32_t>(local_size.value_or(0));
}

// Reads MASTER_ADDR and MASTER_PORT if they are set; the launcher need not have set them.
void read_master(const Environment& env, JoinConfig& config) {
  if (const auto host = env.find("MASTER_ADDR")) config.host = *host;
  if (const auto port = env.number("MASTER_PORT", 1, 65535))
    config.port = static_cast<int32_t>(*port);
}

int32_t derived_port(uint64_t number) {
  return kFirstDerivedPort + static_cast<int32_t>(number % kDerivedPorts);
}

uint64_t fnv1a(std::string_view text) {
  uint64_t hash = 14695981039346656037u;
  for (const char c : text) hash = (hash ^ static_cast<uint8_t>(c)) * 1099511628211u;
  return hash;
}

void read_torchrun(const Environment& env, JoinConfig& config) {
  read_ranks(env, {"RANK", "WORLD_SIZE", "LOCAL_RANK", "LOCAL_WORLD_SIZE"}, config);
  for (const char* name : {"MASTER_ADDR", "MASTER_PORT"})
    if (!env.has(name) && config.num_processes > 1)
      base::fail(Status::kInvalidArgument, name, " is not set, but RANK = \"", config.process,
                 "\" of WORLD_SIZE = \"", config.num_processes, "\" is: expected the ",
                 *(name + 7) == 'A' ? "host" : "port", " of process 0");
  config.job = env.find("TORCHELASTIC_RUN_ID").value_or("");
  if (const auto restart = env.number("TORCHELASTIC_RESTART_COUNT", 0, 1'000'000'000))
    config.restart = std::to_string(*restart);
  if (const auto store = env.find("TORCHELASTIC_USE_AGENT_STORE")) {
    if (*store != "True" && *store != "False")
      env.refuse("TORCHELASTIC_USE_AGENT_STORE", "expected True or False");
    config.agent_store = *store == "True";
    if (config.agent_store && config.job.empty())
      base::fail(Status::kInvalidArgument,
                 "TORCHELASTIC_RUN_ID is not set, but TORCHELASTIC_USE_AGENT_STORE = \"True\" is: "
                 "expected the name of the job");
  }
}

void read_open_mpi(const Environment& env, JoinConfig& config) {
  read_ranks(env,
             {"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_RANK",
              "OMPI_COMM_WORLD_LOCAL_SIZE"},
             config);
  for (const char* name : {"PMIX_NAMESPACE", "OMPI_MCA_ess_base_jobid"})
    if (const auto job = env.find(name); job && config.job.empty()) config.job = *job;
  if (config.num_processes == 1) return;
  const bool several = config.local_processes > 0 && config.local_processes < config.num_processes;
  if (!env.has("MASTER_ADDR") && several)
    base::fail(Status::kInvalidArgument, "MASTER_ADDR is not set, but OMPI_COMM_WORLD_SIZE = \"",
               config.num_processes, "\" processes are on several machines (",
               config.local_processes,
               " on this one): expected the host of process 0 (mpirun -x MASTER_ADDR=...)");
  if (env.has("MASTER_PORT")) return;
  if (config.job.empty())
    base::fail(Status::kInvalidArgument,
               "MASTER_PORT is not set, and neither is PMIX_NAMESPACE, from which it would follow: "
               "expected a free port of process 0's machine (mpirun -x MASTER_PORT=...)");
  config.port = derived_port(fnv1a(config.job));
}

// Returns the first host of a list in Slurm's form: "a,b", "n[01-03,7]", "r[1-2]n[3-4]-ib".
std::string first_host(const Environment& env, const char* name) {
  const std::string list = *env.find(name);
  std::string host;
  size_t i = 0;
  while (i < list.size() && list[i] != ',') {
    if (list[i] != '[') {
      host += list[i++];
      continue;
    }
    const size_t close = list.find(']', i);
    const size_t end = list.find_first_of("-,]", i);
    if (close == std::string::npos || end == i + 1)
      env.refuse(name, "expected a list of hosts such as node[01-04],gpu7");
    host += list.substr(i + 1, end - i - 1);
    i = close + 1;
  }
  if (host.empty()) env.refuse(name, "expected a list of hosts such as node[01-04],gpu7");
  return host;
}

void read_slurm(const Environment& env, JoinConfig& config) {
  const char* size = env.has("SLURM_STEP_NUM_TASKS") ? "SLURM_STEP_NUM_TASKS" : "SLURM_NTASKS";
  read_ranks(env, {"SLURM_PROCID", size, "SLURM_LOCALID", nullptr}, config);
  const auto id = env.number("SLURM_JOB_ID", 0, int64_t{1} << 40);
  const auto step = env.number("SLURM_STEP_ID", 0, int64_t{1} << 40);
  if (id) config.job = base::text(*id, ".", step.value_or(0));
  if (config.num_processes == 1) return;
  const auto nodes = env.number(
      env.has("SLURM_STEP_NUM_NODES") ? "SLURM_STEP_NUM_NODES" : "SLURM_NNODES", 1, 1'000'000);
  if (!env.has("MASTER_ADDR") && nodes.value_or(2) > 1) {
    const char* list =
        env.has("SLURM_STEP_NODELIST") ? "SLURM_STEP_NODELIST" : "SLURM_JOB_NODELIST";
    if (!env.has(list))
      base::fail(Status::kInvalidArgument,
                 "SLURM_STEP_NODELIST and MASTER_ADDR are not set: expected the host of process 0");
    config.host = first_host(env, list);
  }
  if (nodes == 1) config.local_processes = config.num_processes;
  if (nodes && *nodes > 1) config.local_processes = config.local_process + 1;  // a lower bound
  if (env.has("MASTER_PORT")) return;
  if (!id)
    base::fail(Status::kInvalidArgument,
               "MASTER_PORT is not set, and neither is SLURM_JOB_ID, from which it would follow: "
               "expected a free port of process 0's machine");
  config.port = derived_port(static_cast<uint64_t>(*id) * 31 + step.value_or(0));
}

}  // namespace

JoinConfig read_join_environment(const Lookup& lookup) {
  const Environment env(lookup);
  JoinConfig config;
  read_master(env, config);
  // Inner launchers first: torchrun may run in a step of Slurm, mpirun in an allocation of Slurm.
  if (env.has("RANK") || env.has("WORLD_SIZE"))
    read_torchrun(env, config);
  else if (env.has("OMPI_COMM_WORLD_RANK") || env.has("OMPI_COMM_WORLD_SIZE"))
    read_open_mpi(env, config);
  else if (env.has("SLURM_PROCID"))
    read_slurm(env, config);
  else
    base::fail(Status::kNotFound,
               "no launcher has set its variables: expected RANK and WORLD_SIZE (torchrun, or by "
               "hand), OMPI_COMM_WORLD_RANK (mpirun) or SLURM_PROCID (srun)");
  config.token_file = env.find("GNNMG_TOKEN_FILE").value_or("");
  config.interface = env.find("GNNMG_INTERFACE").value_or("");
  check_join_config(config);
  return config;
}

void check_join_config(const JoinConfig& config) {
  const auto between = [](const char* name, int64_t value, int64_t low, int64_t high) {
    if (value < low || value > high)
      base::fail(Status::kInvalidArgument, name, ": expected ", low, " to ", high, ", found ",
                 value);
  };
  between("num_processes", config.num_processes, 1, kMostProcesses);
  between("process_rank", config.process, 0, config.num_processes - 1);
  between("heartbeat_ms", config.heartbeat_ms, kHeartbeatLeast, kHeartbeatMost);
  if (config.num_processes > 1) {
    between("port", config.port, 1, 65535);
    if (config.host.empty() || config.host.size() > 255 ||
        config.host.find('\0') != std::string::npos)
      base::fail(Status::kInvalidArgument,
                 "host: expected the name or address of process 0, found ",
                 config.host.empty() ? "an empty text" : "a text that is no host name");
  }
}

}  // namespace gnnmg::comm
