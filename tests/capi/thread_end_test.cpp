// The fate of a program's thread inside a call: it is not canceled; it may end in a callback, a
// deleter or a release; these may throw; and a thread that has left a callback by longjmp() gets an
// error. None of this ends the program or blocks other threads.
#include <pthread.h>

#include <atomic>
#include <csetjmp>
#include <functional>
#include <stdexcept>

#include "capi/support.h"

namespace gnnmg::test {
namespace {

// A thread with a known way of ending.
class Thread {
 public:
  explicit Thread(std::function<void()> body) : body_(std::move(body)) {
    const auto run = [](void* self) -> void* {
      static_cast<Thread*>(self)->body_();
      return nullptr;
    };
    EXPECT_EQ(pthread_create(&thread_, nullptr, run, this), 0);
  }
  void cancel() { EXPECT_EQ(pthread_cancel(thread_), 0); }
  // The thread's exit value: null if its function has returned.
  void* end() {
    void* value = nullptr;
    EXPECT_EQ(pthread_join(thread_, &value), 0);
    return value;
  }

 private:
  const std::function<void()> body_;
  pthread_t thread_{};
};

int exit_value;
void* const kExit = &exit_value;  // value for pthread_exit()

// Result of a call in which its thread ends.
void never_back(gnnmg_status status) {
  ADD_FAILURE() << "the call has returned " << gnnmg_status_name(status);
}

std::string warnings_of(const gnnmg_context* context) {
  std::string all;
  char text[512];
  size_t needed = 0;
  auto facts = info<gnnmg_log_info>();
  while (gnnmg_log_next(const_cast<gnnmg_context*>(context), &facts, text, sizeof text, &needed) ==
         GNNMG_OK)
    if (facts.level == GNNMG_LOG_WARNING) all += text + std::string("\n");
  return all;
}

struct Training : World {
  explicit Training(int64_t epochs, int32_t ranks = 2) {
    training.num_epochs = epochs;
    training.num_ranks = ranks;
    sampler = make_sampler();
    model = make_model();
    trainer = make_trainer(model, sampler);
  }
  Sampler sampler;
  Model model;
  Trainer trainer;
};

int32_t count_epochs(const gnnmg_epoch_info*, void* count) {
  ++*static_cast<std::atomic<int>*>(count);
  return 0;
}
void count_release(void* count) { ++*static_cast<std::atomic<int>*>(count); }

TEST(ThreadEnd, ACallIsNotCancelled) {
  for (const int type : {PTHREAD_CANCEL_DEFERRED, PTHREAD_CANCEL_ASYNCHRONOUS}) {
    Training world(1'000'000);
    std::atomic<int> epochs{0};
    gnnmg_status status = GNNMG_ERR_INTERNAL;
    bool went_on = false;
    Thread runner([&] {
      pthread_setcanceltype(type, nullptr);
      status = gnnmg_trainer_run(world.trainer, count_epochs, &epochs, nullptr);
      pthread_testcancel();
      went_on = true;
    });
    ASSERT_TRUE(eventually([&] { return epochs > 0; }));
    runner.cancel();
    const int before = epochs;
    EXPECT_TRUE(eventually([&] { return epochs > before + 5; }));  // the trainer continues
    gnnmg_trainer_cancel(world.trainer);
    void* const value = runner.end();
    EXPECT_FALSE(went_on);
    if (type == PTHREAD_CANCEL_DEFERRED) {  // otherwise the call never returns
      EXPECT_EQ(status, GNNMG_ERR_CANCELLED);
      EXPECT_EQ(value, PTHREAD_CANCELED);
    }
    EXPECT_OK(gnnmg_trainer_step(world.trainer, nullptr, -1));
  }
}

// Any wait of a thread: each of these calls takes a while.
TEST(ThreadEnd, NoFunctionIsCancelled) {
  World world(3000);
  const Model model = world.make_model();
  for (int i = 0; i < 20; ++i) {
    std::atomic<bool> begun{false};
    std::atomic<int> done{0};
    Thread user([&] {
      begun = true;
      while (true) {
        auto metrics = info<gnnmg_metrics>();
        EXPECT_OK(
            gnnmg_model_evaluate(model, world.dataset, GNNMG_PART_TEST, 0, &metrics, nullptr, -1));
        Tensor rows;
        EXPECT_OK(gnnmg_model_embed(model, world.dataset, 0, nullptr, rows.out(), -1));
        ++done;
        const Context context = [] {
          gnnmg_context* made = nullptr;
          EXPECT_OK(gnnmg_context_create(GNNMG_VERSION, nullptr, &made));
          return Context(made);
        }();
        pthread_testcancel();
      }
    });
    ASSERT_TRUE(eventually([&] { return begun.load(); }));
    std::this_thread::sleep_for(std::chrono::milliseconds(i));
    user.cancel();
    EXPECT_EQ(user.end(), PTHREAD_CANCELED);
    EXPECT_GE(done, 1);
  }
  Tensor rows;
  EXPECT_OK(
      gnnmg_model_embed(model, world.dataset, 0, nullptr, rows.out(), -1));  // no call holds it
}

TEST(ThreadEnd, TheStateOfCancellationIsGivenBack) {
  for (const int state : {PTHREAD_CANCEL_ENABLE, PTHREAD_CANCEL_DISABLE}) {
    pthread_setcancelstate(state, nullptr);
    const World world(100);
    Graph none;
    EXPECT_NE(gnnmg_dataset_get_graph(nullptr, 0, none.out()), GNNMG_OK);
    int found = -1;
    pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, &found);
    EXPECT_EQ(found, state);
  }
}

int32_t end_thread(const gnnmg_epoch_info*, void*) { pthread_exit(kExit); }

TEST(ThreadEnd, InAnEpochCallback) {
  for (const int32_t ranks : {1, 3}) {
    Training world(5, ranks);
    std::atomic<int> released{0};
    Thread runner([&] {
      never_back(gnnmg_trainer_run(world.trainer, end_thread, &released, count_release));
    });
    EXPECT_EQ(runner.end(), kExit);
    EXPECT_FAILS(gnnmg_trainer_wait(world.trainer, -1), GNNMG_ERR_CALLBACK, "ended inside of it");
    EXPECT_EQ(released, 1);
    EXPECT_OK(gnnmg_trainer_run(world.trainer, nullptr, nullptr, nullptr));
    Tensor parameters;
    EXPECT_OK(gnnmg_model_export_parameters(world.model, parameters.out()));  // no call holds it
  }
}

// The thread waits for something else of the same context when the callback reaches it.
TEST(ThreadEnd, WhereAnotherCallLendsItsThread) {
  Training world(5);
  ASSERT_OK(gnnmg_trainer_start(world.trainer, end_thread, nullptr, nullptr));
  Thread lender([&] { never_back(gnnmg_context_lend(world.context, -1)); });
  EXPECT_EQ(lender.end(), kExit);
  EXPECT_FAILS(gnnmg_trainer_wait(world.trainer, -1), GNNMG_ERR_CALLBACK, "ended inside of it");
}

int32_t end_at_layer(const gnnmg_layer_info*, const int64_t*, int64_t, gnnmg_sink*, void* armed) {
  if (static_cast<std::atomic<int>*>(armed)->fetch_sub(1) == 1) pthread_exit(kExit);
  return 0;
}

TEST(ThreadEnd, InACustomSampler) {
  World world;
  std::atomic<int> armed{1};
  Sampler sampler;
  ASSERT_OK(gnnmg_sampler_create_custom(world.graph, &world.sampling, world.sampling.text(),
                                        end_at_layer, &armed, nullptr, sampler.out()));
  const int64_t seed = 3;
  const auto sample = [&] {
    Batch batch;
    return gnnmg_sampler_sample(sampler, nullptr, &seed, 1, nullptr, 1, 2, 3, batch.out(), -1);
  };
  Thread direct([&] { never_back(sample()); });
  EXPECT_EQ(direct.end(), kExit);
  EXPECT_OK(sample());
  for (const int32_t workers : {0, 2}) {
    world.plan.set("num_threads=" + std::to_string(workers));
    const Loader loader = world.make_loader(sampler);
    armed = 1;
    Thread user([&] {
      Batch batch;
      never_back(gnnmg_loader_next(loader, batch.out(), -1));
    });
    EXPECT_EQ(user.end(), kExit);
    // The mini-batch is lost, but the epoch has not ended; a new one can be started.
    Batch batch;
    gnnmg_status status = GNNMG_OK;
    while (status == GNNMG_OK) status = gnnmg_loader_next(loader, batch.out(), -1);
    EXPECT_EQ(status, workers == 0 ? GNNMG_ERR_CANCELLED : GNNMG_ERR_CALLBACK);
    ASSERT_OK(gnnmg_loader_start(loader, 0, 0));
    int count = 0;
    while ((status = gnnmg_loader_next(loader, batch.out(), -1)) == GNNMG_OK) ++count;
    EXPECT_EQ(status, GNNMG_END);
    auto facts = info<gnnmg_loader_info>();
    ASSERT_OK(gnnmg_loader_get_info(loader, &facts));
    EXPECT_EQ(count, facts.num_batches);
  }
}

void throw_in_release(void* count) {
  count_release(count);
  throw std::runtime_error("of the release");
}
void throw_a_number(void* count) {
  count_release(count);
  throw 42;
}

// No caller can get the exception.
TEST(ThreadEnd, ReleasesAndDeletersThrow) {
  Training world(2);
  std::atomic<int> released{0};
  EXPECT_OK(gnnmg_trainer_run(world.trainer, count_epochs, &released, throw_in_release));
  EXPECT_EQ(released, 3);
  EXPECT_EQ(warnings_of(world.context),
            "a deleter or release of the program's threw an exception: of the release\n");
  EXPECT_OK(gnnmg_trainer_run(world.trainer, nullptr, &released, throw_a_number));
  EXPECT_EQ(released, 4);
  EXPECT_EQ(warnings_of(world.context),
            "a deleter or release of the program's threw an exception: of unknown type\n");
  // Two cases: the registration fails, or the library keeps it until a free.
  EXPECT_FAILS(gnnmg_trainer_start(nullptr, nullptr, &released, throw_in_release), GNNMG_ERR_HANDLE,
               "is NULL");
  EXPECT_EQ(released, 5);
  Sampler sampler;
  ASSERT_OK(gnnmg_sampler_create_custom(world.graph, &world.sampling, world.sampling.text(),
                                        end_at_layer, &released, throw_in_release, sampler.out()));
  sampler.reset();
  EXPECT_EQ(released, 6);
  std::vector<float> data(4);
  const int64_t size = 4;
  Tensor tensor;
  ASSERT_OK(gnnmg_tensor_create(data.data(), GNNMG_DTYPE_F32, 1, &size, throw_in_release, &released,
                                tensor.out()));
  tensor.reset();
  EXPECT_EQ(released, 7);
}

void end_in_release(void* count) {
  count_release(count);
  pthread_exit(kExit);
}

// A later call does the work that the ended thread could not do.
TEST(ThreadEnd, InAReleaseOrDeleter) {
  std::atomic<int> released{0};
  {
    Training world(1);
    Thread runner(
        [&] { never_back(gnnmg_trainer_run(world.trainer, nullptr, &released, end_in_release)); });
    EXPECT_EQ(runner.end(), kExit);
    EXPECT_EQ(released, 1);
    EXPECT_OK(gnnmg_trainer_run(world.trainer, nullptr, nullptr, nullptr));
    Thread failing(
        [&] { never_back(gnnmg_trainer_start(nullptr, nullptr, &released, end_in_release)); });
    EXPECT_EQ(failing.end(), kExit);
    EXPECT_EQ(released, 2);
  }
  std::vector<float> data(6);
  const int64_t shape[] = {3, 2};
  Context context;
  ASSERT_OK(gnnmg_context_create(GNNMG_VERSION, nullptr, context.out()));
  Thread owner([&] {
    const int64_t ends[] = {0, 1, 2};
    gnnmg_graph* graph = nullptr;
    EXPECT_OK(gnnmg_graph_create_from_coo(context, 3, ends, ends, GNNMG_DTYPE_I64, 3, &graph));
    for (const char* name : {"a", "b", "c"}) {
      gnnmg_tensor* tensor = nullptr;
      EXPECT_OK(gnnmg_tensor_create(data.data(), GNNMG_DTYPE_F32, 2, shape, end_in_release,
                                    &released, &tensor));
      EXPECT_OK(gnnmg_graph_import_node_tensor(graph, 0, name, tensor));
    }
    gnnmg_graph_free(graph);
  });
  EXPECT_EQ(owner.end(), kExit);
  EXPECT_EQ(released, 3);
  // The next two, on threads of their own that end too.
  for (int more = 1; more <= 2; ++more) {
    Thread next([&] {
      auto facts = info<gnnmg_context_info>();
      never_back(gnnmg_context_get_info(context, &facts));
    });
    EXPECT_EQ(next.end(), kExit);
    EXPECT_EQ(released, 3 + more);
  }
}

std::jmp_buf out_of_callback;
int32_t jump(const gnnmg_epoch_info*, void*) { std::longjmp(out_of_callback, 1); }

// Undefined for a host, but the callback must not count as running for ever.
TEST(ThreadEnd, LongjmpIsNamed) {
  Training world(3), other(1);
  Thread jumper([&] {
    if (setjmp(out_of_callback) == 0)
      never_back(gnnmg_trainer_run(world.trainer, jump, nullptr, nullptr));
    for (int time = 0; time < 2; ++time)
      EXPECT_FAILS(gnnmg_trainer_run(other.trainer, nullptr, nullptr, nullptr), GNNMG_ERR_CALLBACK,
                   "was left by longjmp()");
    auto metrics = info<gnnmg_metrics>();
    EXPECT_FAILS(
        gnnmg_model_evaluate(other.model, other.dataset, GNNMG_PART_TEST, 0, &metrics, nullptr, -1),
        GNNMG_ERR_CALLBACK, "was left by longjmp()");
    auto facts = info<gnnmg_context_info>();
    EXPECT_OK(gnnmg_context_get_info(other.context, &facts));  // needs no wait
  });
  EXPECT_EQ(jumper.end(), nullptr);
  // Other objects are not affected.
  EXPECT_OK(gnnmg_trainer_run(other.trainer, nullptr, nullptr, nullptr));
  EXPECT_FAILS(gnnmg_trainer_wait(world.trainer, -1), GNNMG_ERR_BUSY, "");
}

int32_t wait_inside(const gnnmg_epoch_info*, void* trainer) {
  EXPECT_FAILS(gnnmg_trainer_wait(static_cast<gnnmg_trainer*>(trainer), 0), GNNMG_ERR_BUSY,
               "inside a callback");
  return 0;
}

TEST(ThreadEnd, ACallbackThatReturnsIsNoneThatWasLeft) {
  Training world(2);
  EXPECT_OK(gnnmg_trainer_run(world.trainer, wait_inside, world.trainer.get(), nullptr));
  EXPECT_OK(gnnmg_trainer_run(world.trainer, nullptr, nullptr, nullptr));
}

}  // namespace
}  // namespace gnnmg::test
