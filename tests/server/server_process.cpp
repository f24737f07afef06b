#include "server/server_process.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstring>
#include <numeric>
#include <thread>

#include "base/error.h"
#include "base/philox.h"
#include "dist/part_folder.h"
#include "dist/part_sampler.h"
#include "dist/part_store.h"
#include "dist/parts_of.h"
#include "dist/saved_parts.h"
#include "sample/reference.h"

extern char** environ;

namespace gnnmg::test {

const dist::Engine& engine() { return dist::open_engine_at(GNNMG_GRPC_PLUGIN); }

ServerProcess::ServerProcess(const std::string& folder, std::vector<std::string> options,
                             int port) {
  std::vector<std::string> words = {GNNMG_SERVER_PROGRAM, "--data", folder, "--listen",
                                    "127.0.0.1:" + std::to_string(port)};
  words.insert(words.end(), options.begin(), options.end());
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  int pipe[2];
  if (pipe2(pipe, O_CLOEXEC) != 0) throw std::runtime_error("no pipe");
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, pipe[1], STDOUT_FILENO);
  posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, dir_.file("errors").c_str(),
                                   O_CREAT | O_WRONLY, 0600);
  const int result = posix_spawn(&pid_, arguments[0], &actions, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  close(pipe[1]);
  out_ = pipe[0];
  if (result != 0) throw std::runtime_error("gnnmg-server cannot be started");
  read_first_line();
}

void ServerProcess::read_first_line() {
  for (char byte; read(out_, &byte, 1) == 1;) {
    output_ += byte;
    if (byte == '\n') break;
  }
  const size_t colon = output_.rfind(':');
  if (colon != output_.npos) port_ = std::atoi(output_.c_str() + colon + 1);
}

ServerProcess::~ServerProcess() {
  if (pid_ > 0) {
    signal(SIGKILL);
    waitpid(pid_, nullptr, 0);
  }
  close(out_);
}

void ServerProcess::signal(int number) const { kill(pid_, number); }

void ServerProcess::stop() const {
  signal(SIGSTOP);
  int status = 0;
  if (waitpid(pid_, &status, WUNTRACED) != pid_ || !WIFSTOPPED(status))
    throw std::runtime_error("gnnmg-server does not stop");
}

int ServerProcess::join() {
  int status = 0;
  for (int i = 0; i < 10'000; ++i) {
    if (waitpid(pid_, &status, WNOHANG) == pid_) {
      pid_ = -1;
      return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  throw std::runtime_error("gnnmg-server does not end");
}

std::string ServerProcess::output() {
  if (pid_ < 0)
    for (char byte; read(out_, &byte, 1) == 1;) output_ += byte;
  return output_;
}

std::string ServerProcess::errors() const { return slurp(dir_.file("errors")); }

ServedGraph::ServedGraph(int32_t parts, int64_t num_nodes)
    : part_of(hashed_parts(num_nodes, parts, 3)), num_parts(parts) {
  graph::GraphParts made = skewed_graph(num_nodes, 1500, 1)->parts();
  base::Tensor x = base::Tensor::empty(base::DType::kF32, {num_nodes, 25});
  base::Stream stream({3, 3}, 1);
  for (float& value : x.as<float>()) value = static_cast<float>(stream.below(1000));
  made.node_columns = {{{"x", x}}};
  graph = graph::Graph::create(std::move(made));
  save_parts(*dataset_of(graph), part_of, parts, folder());
}

std::shared_ptr<const dist::Parts> ServedGraph::over(const std::shared_ptr<dist::Peers>& peers,
                                                     const dist::PartsConfig& config) const {
  return std::make_shared<const dist::Parts>(
      partition::Book::from_parts(part_of, num_parts),
      std::vector<std::shared_ptr<const dist::Part>>(num_parts),
      std::vector<dist::ColumnFacts>{{"x", base::DType::kF32, 25, false}}, peers->channel(),
      peers->data().stamp, config);
}

void expect_same_batch(const ServedGraph& served, const std::shared_ptr<const dist::Parts>& parts,
                       uint64_t batch) {
  sample::NeighborConfig config;
  config.fanouts = {10, 5};
  config.edge_ids = true;
  std::vector<int64_t> seeds(40);
  std::iota(seeds.begin(), seeds.end(), static_cast<int64_t>(batch % 100));
  const sample::BatchKey key{7, base::Purpose::kSample, 1, batch};
  const auto sampler = dist::make_part_sampler(parts, config);
  sample::Workspace workspace;
  sample::Sample sample;
  sampler->sample(seeds, key, workspace, sample, {});
  expect_equal(sample, reference_sample(served.graph->csc(), config, seeds, key), config);
  const auto store = dist::make_part_store(parts, 0, {}, {});
  const auto whole = feature::make_store(served.graph->node_columns().at("x"));
  const std::span<const int64_t> nodes = sample.node_ids.span();
  std::vector<uint8_t> rows(nodes.size() * 100), expected(nodes.size() * 100);
  store->gather(nodes, rows.data(), nullptr);
  whole->gather(nodes, expected.data(), nullptr);
  EXPECT_EQ(std::memcmp(rows.data(), expected.data(), rows.size()), 0) << "batch " << batch;
}

std::shared_ptr<dist::Peers> meet(const std::string& addresses, const dist::PeersConfig& config) {
  static base::Log log;
  return dist::Peers::meet(engine(), addresses, config, log, base::Deadline::after_ms(5'000), {});
}

}  // namespace gnnmg::test
