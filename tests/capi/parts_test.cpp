// Data sets in parts, from outside: saved and opened again, trained to the same weights,
// interrupted in every way, and refused if impossible.
#include <algorithm>
#include <filesystem>
#include <map>

#include "support.h"
#include "support/temp_dir.h"

namespace gnnmg::test {
namespace {

PartsConfig config_of(int32_t num_parts) {
  PartsConfig config;
  config.num_parts = num_parts;
  return config;
}

std::map<std::string, std::string> files_of(const std::string& folder) {
  std::map<std::string, std::string> all;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder))
    if (entry.is_regular_file())
      all[std::filesystem::relative(entry.path(), folder)] = slurp(entry.path());
  return all;
}

std::vector<float> trained_weights(World& world) {
  world.training.deterministic = 1;
  world.training.num_epochs = 2;
  const Sampler sampler = world.make_sampler();
  Model model = world.make_model();
  Trainer trainer = world.make_trainer(model, sampler);
  EXPECT_OK(gnnmg_trainer_run(trainer, nullptr, nullptr, nullptr));
  return weights(model);
}

TEST(PartsTest, TheSameWeightsToTheLastBit) {
  World world(300);
  const TempDir folder;
  const std::vector<float> expected = trained_weights(world);
  for (const int32_t num_parts : {1, 2, 4}) {
    const std::string path = folder.file("parts" + std::to_string(num_parts));
    const PartsConfig config = config_of(num_parts);
    ASSERT_OK(gnnmg_dataset_save_parts(world.dataset, path.c_str(), nullptr, 0, &config,
                                       "fanouts=none", -1));
    World again(300);
    ASSERT_OK(gnnmg_dataset_open(again.context, path.c_str(), nullptr, again.dataset.out(), -1));
    EXPECT_EQ(trained_weights(again), expected) << num_parts;
  }
}

TEST(PartsTest, FactsAndBook) {
  World world(300);
  const TempDir folder;
  const std::string path = folder.file("parts");
  const PartsConfig config = config_of(3);
  ASSERT_OK(gnnmg_dataset_save_parts(world.dataset, path.c_str(), nullptr, 0, &config,
                                     " batch_size=16  fanouts=5,5 ", -1));
  Dataset opened;
  ASSERT_OK(gnnmg_dataset_open(world.context, path.c_str(), "format=parts", opened.out(), -1));
  auto all = info<gnnmg_parts_info>();
  ASSERT_OK(gnnmg_dataset_get_parts_info(opened, &all));
  EXPECT_EQ(all.num_parts, 3);
  EXPECT_EQ(all.num_nodes, 300);
  EXPECT_GT(all.cut, 0);
  EXPECT_LT(all.cut, 0.67);
  EXPECT_LE(all.node_balance, 1.05 + 0.01);
  Tensor book;
  ASSERT_OK(gnnmg_dataset_export_book(opened, book.out()));
  const std::vector<int32_t> parts = values<int32_t>(book);
  auto part = info<gnnmg_part_info>();
  int64_t nodes = 0, edges = 0, cut = 0;
  int32_t p = 0;
  for (; gnnmg_dataset_get_part_info(opened, p, 0, &part) == GNNMG_OK; ++p) {
    EXPECT_EQ(part.num_nodes, std::count(parts.begin(), parts.end(), p));
    EXPECT_EQ(part.hotness, 1);
    EXPECT_GT(part.batch_rows, 16);
    EXPECT_GT(part.remote_rows, 0);
    EXPECT_EQ(part.hit_rate, 0);
    nodes += part.num_nodes;
    edges += part.num_edges;
    cut += part.cut_edges;
    ASSERT_OK(gnnmg_dataset_get_part_info(opened, p, 300, &part));
    EXPECT_NEAR(part.hit_rate, 1, 1e-9);
  }
  EXPECT_EQ(p, 3);
  EXPECT_EQ(nodes, 300);
  EXPECT_EQ(edges, all.num_edges);
  EXPECT_EQ(cut, all.cut_edges);
  EXPECT_FAILS(gnnmg_dataset_get_parts_info(world.dataset, &all), GNNMG_ERR_NOT_FOUND,
               "was not opened from a folder of parts");
  EXPECT_FAILS(gnnmg_dataset_get_part_info(opened, -1, 0, &part), GNNMG_ERR_NOT_FOUND, "part");
}

