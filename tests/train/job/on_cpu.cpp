#include "train/job/on_devices.h"

#ifdef GNNMG_GRPC_PLUGIN
#include "comm/ranks.h"
#include "server/start_grpc.h"
#include "server/worker.h"
#endif

namespace gnnmg::test {

#ifdef GNNMG_GRPC_PLUGIN
// With parts=<folder>, a process works on its share of a graph, which is in <folder>.<process>.
void open_devices(const Options& options) {
  if (options.given("parts")) start_grpc(GNNMG_GRPC_PLUGIN);
}
void place(const Options& options, Recipe& setup, Host& host) {
  if (!options.given("parts")) return;
  server::WorkerConfig config;
  config.folder = base::text(options.text("parts", ""), ".", host.processes->process());
  setup.dataset = server::open_worker_dataset(
      config, {host.processes,
               [] { return within_ms(60'000); },
               std::make_shared<base::Log>(),
               host.pool,
               {},
               []() -> const dist::Engine& { return dist::open_engine_at(GNNMG_GRPC_PLUGIN); }});
}
#else
void open_devices(const Options&) {}
void place(const Options&, Recipe&, Host&) {}
#endif
void place(int, Recipe&, Host&) {}
bool slow() { return false; }
int64_t num_on_devices() { return 0; }
int64_t num_held_up() { return 0; }
void lose_device() {}

}  // namespace gnnmg::test
