// Versions, errors, the context, its options, its messages and lent threads.
#include <atomic>
#include <thread>

#include "capi/support.h"

namespace gnnmg::test {
namespace {

Context make_context() {
  auto config = init(gnnmg_context_config_init);
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
  EXPECT_OK(gnnmg_last_error_info(&facts));  // a success leaves it alone
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
  for (int32_t version : {0, 99, 200, 10000, GNNMG_VERSION + 100, -1})
    EXPECT_FAILS(gnnmg_context_create(version, nullptr, context.out()), GNNMG_ERR_VERSION,
                 "the header is of version");
  EXPECT_EQ(gnnmg_version(), GNNMG_VERSION);
  // A later correction of the same minor version is the same interface.
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

TEST(ContextTest, RefusesSettingsThatMakeNoSense) {
  Context context;
  auto config = init(gnnmg_context_config_init);
  config.num_threads = -1;
  EXPECT_FAILS(gnnmg_context_create(GNNMG_VERSION, &config, context.out()),
               GNNMG_ERR_INVALID_ARGUMENT, "config.num_threads is -1");
  config = init(gnnmg_context_config_init);
  config.log_capacity = 0;
  EXPECT_FAILS(gnnmg_context_create(GNNMG_VERSION, &config, context.out()),
               GNNMG_ERR_INVALID_ARGUMENT, "config.log_capacity is 0");
}

TEST(ContextTest, AStructWithAZeroTailOfALaterVersionIsTaken) {
  struct {
    gnnmg_context_config known;
    unsigned char tail[24];
  } later{};
  ASSERT_OK(gnnmg_context_config_init(&later.known, sizeof later));
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
  const char *key = nullptr, *help = nullptr;
  int64_t count = 0;
  while (gnnmg_option_info(count, &key, &help) == GNNMG_OK) {
    char text[64];
    size_t needed = 0;
    EXPECT_OK(gnnmg_context_get_option(context, key, text, sizeof text, &needed));
    EXPECT_EQ(needed, std::strlen(text) + 1);
    EXPECT_NE(std::string(help).find(text), std::string::npos) << "the default of " << key;
    EXPECT_OK(gnnmg_context_set_option(context, key, text));
    EXPECT_EQ(gnnmg_context_set_option(context, key, "nonsense"), GNNMG_ERR_INVALID_ARGUMENT);
    ++count;
  }
  EXPECT_GE(count, 2);
  EXPECT_EQ(gnnmg_option_info(count, &key, &help), GNNMG_END);
  EXPECT_EQ(key, nullptr);
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
  // writes to the log as well. What is there is read with a buffer that is too small at first.
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

TEST(ContextTest, LendEndsByTimeCancelAndFree) {
  Context context = make_context();
  EXPECT_OK(gnnmg_context_lend(context, 0));
  EXPECT_OK(gnnmg_context_lend(context, 5));

  gnnmg_status answer = GNNMG_OK;
  std::atomic<bool> inside{false};
  std::thread lent([&] {
    inside = true;
    answer = gnnmg_context_lend(context, -1);
  });
  ASSERT_TRUE(eventually([&] { return inside.load(); }));
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  gnnmg_context_cancel(context);
  lent.join();
  EXPECT_EQ(answer, GNNMG_ERR_CANCELLED);

  gnnmg_context* raw = context;
  inside = false;
  lent = std::thread([&] {
    inside = true;
    answer = gnnmg_context_lend(raw, -1);
  });
  ASSERT_TRUE(eventually([&] { return inside.load(); }));
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  context.reset();
  lent.join();
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
  EXPECT_FAILS(gnnmg_loader_create(other.dataset, sampler, nullptr, loader.out()),
               GNNMG_ERR_INVALID_ARGUMENT, "two contexts");
  Trainer trainer;
  EXPECT_FAILS(gnnmg_trainer_create(model, other.dataset, sampler, nullptr, nullptr, trainer.out()),
               GNNMG_ERR_INVALID_ARGUMENT, "two contexts");
  Model foreign;
  EXPECT_FAILS(gnnmg_model_create(one.context, other.dataset, nullptr, foreign.out()),
               GNNMG_ERR_INVALID_ARGUMENT, "two contexts");
}

}  // namespace
}  // namespace gnnmg::test