TEST(PartsTest, AGivenAssignment) {
  World world(300);
  const TempDir folder;
  std::vector<int32_t> given(300);
  for (int32_t v = 0; v < 300; ++v) given[v] = v % 5;
  const PartsConfig config = config_of(5);
  const auto save = [&](const std::vector<int32_t>& parts, int64_t count) {
    return gnnmg_dataset_save_parts(world.dataset, folder.file("parts").c_str(), parts.data(),
                                    count, &config, nullptr, -1);
  };
  ASSERT_OK(save(given, 300));
  Dataset opened;
  ASSERT_OK(
      gnnmg_dataset_open(world.context, folder.file("parts").c_str(), nullptr, opened.out(), -1));
  Tensor book;
  ASSERT_OK(gnnmg_dataset_export_book(opened, book.out()));
  EXPECT_EQ(values<int32_t>(book), given);
  EXPECT_FAILS(save(given, 299), GNNMG_ERR_INVALID_ARGUMENT, "is 299, expected 300");
  given[7] = 5;
  EXPECT_FAILS(save(given, 300), GNNMG_ERR_RANGE, "given[7] is 5, expected 0 to 4");
  given[7] = 0;
  EXPECT_FAILS(save(given, 300), GNNMG_ERR_MISMATCH, "given assignment");
}

TEST(PartsTest, PendingCancelledAndContinued) {
  World world(3000);
  const TempDir folder;
  const PartsConfig config = config_of(4);
  const auto save = [&](const char* name, int64_t timeout_ms) {
    return gnnmg_dataset_save_parts(world.dataset, folder.file(name).c_str(), nullptr, 0, &config,
                                    nullptr, timeout_ms);
  };
  ASSERT_OK(save("whole", -1));
  int pending = 0;
  for (int tries = 0; tries < 20 && pending == 0; ++tries) {  // the first may be quick
    std::filesystem::remove_all(folder.file("slices"));
    ASSERT_EQ(until_done([&] { return save("slices", 1); }, &pending), GNNMG_OK)
        << gnnmg_last_error();
  }
  EXPECT_GT(pending, 0);
  EXPECT_EQ(files_of(folder.file("slices")), files_of(folder.file("whole")));
  gnnmg_status status = GNNMG_OK;
  for (int tries = 0; tries < 20 && status == GNNMG_OK; ++tries) {  // same reason
    std::filesystem::remove_all(folder.file("canceled"));
    status = save("canceled", 0);
    if (status != GNNMG_PENDING) continue;
    gnnmg_context_cancel(world.context);
    status = save("canceled", -1);
  }
  EXPECT_EQ(status, GNNMG_ERR_CANCELLED);
  EXPECT_FALSE(std::filesystem::exists(folder.file("canceled/manifest.json")));
  ASSERT_OK(save("canceled", -1));
  EXPECT_EQ(files_of(folder.file("canceled")), files_of(folder.file("whole")));
}

TEST(PartsTest, SettingsAreRefusedByName) {
  World world(300);
  const TempDir folder;
  PartsConfig config = config_of(0);
  const auto refused = [&](const char* settings, const char* text) {
    EXPECT_FAILS(gnnmg_dataset_save_parts(world.dataset, folder.file("x").c_str(), nullptr, 0,
                                          &config, settings, -1),
                 GNNMG_ERR_INVALID_ARGUMENT, text);
  };
  refused("passses=3",
          "unknown name 'passses'; did you mean 'passes'? There are: num_parts, method");
  refused("passes", "settings: 'passes', expected name=value");
  refused("passes=0", "passes=0, expected an integer, 1 to 1000");
  refused("passes=3x", "passes=3x");
  refused("node_slack=0.5", "node_slack=0.5, expected a number, 1 to 1000");
  refused("node_slack=nan", "node_slack=nan");
  refused("fanouts=1,,2", "fanouts=1,,2");
  refused("fanouts=-2", "fanouts=-2");
  refused("batch_size=0", "batch_size=0");
  config.method = 4;
  refused(nullptr, "config.method");
  config = config_of(65536);
  refused(nullptr, "config.num_parts");
  config = config_of(-1);
  refused(nullptr, "config.num_parts");
  EXPECT_FALSE(std::filesystem::exists(folder.file("x")));
  config = config_of(2);
  config.memory_limit = 1000;
  EXPECT_FAILS(gnnmg_dataset_save_parts(world.dataset, folder.file("y").c_str(), nullptr, 0,
                                        &config, nullptr, -1),
               GNNMG_ERR_NO_MEMORY, "memory_limit is 1000");
}

}  // namespace
}  // namespace gnnmg::test
