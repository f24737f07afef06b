// Versions, errors, the context, its options, its messages and lent threads.
#include <atomic>
#include <numeric>
#include <thread>

#include "capi/support.h"
#include "support/temp_dir.h"

namespace gnnmg::test {
namespace {

Context make_context() {
  ContextConfig config;
  config.num_threads = 1;
  Context context;
  EXPECT_OK(gnnmg_context_create(GNNMG_VERSION, &config, context.out()));
  return context;
}

TEST(Status, NamesAreThoseOfTheHeader) {
  EXPECT_STREQ(gnnmg_status_name(GNNMG_OK), "OK");
  EXPECT_STREQ(gnnmg_status_name(GNNMG_PENDING), "PENDING");
  EXPECT_STREQ(gnnmg_status_name(GNNMG_ERR_CHECKSUM), "ERR_CHECKSUM");
  EXPECT_STREQ(gnnmg_status_name(GNNMG_ERR_INTERNAL), "ERR_INTERNAL");
  for (int32_t status = -100; status < 100; ++status) EXPECT_NE(gnnmg_status_name(status), nullptr);
}

TEST(Status, LastErrorBelongsToItsThread) {
  EXPECT_EQ(gnnmg_context_create(GNNMG_VERSION, nullptr, nullptr), GNNMG_ERR_INVALID_ARGUMENT);
  const std::string mine = gnnmg_last_error();
  EXPECT_NE(mine.find("'context'"), std::string::npos);
  std::thread([&] {
    EXPECT_STREQ(gnnmg_last_error(), "");
    auto facts = info<gnnmg_error_info>();
    EXPECT_OK(gnnmg_last_error_info(&facts));
    EXPECT_EQ(facts.status, GNNMG_OK);
    EXPECT_EQ(facts.rank, -1);
  }).join();
  EXPECT_EQ(gnnmg_last_error(), mine);
  auto facts = info<gnnmg_error_info>();
  EXPECT_OK(gnnmg_last_error_info(&facts));  // a success does not change it
  EXPECT_EQ(facts.status, GNNMG_ERR_INVALID_ARGUMENT);
  EXPECT_EQ(facts.text, mine);
}

TEST(Status, TheSystemsErrorNumberIsGiven) {
  const Context context = make_context();
  Dataset dataset;
  EXPECT_EQ(gnnmg_dataset_open(context, "/no/such/place", nullptr, dataset.out(), -1),
            GNNMG_ERR_NOT_FOUND);
  EXPECT_NE(std::string(gnnmg_last_error()).find("/no/such/place"), std::string::npos);
}

TEST(ContextTest, RefusesAnotherVersionsHeader) {
  Context context;
  for (int32_t version : {0, 99, 100, 10000, GNNMG_VERSION + 100, -1})
    EXPECT_FAILS(gnnmg_context_create(version, nullptr, context.out()), GNNMG_ERR_VERSION,
                 "the header is of version");
  EXPECT_EQ(gnnmg_version(), GNNMG_VERSION);
  // A later patch version of the same minor version is compatible.
  EXPECT_OK(gnnmg_context_create(GNNMG_VERSION + 5, nullptr, context.out()));
}

TEST(ContextTest, TellsWhatItRunsOn) {
  const Context context = make_context();
  auto facts = info<gnnmg_context_info>();
  ASSERT_OK(gnnmg_context_get_info(context, &facts));
  EXPECT_EQ(facts.num_threads, 1);
  EXPECT_GE(facts.num_cores, 1);
  EXPECT_EQ(facts.torch_version / 100, 211);
}

// A graph and a data set with 256 features per node, 1 kB, and their memory.
struct Limited {
  explicit Limited(size_t limit) {
    ContextConfig config;
    config.num_threads = 2;
    config.memory_limit = limit;
    EXPECT_OK(gnnmg_context_create(GNNMG_VERSION, &config, context.out()));
  }
  gnnmg_status generate(int64_t num_nodes) {
    const std::string settings = "num_features=256 num_nodes=" + std::to_string(num_nodes);
    return gnnmg_graph_generate(context, "planted", settings.c_str(), graph.out());
  }
  void make_dataset() {
    EXPECT_OK(generate(2000));
    EXPECT_OK(gnnmg_dataset_create(graph, "x", "y", GNNMG_TASK_NONE, 0, dataset.out()));
    EXPECT_OK(gnnmg_dataset_add_random_split(dataset, "random", nullptr));
    EXPECT_OK(gnnmg_sampler_create(graph, nullptr, "fanouts=2,2", sampler.out()));
    EXPECT_OK(gnnmg_model_create(context, dataset, nullptr, nullptr, model.out()));
  }
  size_t used() const {
    auto facts = info<gnnmg_context_info>();
    EXPECT_OK(gnnmg_context_get_info(context, &facts));
    return facts.memory_used;
  }
  Context context;
  Graph graph;
  Dataset dataset;
  Sampler sampler;
  Model model;
};

TEST(MemoryLimit, WhatDoesNotFitIsRefusedAndWhatDoesSucceeds) {
  Limited l(1 << 20);
  auto facts = info<gnnmg_context_info>();
  ASSERT_OK(gnnmg_context_get_info(l.context, &facts));
  EXPECT_EQ(facts.memory_limit, size_t{1} << 20);
  EXPECT_EQ(facts.memory_used, 0u);
  EXPECT_FAILS(l.generate(50000), GNNMG_ERR_NO_MEMORY, "the memory limit of 1048576 bytes");
  EXPECT_EQ(l.graph.get(), nullptr);
  EXPECT_EQ(l.used(), 0u);  // all memory is released
  EXPECT_FAILS(gnnmg_graph_create_from_coo(l.context, 1 << 20, nullptr, nullptr, GNNMG_DTYPE_I64, 0,
                                           l.graph.out()),
               GNNMG_ERR_NO_MEMORY, "a tensor i64 [1048577] of 8388616 bytes");
  EXPECT_OK(l.generate(500));
  EXPECT_GT(l.used(), size_t{500 * 1024});
  Tensor features;
  ASSERT_OK(gnnmg_graph_export_node_tensor(l.graph, 0, "x", features.out()));
  l.graph.reset();
  EXPECT_GE(l.used(), size_t{500 * 1024});  // the tensor pins it
  features.reset();
  EXPECT_EQ(l.used(), 0u);
}

TEST(MemoryLimit, HoldsForSamplesOnEveryThread) {
  Limited measured(0);
  measured.make_dataset();
  Limited l(measured.used() + 1'000'000);
  l.make_dataset();
  std::vector<int64_t> seeds(2000);
  std::iota(seeds.begin(), seeds.end(), 0);
  const auto sample = [&](int64_t count, Batch& batch) {
    return gnnmg_sampler_sample(l.sampler, l.dataset, seeds.data(), count, nullptr, 0, 0, 0,
                                batch.out(), -1);
  };
  Batch small, large;
  EXPECT_OK(sample(10, small));
  EXPECT_FAILS(sample(2000, large), GNNMG_ERR_NO_MEMORY, "memory limit");
  EXPECT_OK(sample(10, large));

  // The limit holds for threads of the loader too.
  LoaderConfig plan;
  plan.batch_size = 1000;
  Loader loader;
  ASSERT_OK(gnnmg_loader_create(l.dataset, l.sampler, &plan, plan.text(), loader.out()));
  EXPECT_FAILS(gnnmg_loader_next(loader, large.out(), -1), GNNMG_ERR_NO_MEMORY, "memory limit");
  plan.batch_size = 10;
  ASSERT_OK(gnnmg_loader_create(l.dataset, l.sampler, &plan, plan.text(), loader.out()));
  EXPECT_OK(gnnmg_loader_next(loader, large.out(), -1));
  loader.reset();

  // The limit holds for ranks too.
  TrainerConfig training;
  training.num_epochs = 1;
  training.batch_size = 1000;
  Trainer trainer;
  ASSERT_OK(gnnmg_trainer_create(l.model, l.dataset, l.sampler, nullptr, &training, training.text(),
                                 trainer.out()));
  EXPECT_FAILS(gnnmg_trainer_run(trainer, nullptr, nullptr, nullptr), GNNMG_ERR_NO_MEMORY,
               "memory limit");

  // The limit holds for background work too: 2000 rows of 256 columns.
  Tensor rows;
  EXPECT_FAILS(gnnmg_model_embed(l.model, l.dataset, 0, nullptr, rows.out(), -1),
               GNNMG_ERR_NO_MEMORY, "does not fit the memory limit");
}

TEST(MemoryLimit, ComesBackWhenAllIsFreed) {
  Limited l(64 << 20);
  l.make_dataset();
  TrainerConfig training;
  training.num_epochs = 2;
  training.num_ranks = 2;
  training.batch_size = 100;
  Trainer trainer;
  ASSERT_OK(gnnmg_trainer_create(l.model, l.dataset, l.sampler, nullptr, &training, training.text(),
                                 trainer.out()));
  EXPECT_OK(gnnmg_trainer_run(trainer, nullptr, nullptr, nullptr));
  EXPECT_GT(l.used(), 0u);
  trainer.reset();
  l.model.reset();
  l.sampler.reset();
  l.dataset.reset();
  l.graph.reset();
  EXPECT_TRUE(eventually([&] { return l.used() == 0; })) << l.used();
}

TEST(ContextTest, RefusesSettingsThatMakeNoSense) {
  Context context;
  ContextConfig config;
  config.num_threads = -1;
  EXPECT_FAILS(gnnmg_context_create(GNNMG_VERSION, &config, context.out()),
               GNNMG_ERR_INVALID_ARGUMENT, "config.num_threads is -1");
  config = {};
  config.log_capacity = -1;
  EXPECT_FAILS(gnnmg_context_create(GNNMG_VERSION, &config, context.out()),
               GNNMG_ERR_INVALID_ARGUMENT, "config.log_capacity is -1");
  config = {};
  config.memory_limit = SIZE_MAX;
  EXPECT_FAILS(gnnmg_context_create(GNNMG_VERSION, &config, context.out()),
               GNNMG_ERR_INVALID_ARGUMENT, "config.memory_limit is ");
}

TEST(ContextTest, AStructWithAZeroTailOfALaterVersionIsTaken) {
  struct {
    gnnmg_context_config known;
    unsigned char tail[24];
  } later{};
  later.known.struct_size = sizeof later;
  Context context;
  EXPECT_OK(gnnmg_context_create(GNNMG_VERSION, &later.known, context.out()));
  struct {
    gnnmg_context_info known;
    unsigned char tail[24];
  } facts;
  std::memset(&facts, 0x5a, sizeof facts);
  facts.known.struct_size = sizeof facts;
  ASSERT_OK(gnnmg_context_get_info(context, &facts.known));
  EXPECT_EQ(facts.known.struct_size, sizeof facts);
  for (unsigned char byte : facts.tail) EXPECT_EQ(byte, 0);
}

TEST(ContextTest, OptionsAreListedSetAndShown) {
  const Context context = make_context();
  auto option = info<gnnmg_setting_info>();
  int64_t count = 0;
  while (gnnmg_setting_get_info("context", count, &option) == GNNMG_OK) {
    char text[64];
    size_t needed = 0;
    EXPECT_OK(gnnmg_context_get_option(context, option.name, text, sizeof text, &needed));
    EXPECT_EQ(needed, std::strlen(text) + 1);
    EXPECT_STREQ(text, option.default_value) << option.name;
    EXPECT_OK(gnnmg_context_set_option(context, option.name, text));
    EXPECT_EQ(gnnmg_context_set_option(context, option.name, "nonsense"),
              GNNMG_ERR_INVALID_ARGUMENT);
    ++count;
  }
  EXPECT_GE(count, 2);
  EXPECT_EQ(gnnmg_setting_get_info("context", count, &option), GNNMG_END);
  EXPECT_EQ(option.name, nullptr);
  EXPECT_FAILS(gnnmg_context_set_option(context, "no_such", "1"), GNNMG_ERR_NOT_FOUND, "no_such");

  EXPECT_OK(gnnmg_context_set_option(context, "log_level", "warning"));
  char small[4];
  size_t needed = 0;
  EXPECT_OK(gnnmg_context_get_option(context, "log_level", small, sizeof small, &needed));
  EXPECT_STREQ(small, "war");
  EXPECT_EQ(needed, sizeof "warning");
  EXPECT_OK(gnnmg_context_get_option(context, "log_level", nullptr, 0, &needed));
  EXPECT_EQ(needed, sizeof "warning");
}

TEST(ContextTest, MessagesArePulledWhole) {
  World world(100);
  // A model of three layers over a sampler of two gets a warning or is refused; opening a folder
  // writes to the log too. The test reads the log with a buffer that is too small at first.
  Dataset dataset;
  EXPECT_EQ(gnnmg_dataset_open(world.context, "/no/such/place", nullptr, dataset.out(), -1),
            GNNMG_ERR_NOT_FOUND);
  auto facts = info<gnnmg_log_info>();
  size_t needed = 0;
  gnnmg_status status;
  while ((status = gnnmg_log_next(world.context, &facts, nullptr, 0, &needed)) == GNNMG_OK) {
    std::string text(needed, '?');
    auto again = info<gnnmg_log_info>();
    size_t same = 0;
    ASSERT_OK(gnnmg_log_next(world.context, &again, text.data(), text.size(), &same));
    EXPECT_EQ(same, needed);
    EXPECT_EQ(again.unix_time_ns, facts.unix_time_ns);
    EXPECT_EQ(std::strlen(text.c_str()) + 1, needed);
  }
  EXPECT_EQ(status, GNNMG_END);
  EXPECT_EQ(needed, 0u);
}

// The log contains paths as they are; the message that a caller reads is one line of UTF-8.
TEST(ContextTest, MessagesAreLinesOfUtf8) {
  World world(100);
  const TempDir folder;
  const std::string path = folder.file("two\nlines\xff");
  ASSERT_OK(gnnmg_dataset_save(world.dataset, path.c_str(), -1));
  Dataset dataset;
  ASSERT_OK(gnnmg_dataset_open(world.context, path.c_str(), nullptr, dataset.out(), -1));
  bool named = false;
  std::vector<char> text(1 << 16);
  auto facts = info<gnnmg_log_info>();
  size_t needed = 0;
  while (gnnmg_log_next(world.context, &facts, text.data(), text.size(), &needed) == GNNMG_OK) {
    const std::string line = text.data();
    EXPECT_EQ(line.find('\n'), std::string::npos) << line;
    EXPECT_EQ(line.find('\xff'), std::string::npos) << line;
    named = named || line.find("two\\x0alines\\xff") != std::string::npos;
  }
  EXPECT_TRUE(named);
}

TEST(ContextTest, LendEndsByTimeCancelAndFree) {
  Context context = make_context();
  EXPECT_OK(gnnmg_context_lend(context, 0));
  EXPECT_OK(gnnmg_context_lend(context, 5));

  std::atomic<gnnmg_status> answer{GNNMG_PENDING};
  std::thread lent([&] { answer = gnnmg_context_lend(context, -1); });
  EXPECT_TRUE(eventually([&] {  // an earlier one does not end the call
    gnnmg_context_cancel(context);
    return answer != GNNMG_PENDING;
  }));
  lent.join();
  EXPECT_EQ(answer, GNNMG_ERR_CANCELLED);

  answer = GNNMG_ERR_HANDLE;
  for (int round = 0; round < 20 && answer == GNNMG_ERR_HANDLE; ++round) {  // freed before the call
    context = make_context();
    std::atomic<bool> inside{false};
    lent = std::thread([&, raw = context.get()] {
      inside = true;
      answer = gnnmg_context_lend(raw, -1);
    });
    EXPECT_TRUE(eventually([&] { return inside.load(); }));
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    context.reset();
    lent.join();
  }
  EXPECT_EQ(answer, GNNMG_END);
}

TEST(ContextTest, ManyComeAndGo) {
  for (int i = 0; i < 1000; ++i) {
    const Context context = make_context();
    ASSERT_NE(context.get(), nullptr);
  }
}

TEST(ContextTest, TwoContextsDoNotMix) {
  World one(60), other(60);
  const Sampler sampler = one.make_sampler();
  const Model model = one.make_model();
  Loader loader;
  EXPECT_FAILS(gnnmg_loader_create(other.dataset, sampler, nullptr, nullptr, loader.out()),
               GNNMG_ERR_INVALID_ARGUMENT, "two contexts");
  Trainer trainer;
  EXPECT_FAILS(
      gnnmg_trainer_create(model, other.dataset, sampler, nullptr, nullptr, nullptr, trainer.out()),
      GNNMG_ERR_INVALID_ARGUMENT, "two contexts");
  Model foreign;
  EXPECT_FAILS(gnnmg_model_create(one.context, other.dataset, nullptr, nullptr, foreign.out()),
               GNNMG_ERR_INVALID_ARGUMENT, "two contexts");
}

}  // namespace
}  // namespace gnnmg::test
