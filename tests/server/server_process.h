// gnnmg-server as a process of its own, and graphs that it serves.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/log.h"
#include "dist/engine.h"
#include "dist/parts.h"
#include "dist/peers.h"
#include "graph/graph.h"
#include "support/temp_dir.h"

namespace gnnmg::test {

const dist::Engine& engine();

class ServerProcess {
 public:
  // Returns once it listens, or has ended. Port 0: a free one.
  ServerProcess(const std::string& folder, std::vector<std::string> options, int port = 0);
  ~ServerProcess();  // killed where it still runs
  ServerProcess(const ServerProcess&) = delete;
  ServerProcess& operator=(const ServerProcess&) = delete;

  int port() const { return port_; }
  pid_t pid() const { return pid_; }
  std::string address() const { return "127.0.0.1:" + std::to_string(port_); }
  void signal(int number) const;
  void stop() const;  // sends SIGSTOP; no answers after the return
  // Waits for its end: its exit status, or minus the signal's number. Ten seconds at most.
  int join();
  std::string output();  // until it ends, or of its first line
  std::string errors() const;

 private:
  void read_first_line();
  TempDir dir_;
  pid_t pid_ = -1;
  int port_ = 0;
  int out_ = -1;
  std::string output_;
};

// A graph with one column "x", saved as parts.
struct ServedGraph {
  explicit ServedGraph(int32_t num_parts, int64_t num_nodes = 2000);
  std::string folder() const { return dir.file("parts"); }
  // The graph for a process without parts: all are requested.
  std::shared_ptr<const dist::Parts> over(const std::shared_ptr<dist::Peers>& peers,
                                          const dist::PartsConfig& config = {}) const;

  TempDir dir;
  graph::GraphRef graph;
  std::vector<uint16_t> part_of;
  int32_t num_parts;
};

// Mini-batch `batch` of a sampler and a store over `parts`, and the same of the whole graph: fails
// the running test where they differ.
void expect_same_batch(const ServedGraph& served, const std::shared_ptr<const dist::Parts>& parts,
                       uint64_t batch);

// Meets the servers within 5 s.
std::shared_ptr<dist::Peers> meet(const std::string& addresses,
                                  const dist::PeersConfig& config = {});

}  // namespace gnnmg::test
