// Sixteen threads call anything on shared handles: no race, no deadlock, and only results that the
// header allows.
#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <random>
#include <thread>

#include "capi/support.h"

namespace gnnmg::test {
namespace {

constexpr int kThreads = 16;

// Handles that all threads may use, replace and free. A token is read without a lock while another
// thread frees it: the library must cope.
struct Shared {
  std::atomic<gnnmg_graph*> graph{nullptr};
  std::atomic<gnnmg_dataset*> dataset{nullptr};
  std::atomic<gnnmg_sampler*> sampler{nullptr};
  std::atomic<gnnmg_loader*> loader{nullptr};
  std::atomic<gnnmg_batch*> batch{nullptr};
  std::atomic<gnnmg_model*> model{nullptr};
  std::atomic<gnnmg_optimizer*> optimizer{nullptr};
  std::atomic<gnnmg_trainer*> trainer{nullptr};
  std::atomic<gnnmg_predictor*> predictor{nullptr};
};

// Puts a fresh handle in place of an old one, which is freed.
template <typename T>
void replace(std::atomic<T*>& slot, T* fresh, void (*free)(T*)) {
  if (fresh != nullptr) free(slot.exchange(fresh));
}

class Sweep {
 public:
  explicit Sweep(uint64_t seed) : random_(seed) {}

  void run(World& world, Shared& s, int operations) {
    for (int i = 0; i < operations; ++i) one(world, s, static_cast<int>(random_() % 36));
  }
  int64_t done = 0, busy = 0, stale = 0, other = 0;

 private:
  void note(gnnmg_status status) {
    if (status >= 0)
      ++done;
    else if (status == GNNMG_ERR_BUSY)
      ++busy;
    else if (status == GNNMG_ERR_HANDLE)
      ++stale;
    else
      ++other;
    // Allowed results of shared handles; any other is a fault.
    static constexpr gnnmg_status kAllowed[] = {GNNMG_OK,
                                                GNNMG_END,
                                                GNNMG_PENDING,
                                                GNNMG_ERR_BUSY,
                                                GNNMG_ERR_HANDLE,
                                                GNNMG_ERR_CANCELLED,
                                                GNNMG_ERR_INVALID_ARGUMENT,
                                                GNNMG_ERR_NOT_FOUND};
    EXPECT_TRUE(std::find(std::begin(kAllowed), std::end(kAllowed), status) != std::end(kAllowed))
        << gnnmg_status_name(status) << ": " << gnnmg_last_error();
  }

