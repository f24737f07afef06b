// A process that reads mini-batches over a graph in parts, for tests that kill, stop and end real
// ones: one of a job that has some of the parts itself, or a client of servers. Events go to
// standard output, a line each, with the system's monotonic clock in ms:
//   batch <k> <sum of its bytes>
//   end <process> <status> at <ms> <text>   (a failure)
//   done
//   left threads <+n> files <+n>            (against the time before joining)
// Options: host=, port=, process=, of=, token= (file), folder= or folders= (and "-<process>"),
// batches= (0: for ever), deadline= (ms, of a read), insecure=1, tls= (a folder with certificates),
// exit=<code> (in the middle of reads, by exit()), serve= (a port for its own parts); servers=
// (addresses: no job), patience= (ms, for servers that are away), until= (a file: reads end when it
// is there).
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <map>
#include <numeric>
#include <string>
#include <thread>

#include "comm/join/token.h"
#include "comm/ranks.h"
#include "dist/part_sampler.h"
#include "dist/part_store.h"
#include "dist/peers.h"
#include "io/crc32c.h"
#include "server/start_grpc.h"
#include "server/worker.h"
#include "support/leftovers.h"

namespace gnnmg::test {
namespace {

class Words {
 public:
  Words(int count, char** words) {
    for (int i = 1; i < count; ++i) {
      const std::string word = words[i];
      const size_t equals = word.find('=');
      if (equals != word.npos) given_[word.substr(0, equals)] = word.substr(equals + 1);
    }
  }
  std::string text(const char* name) const {
    const auto found = given_.find(name);
    return found == given_.end() ? "" : found->second;
  }
  int64_t number(const char* name, int64_t otherwise) const {
    return given_.contains(name) ? std::atoll(text(name).c_str()) : otherwise;
  }

 private:
  std::map<std::string, std::string> given_;
};

void say(const std::string& line) {
  std::printf("%s\n", line.c_str());
  std::fflush(stdout);
}

const dist::Engine& engine() { return dist::open_engine_at(GNNMG_GRPC_PLUGIN); }

uint32_t sum_of_batch(const std::shared_ptr<const dist::Parts>& parts, uint64_t batch) {
  sample::NeighborConfig config;
  config.fanouts = {10, 5};
  std::vector<int64_t> seeds(40);
  std::iota(seeds.begin(), seeds.end(), static_cast<int64_t>(batch % 100));
  sample::Workspace workspace;
  sample::Sample sample;
  dist::make_part_sampler(parts, config)
      ->sample(seeds, {7, base::Purpose::kSample, 1, batch}, workspace, sample, {});
  const std::span<const int64_t> nodes = sample.node_ids.span();
  const auto store = dist::make_part_store(parts, 0, {}, {});
  std::vector<uint8_t> rows(nodes.size() * static_cast<size_t>(4 * store->num_cols()));
  store->gather(nodes, rows.data(), nullptr);
  const std::span ids(reinterpret_cast<const uint8_t*>(nodes.data()), nodes.size_bytes());
  return io::crc32c(rows, io::crc32c(ids));
}

void read(const Words& words, const std::shared_ptr<const dist::Parts>& parts) {
  const int64_t batches = words.number("batches", 0), code = words.number("exit", -1);
  if (code >= 0)
    std::thread([parts] {
      try {
        for (uint64_t batch = 0;; ++batch) sum_of_batch(parts, batch);
      } catch (const base::Error&) {  // the other process has ended
      }
    }).detach();
  const std::string end = words.text("until");
  for (int64_t batch = 0; batches == 0 || batch < batches; ++batch) {
    if (!end.empty() && access(end.c_str(), F_OK) == 0) return;
    say(base::text("batch ", batch, " ", sum_of_batch(parts, static_cast<uint64_t>(batch))));
    if (code >= 0 && batch == 3) std::exit(static_cast<int>(code));
  }
}

void work(const Words& words, const std::shared_ptr<comm::Processes>& processes) {
  base::ThreadPool pool(1);
  server::WorkerConfig config;
  config.folder = words.text("folder");
  if (const std::string folders = words.text("folders"); !folders.empty())
    config.folder = base::text(folders, "-", processes->process());
  config.insecure = words.number("insecure", 0) != 0;
  config.port = static_cast<int32_t>(words.number("serve", 0));
  if (const std::string tls = words.text("tls"); !tls.empty())
    config.tls = {tls + "/server.pem", tls + "/server.key", tls + "/ca.pem"};
  config.asking.deadline_ms = words.number("deadline", 10'000);
  config.cache.share = 0;
  const auto dataset = server::open_worker_dataset(config, {processes,
                                                            [] { return within_ms(20'000); },
                                                            std::make_shared<base::Log>(),
                                                            pool,
                                                            {},
                                                            engine});
  read(words, dist::parts_here(*dataset)->parts);
}

// A client that has no part.
void work_beyond(const Words& words) {
  base::ThreadPool pool(1);
  base::Log log;
  dist::PeersConfig asking;
  if (const std::string token = words.text("token"); !token.empty())
    asking.token = comm::read_token(token);
  asking.insecure = words.number("insecure", 0) != 0;
  asking.patience_ms = words.number("patience", 0);
  const auto peers = dist::Peers::meet(engine(), words.text("servers"), asking, log,
                                       base::Deadline::after_ms(20'000), {});
  dist::PartDatasetConfig config;
  config.asking.deadline_ms = words.number("deadline", 10'000);
  config.cache.share = 0;
  config.own = [](int32_t) { return std::vector<int32_t>(); };
  config.open_channel = [&](const std::vector<int32_t>&, uint64_t) { return peers->channel(); };
  const auto dataset =
      dist::open_part_dataset(dist::source_of(peers->files(), "servers"), config, {pool, log, {}});
  read(words, dist::parts_here(*dataset)->parts);
}

// Says why `work` has failed. True: it has not.
bool succeeds(int process, const std::function<void()>& work) {
  try {
    work();
    say("done");
    return true;
  } catch (const base::Error& error) {
    const auto now = std::chrono::steady_clock::now().time_since_epoch();
    say(base::text("end ", process, " ", base::status_name(error.status()), " at ",
                   std::chrono::duration_cast<std::chrono::milliseconds>(now).count(), " ",
                   error.what()));
    return false;
  }
}

int run(const Words& words) {
  start_grpc(GNNMG_GRPC_PLUGIN);
  const Leftovers left;
  bool good = true;
  if (!words.text("servers").empty()) {
    good = succeeds(0, [&] { work_beyond(words); });
  } else {
    comm::JoinConfig join;
    if (!words.text("host").empty()) join.host = words.text("host");
    join.token_file = words.text("token");
    join.port = static_cast<int32_t>(words.number("port", 0));
    join.process = static_cast<int32_t>(words.number("process", 0));
    join.num_processes = static_cast<int32_t>(words.number("of", 1));
    join.heartbeat_ms = 100;
    const auto processes = comm::Processes::join(join, within_ms(20'000));
    good = succeeds(processes->process(), [&] {
      work(words, processes);
      processes->shutdown(within_ms(20'000));
    });
  }
  say("left " + left.count());
  return good ? 0 : 3;
}

}  // namespace
}  // namespace gnnmg::test

int main(int argc, char** argv) { return gnnmg::test::run({argc, argv}); }
