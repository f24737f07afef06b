// A graph with more ids than a GPU supports, through the header: 2^31 nodes, on a machine with a
// fake GPU (tests/fake_machine). Pages that nobody writes take no memory: lists of a graph without
// edges, and labels and features of zeros.
#include <sys/mman.h>
#include <sys/resource.h>

#include <cerrno>

#include "capi/support.h"
#include "support/data.h"

namespace gnnmg::test {
namespace {

constexpr int64_t kNodes = int64_t{1} << 31;
constexpr char kRemedy[] =
    "has 2147483648 nodes, a GPU samples from fewer than 2147483648; sample it on the CPU";

// Bytes that are 0, and take no memory.
class Zeros {
 public:
  explicit Zeros(size_t bytes)
      : bytes_(bytes),
        pages_(
            mmap(nullptr, bytes, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0)) {
    EXPECT_NE(pages_, MAP_FAILED) << std::strerror(errno);
    madvise(pages_, bytes, MADV_HUGEPAGE);
  }
  ~Zeros() { munmap(pages_, bytes_); }
  Zeros(const Zeros&) = delete;
  Zeros& operator=(const Zeros&) = delete;
  void* data() const { return pages_; }

 private:
  const size_t bytes_;
  void* const pages_;
};

int64_t peak_mib() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_maxrss >> 10;
}

class GpuIds : public testing::Test {
 protected:
  // A system without overcommit may be too small even for pages of zeros.
  void SetUp() override {
    ASSERT_OK(gnnmg_graph_create(world.context, graph.out()));
    const gnnmg_status status = gnnmg_graph_add_node_type(graph, "node", kNodes, nullptr);
    GNNMG_NEEDS(status != GNNMG_ERR_NO_MEMORY, "16 GiB of addresses");
    ASSERT_OK(status);
    ASSERT_OK(gnnmg_graph_add_edge_type(graph, 0, "to", 0, nullptr));
    world.sampling.num_fanouts = 1;
    world.sampling.fanouts[0] = 3;
  }
#ifndef __SANITIZE_ADDRESS__  // shadow memory counts too
  void TearDown() override { EXPECT_LT(peak_mib() - before, 512); }
#endif
  const int64_t before = peak_mib();
  const Zeros labels{kNodes * sizeof(int64_t)}, features{kNodes * 2};
  World world{20};
  Graph graph;
};

TEST_F(GpuIds, ThatDoNotFitAreRefusedByALoader) {
  Sampler sampler;
  ASSERT_OK(gnnmg_sampler_create(graph, &world.sampling, world.sampling.text(), sampler.out()));
  const int64_t seeds[] = {0, kNodes - 1};
  LoaderConfig& plan = world.plan;
  plan.device = GNNMG_DEVICE_CUDA;
  Loader loader;
  for (const char* asked : {"graph_placement=device", "graph_placement=pinned"}) {
    plan.set(asked);
    EXPECT_FAILS(gnnmg_loader_create_from_seeds(nullptr, sampler, 0, seeds, 2, nullptr, &plan,
                                                plan.text(), loader.out()),
                 GNNMG_ERR_UNSUPPORTED, kRemedy);
  }
  // The automatic choice is the same.
  plan.set("graph_placement=auto");
  ASSERT_OK(gnnmg_loader_create_from_seeds(nullptr, sampler, 0, seeds, 2, nullptr, &plan,
                                           plan.text(), loader.out()));
  Batch batch;
  ASSERT_OK(gnnmg_loader_next(loader, batch.out(), -1));
  auto facts = info<gnnmg_batch_info>();
  ASSERT_OK(gnnmg_batch_get_info(batch, &facts));
  EXPECT_EQ(facts.num_nodes, 2);
}

TEST_F(GpuIds, ThatDoNotFitAreRefusedByATrainer) {
  const int64_t shape[] = {kNodes, 1};
  Tensor x, y;
  const gnnmg_release_fn kept = [](void*) {};  // import would copy a tensor without a release
  ASSERT_OK(
      gnnmg_tensor_create(features.data(), GNNMG_DTYPE_F16, 2, shape, kept, nullptr, x.out()));
  ASSERT_OK(gnnmg_tensor_create(labels.data(), GNNMG_DTYPE_I64, 1, shape, kept, nullptr, y.out()));
  ASSERT_OK(gnnmg_graph_import_node_tensor(graph, 0, "x", x));
  x.release();
  ASSERT_OK(gnnmg_graph_import_node_tensor(graph, 0, "y", y));
  y.release();
  Dataset dataset;
  ASSERT_OK(gnnmg_dataset_create(graph, "x", "y", GNNMG_TASK_MULTICLASS, 2, dataset.out()));
  const int64_t ids[] = {0, kNodes - 1};
  ASSERT_OK(gnnmg_dataset_add_split(dataset, "two", ids, 2, nullptr, 0, nullptr, 0));
  Sampler sampler;
  ASSERT_OK(gnnmg_sampler_create(graph, &world.sampling, world.sampling.text(), sampler.out()));
  world.layers.num_layers = 1;
  world.training.device = GNNMG_DEVICE_CUDA;
  world.training.set("graph_placement=device");
  Model model;
  ASSERT_OK(
      gnnmg_model_create(world.context, dataset, &world.layers, world.layers.text(), model.out()));
  Trainer trainer;
  ASSERT_OK(gnnmg_trainer_create(model, dataset, sampler, nullptr, &world.training,
                                 world.training.text(), trainer.out()));
  EXPECT_FAILS(gnnmg_trainer_run(trainer, nullptr, nullptr, nullptr), GNNMG_ERR_UNSUPPORTED,
               kRemedy);
}

}  // namespace
}  // namespace gnnmg::test