  void one(World& world, Shared& s, int operation) {
    const int64_t seed = static_cast<int64_t>(random_() % 200);
    switch (operation) {
      case 0: {
        gnnmg_sampler* fresh = nullptr;
        note(gnnmg_sampler_create(s.graph, nullptr, nullptr, &fresh));
        return replace(s.sampler, fresh, gnnmg_sampler_free);
      }
      case 1: {
        gnnmg_loader* fresh = nullptr;
        auto plan = world.plan;
        plan.set("num_threads=" + std::to_string(static_cast<int32_t>(random_() % 3)));
        note(gnnmg_loader_create(s.dataset, s.sampler, &plan, plan.text(), &fresh));
        return replace(s.loader, fresh, gnnmg_loader_free);
      }
      case 2: {
        gnnmg_model* fresh = nullptr;
        note(gnnmg_model_create(world.context, s.dataset, &world.layers, world.layers.text(),
                                &fresh));
        return replace(s.model, fresh, gnnmg_model_free);
      }
      case 3: {
        gnnmg_optimizer* fresh = nullptr;
        note(gnnmg_optimizer_create(s.model, nullptr, &fresh));
        return replace(s.optimizer, fresh, gnnmg_optimizer_free);
      }
      case 4: {
        gnnmg_trainer* fresh = nullptr;
        note(gnnmg_trainer_create(s.model, s.dataset, s.sampler, nullptr, &world.training,
                                  world.training.text(), &fresh));
        return replace(s.trainer, fresh, gnnmg_trainer_free);
      }
      case 5: {
        gnnmg_dataset* fresh = nullptr;
        note(gnnmg_dataset_create(s.graph, "x", "y", 0, 0, &fresh));
        if (fresh != nullptr) note(gnnmg_dataset_add_random_split(fresh, "random", nullptr));
        return replace(s.dataset, fresh, gnnmg_dataset_free);
      }
      case 6: {
        gnnmg_graph* fresh = nullptr;
        note(gnnmg_dataset_get_graph(s.dataset, 0, &fresh));
        return replace(s.graph, fresh, gnnmg_graph_free);
      }
      case 7:
      case 8: {
        gnnmg_batch* fresh = nullptr;
        note(gnnmg_sampler_sample(s.sampler, s.dataset, &seed, 1, nullptr, 1, 2, 3, &fresh, -1));
        return replace(s.batch, fresh, gnnmg_batch_free);
      }
      case 9:
      case 10:
      case 11: {
        gnnmg_batch* fresh = nullptr;
        note(gnnmg_loader_next(s.loader, &fresh, static_cast<int64_t>(random_() % 3)));
        return replace(s.batch, fresh, gnnmg_batch_free);
      }
      case 12:
        return note(gnnmg_loader_start(s.loader, 0, 0));
      case 13:
        return gnnmg_loader_cancel(s.loader);
      case 14:
        return note(gnnmg_model_forward(s.model, s.batch, nullptr));
      case 15: {
        Tensor logits;
        return note(gnnmg_model_infer(s.model, s.batch, logits.out()));
      }
      case 16:
        return note(gnnmg_model_backward(s.model, GNNMG_LOSS_AUTO, nullptr));
      case 17:
        return note(gnnmg_optimizer_step(s.optimizer));
      case 18: {
        auto metrics = info<gnnmg_metrics>();
        return note(gnnmg_model_evaluate(s.model, s.dataset, GNNMG_PART_TEST, 0, &metrics, nullptr,
                                         static_cast<int64_t>(random_() % 2)));
      }
      case 19: {
        Tensor tensor;
        return note(gnnmg_model_export_parameters(s.model, tensor.out()));
      }
      case 20:
        return note(gnnmg_trainer_start(s.trainer, nullptr, nullptr, nullptr));
      case 21:
      case 22:
        return note(gnnmg_trainer_wait(s.trainer, static_cast<int64_t>(random_() % 3)));
      case 23:
        return gnnmg_trainer_stop(s.trainer);
      case 24:
        return gnnmg_trainer_cancel(s.trainer);
      case 25: {
        auto progress = info<gnnmg_progress_info>();
        return note(gnnmg_trainer_progress(s.trainer, &progress));
      }
      case 26:
        return note(gnnmg_trainer_step(s.trainer, nullptr, static_cast<int64_t>(random_() % 3)));
      case 27: {
        Tensor a, b;
        note(gnnmg_batch_export_features(s.batch, 0, a.out()));
        return note(gnnmg_batch_export_node_ids(s.batch, 0, b.out()));
      }
      case 28: {
        auto facts = info<gnnmg_batch_info>();
        return note(gnnmg_batch_get_info(s.batch, &facts));
      }
      case 29: {
        Tensor a;
        return note(gnnmg_graph_export_node_tensor(s.graph, 0, "x", a.out()));
      }
      case 30:
        return note(gnnmg_context_lend(world.context, 0));
      case 31: {
        gnnmg_predictor* fresh = nullptr;
        note(gnnmg_predictor_create(s.model, s.dataset, "fanouts=3,3", &fresh));
        return replace(s.predictor, fresh, gnnmg_predictor_free);
      }
      case 32:
      case 33: {
        float rows[3];
        return note(gnnmg_predictor_run(s.predictor, &seed, 1, GNNMG_OUTPUT_LOGITS, rows,
                                        sizeof rows, nullptr));
      }
      case 34: {
        gnnmg_model* fresh = nullptr;
        note(gnnmg_trainer_snapshot(s.trainer, &fresh));
        return gnnmg_model_free(fresh);
      }
      default: {
        auto facts = info<gnnmg_log_info>();
        char text[256];
        size_t needed = 0;
        return note(gnnmg_log_next(world.context, &facts, text, sizeof text, &needed));
      }
    }
  }
  std::mt19937_64 random_;
};

TEST(Threads, SixteenOfThemDoAnythingAtAll) {
  World world(200);
  world.plan.batch_size = 16;
  world.training.batch_size = 16;
  world.training.num_epochs = 3;
  Shared shared;
  Graph first;
  ASSERT_OK(gnnmg_dataset_get_graph(world.dataset, 0, first.out()));
  shared.graph = first.release();
  gnnmg_dataset* dataset = nullptr;
  ASSERT_OK(gnnmg_dataset_create(shared.graph, "x", "y", 0, 0, &dataset));
  ASSERT_OK(gnnmg_dataset_add_random_split(dataset, "random", nullptr));
  shared.dataset = dataset;
  shared.sampler = world.make_sampler().release();
  shared.model = world.make_model().release();

  const char* given = std::getenv("GNNMG_SWEEP_OPERATIONS");
  const int operations = given ? std::atoi(given) : 2000;  // operations per thread
  std::vector<Sweep> sweeps;
  for (int t = 0; t < kThreads; ++t) sweeps.emplace_back(static_cast<uint64_t>(t) + 1);
  std::vector<std::thread> threads;
  for (Sweep& sweep : sweeps) threads.emplace_back([&] { sweep.run(world, shared, operations); });
  for (std::thread& thread : threads) thread.join();
  int64_t done = 0, busy = 0, stale = 0, other = 0;
  for (const Sweep& sweep : sweeps) {
    done += sweep.done;
    busy += sweep.busy;
    stale += sweep.stale;
    other += sweep.other;
  }
  std::printf("done %lld, busy %lld, stale %lld, refused %lld\n", static_cast<long long>(done),
              static_cast<long long>(busy), static_cast<long long>(stale),
              static_cast<long long>(other));
  EXPECT_GT(done, 1000);
  EXPECT_GT(busy, 0);
  gnnmg_predictor_free(shared.predictor);
  gnnmg_trainer_free(shared.trainer);
  gnnmg_optimizer_free(shared.optimizer);
  gnnmg_model_free(shared.model);
  gnnmg_batch_free(shared.batch);
  gnnmg_loader_free(shared.loader);
  gnnmg_sampler_free(shared.sampler);
  gnnmg_dataset_free(shared.dataset);
  gnnmg_graph_free(shared.graph);
}

}  // namespace
}  // namespace gnnmg::test
