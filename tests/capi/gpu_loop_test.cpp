// Models and mini-batches on GPUs through the header, in the caller's own loops, on a machine with
// two fake ones (tests/fake_machine): results equal those of the CPU for any placement, and an
// impossible placement is an error.
#include <algorithm>
#include <cmath>
#include <functional>
#include <thread>

#include "capi/fake_controls.h"
#include "capi/support.h"
#include "support/temp_dir.h"

namespace gnnmg::test {
namespace {

// The elements of a tensor in any memory.
template <typename T>
std::vector<T> fetch(const gnnmg_context* context, const gnnmg_tensor* tensor) {
  auto facts = info<gnnmg_tensor_info>();
  EXPECT_OK(gnnmg_tensor_get_info(tensor, &facts));
  std::vector<T> list(static_cast<size_t>(facts.num_elements));
  Tensor here;
  EXPECT_OK(gnnmg_tensor_create(list.data(), facts.dtype, facts.num_dims, facts.shape, nullptr,
                                nullptr, here.out()));
  EXPECT_OK(gnnmg_tensor_copy(context, tensor, here));
  return list;
}
// The number of a tensor's GPU; -1: main memory.
int gpu_of(const gnnmg_tensor* tensor) {
  auto facts = info<gnnmg_tensor_info>();
  EXPECT_OK(gnnmg_tensor_get_info(tensor, &facts));
  return facts.device_type == GNNMG_DEVICE_CUDA ? facts.device_index : -1;
}

// Graphs that are rings or stars, and differ only in their edges.
void make_graphs(const gnnmg_context* context, Graph& graph, Dataset& dataset) {
  constexpr int64_t kGraphs = 60;
  std::vector<int64_t> sources, targets, graph_ptr{0}, classes;
  for (int64_t g = 0; g < kGraphs; ++g) {
    const int64_t first = graph_ptr.back(), nodes = 3 + g * 7 % 9;
    classes.push_back(g % 2);
    for (int64_t i = 1; i < nodes; ++i)
      for (const auto& [from, to] : {std::pair(first + i, g % 2 ? first : first + i - 1),
                                     std::pair(g % 2 ? first : first + i - 1, first + i)}) {
        sources.push_back(from);
        targets.push_back(to);
      }
    graph_ptr.push_back(first + nodes);
  }
  const int64_t nodes = graph_ptr.back(), shape[] = {nodes, 2};
  std::vector<float> x(static_cast<size_t>(2 * nodes));
  for (size_t i = 0; i < x.size(); ++i) x[i] = 0.1f * static_cast<float>(i % 7);
  ASSERT_OK(gnnmg_graph_create_from_coo(context, nodes, sources.data(), targets.data(),
                                        GNNMG_DTYPE_I64, static_cast<int64_t>(sources.size()),
                                        graph.out()));
  ASSERT_OK(gnnmg_graph_set_node_tensor(graph, 0, "x", x.data(), GNNMG_DTYPE_F32, 2, shape));
  const Tensor labels = wrap(classes);
  ASSERT_OK(gnnmg_dataset_create_graphs(graph, graph_ptr.data(), kGraphs, "x", labels,
                                        GNNMG_TASK_MULTICLASS, 2, dataset.out()));
  ASSERT_OK(gnnmg_dataset_add_random_split(dataset, "random", nullptr));
}

// One rank's loop over nodes or graphs; `gpu` below 0 is the CPU.
struct Loop : World {
  explicit Loop(int on, gnnmg_architecture architecture = GNNMG_ARCHITECTURE_SAGE,
                bool of_graphs = false)
      : World(400), gpu(on), graphs(of_graphs) {
    layers.architecture = architecture;
    layers.dropout = 0.3;
    if (graphs) {
      make_graphs(context, graph, dataset);
      layers.readout = GNNMG_READOUT_SUM;
    }
    plan.batches_per_step = 2;
    if (gpu < 0) return;
    plan.device = GNNMG_DEVICE_CUDA;
    plan.device_index = gpu;
  }
  void make() {
    if (graphs) {
      ASSERT_OK(gnnmg_sampler_create_graphs(dataset, &sampling, sampling.text(), sampler.out()));
    } else {
      sampler = make_sampler();
    }
    model = make_model();
    if (gpu >= 0) {
      ASSERT_OK(gnnmg_model_set_device(model, GNNMG_DEVICE_CUDA, gpu, stream));
    }
    ASSERT_OK(gnnmg_optimizer_create(model, updates, optimizer.out()));
    loader = make_loader(sampler);
  }
  // Losses of the steps of an epoch.
  std::vector<double> epoch() {
    std::vector<double> losses;
    Batch batch;
    double sum = 0;
    gnnmg_status status;
    while ((status = gnnmg_loader_next(loader, batch.out(), -1)) == GNNMG_OK) {
      double share = 0;
      EXPECT_OK(gnnmg_model_forward(model, batch, nullptr));
      EXPECT_OK(gnnmg_model_backward(model, GNNMG_LOSS_AUTO, &share));
      sum += share;
      auto facts = info<gnnmg_batch_info>();
      EXPECT_OK(gnnmg_batch_get_info(batch, &facts));
      if (!facts.last_of_step) continue;
      EXPECT_OK(gnnmg_optimizer_step(optimizer));
      losses.push_back(std::exchange(sum, 0));
    }
    EXPECT_EQ(status, GNNMG_END) << gnnmg_last_error();
    return losses;
  }
  gnnmg_metrics test() {
    auto metrics = info<gnnmg_metrics>();
    EXPECT_OK(gnnmg_model_evaluate(model, dataset, GNNMG_PART_TEST, 0, &metrics, nullptr, -1));
    return metrics;
  }
  template <typename T>
  std::vector<T> parameters() {
    Tensor flat;
    EXPECT_OK(gnnmg_model_export_parameters(model, flat.out()));
    EXPECT_EQ(gpu_of(flat), gpu);
    return fetch<T>(context, flat);
  }
  int gpu;
  bool graphs;
  uint64_t stream = 0;
  const char* updates = nullptr;  // settings of the optimizer
  Sampler sampler;
  Model model;
  Optimizer optimizer;
  Loader loader;
};

template <typename T>
void expect_close(const std::vector<T>& list, const std::vector<T>& wanted, double tolerance) {
  ASSERT_EQ(list.size(), wanted.size());
  for (size_t i = 0; i < list.size(); ++i)
    ASSERT_NEAR(list[i], wanted[i], tolerance) << "element " << i;
}

template <typename T>
void expect_as_on_cpu(const std::function<void(Loop&)>& change, gnnmg_architecture architecture,
                      bool of_graphs, double tolerance) {
  const auto run = [&](int gpu) {
    auto loop = std::make_unique<Loop>(gpu, architecture, of_graphs);
    change(*loop);
    loop->make();
    return loop;
  };
  const auto cpu = run(-1), gpu = run(1);
  for (int epoch = 0; epoch < 2; ++epoch) expect_close(gpu->epoch(), cpu->epoch(), tolerance);
  expect_close(gpu->template parameters<T>(), cpu->template parameters<T>(), tolerance);
  const gnnmg_metrics there = gpu->test(), here = cpu->test();
  EXPECT_EQ(there.count, here.count);
  EXPECT_NEAR(there.loss, here.loss, 10 * tolerance);
  Tensor rows[2];
  ASSERT_OK(gnnmg_model_embed(gpu->model, gpu->dataset, 0, nullptr, rows[0].out(), -1));
  ASSERT_OK(gnnmg_model_embed(cpu->model, cpu->dataset, 0, nullptr, rows[1].out(), -1));
  expect_close(values<T>(rows[0]), values<T>(rows[1]), 10 * tolerance);
}

TEST(GpuLoop, ComesToWhatTheCpuDoes) {
  struct Case {
    gnnmg_architecture architecture;
    bool of_graphs;
  };
  for (const Case& c : {Case{GNNMG_ARCHITECTURE_SAGE, false}, Case{GNNMG_ARCHITECTURE_GCN, false},
                        Case{GNNMG_ARCHITECTURE_GAT, false}, Case{GNNMG_ARCHITECTURE_GIN, true}}) {
    SCOPED_TRACE(testing::Message() << "architecture " << c.architecture);
    const auto f64 = [](Loop& loop) {
      loop.layers.dtype = GNNMG_DTYPE_F64;
      loop.updates = "clip_norm=0.5";
    };
    expect_as_on_cpu<double>(f64, c.architecture, c.of_graphs, 1e-8);
    const auto f32 = [](Loop& loop) {
      loop.updates = "optimizer=sgd";
      loop.layers.norm = GNNMG_NORM_BATCH;
    };
    expect_as_on_cpu<float>(f32, c.architecture, c.of_graphs, 1e-4);
  }
}

TEST(GpuLoop, InAStreamOfTheCallers) {
  const auto change = [](Loop& loop) {
    if (loop.gpu >= 0) loop.stream = loop.plan.stream = 1;
  };
  expect_as_on_cpu<float>(change, GNNMG_ARCHITECTURE_SAGE, false, 1e-4);
}

// Contents of a mini-batch, in main memory.
struct Content {
  std::vector<std::vector<int64_t>> ids;
  std::vector<std::vector<int32_t>> edges;
  std::vector<float> features;
  std::vector<double> weights;
  bool operator==(const Content&) const = default;
};
Content content_of(const gnnmg_context* context, const gnnmg_batch* batch, int gpu) {
  Content content;
  auto facts = info<gnnmg_batch_info>();
  EXPECT_OK(gnnmg_batch_get_info(batch, &facts));
  EXPECT_EQ(facts.device, gpu < 0 ? GNNMG_DEVICE_CPU : GNNMG_DEVICE_CUDA);
  EXPECT_EQ(facts.device_index, std::max(gpu, 0));
  content.ids = {{facts.num_seeds, facts.num_nodes, facts.num_edges, facts.feature_dim}};
  Tensor seeds, nodes, features, labels, weights;
  EXPECT_OK(gnnmg_batch_export_seeds(batch, seeds.out()));
  EXPECT_OK(gnnmg_batch_export_node_ids(batch, 0, nodes.out()));
  EXPECT_OK(gnnmg_batch_export_features(batch, 0, features.out()));
  EXPECT_OK(gnnmg_batch_export_labels(batch, labels.out()));
  EXPECT_OK(gnnmg_batch_export_weights(batch, weights.out()));
  for (const Tensor* tensor : {&seeds, &nodes, &features, &labels, &weights})
    EXPECT_EQ(gpu_of(*tensor), gpu);
  for (const Tensor* tensor : {&seeds, &nodes, &labels})
    content.ids.push_back(fetch<int64_t>(context, *tensor));
  content.features = fetch<float>(context, features);
  content.weights = fetch<double>(context, weights);
  for (int32_t layer = 0; layer < facts.num_layers; ++layer) {
    Tensor indptr, indices, edge_ids;
    EXPECT_OK(
        gnnmg_batch_export_block(batch, layer, 0, indptr.out(), indices.out(), edge_ids.out()));
    for (const Tensor* tensor : {&indptr, &indices, &edge_ids}) EXPECT_EQ(gpu_of(*tensor), gpu);
    content.edges.push_back(fetch<int32_t>(context, indptr));
    content.edges.push_back(fetch<int32_t>(context, indices));
    content.ids.push_back(fetch<int64_t>(context, edge_ids));
  }
  return content;
}
std::vector<Content> all_content(const Loop& loop) {
  std::vector<Content> all;
  Batch batch;
  while (gnnmg_loader_next(loop.loader, batch.out(), -1) == GNNMG_OK)
    all.push_back(content_of(loop.context, batch, loop.gpu));
  return all;
}

TEST(GpuLoop, HandsOutTheSameMiniBatches) {
  const auto content = [](int gpu, const std::function<void(Loop&)>& change) {
    Loop loop(gpu);
    loop.sampling.set("edge_ids=1");
    change(loop);
    loop.make();
    return all_content(loop);
  };
  const std::vector<Content> wanted = content(-1, [](Loop&) {});
  ASSERT_GT(wanted.size(), 3u);
  for (const char* settings : {"graph_placement=device feature_placement=device num_threads=1",
                               "graph_placement=pinned feature_placement=pinned num_threads=2",
                               "graph_placement=host feature_placement=host num_threads=2 stream=1",
                               "feature_placement=cached cache_bytes=2048 num_threads=0 stream=1",
                               "graph_placement=host num_threads=0"}) {
    SCOPED_TRACE(settings);
    EXPECT_TRUE(content(1, [&](Loop& loop) { loop.plan.set(settings); }) == wanted);
  }
}

TEST(GpuLoop, WidensRowsOfAnotherForm) {
  Loop cpu(-1), gpu(0);
  cpu.sampling.set("edge_ids=1");
  gpu.sampling.set("edge_ids=1");
  gpu.plan.set("feature_form=f16");
  cpu.make();
  gpu.make();
  const std::vector<Content> wanted = all_content(cpu), found = all_content(gpu);
  ASSERT_EQ(found.size(), wanted.size());
  for (size_t i = 0; i < found.size(); ++i)
    expect_close(found[i].features, wanted[i].features, 0.01);
}

TEST(GpuLoop, HandsOutSparseRowsAndGraphs) {
  std::vector<std::vector<float>> entries;
  std::vector<std::vector<int64_t>> starts;
  for (const int gpu : {-1, 0}) {
    Loop nodes(gpu);
    std::vector<int64_t> indptr(401);
    std::vector<int32_t> indices(400);
    std::vector<float> ones(400, 0.5f);
    for (size_t i = 0; i < 400; ++i) {
      indptr[i + 1] = static_cast<int64_t>(i) + 1;
      indices[i] = static_cast<int32_t>(i % 8);
    }
    ASSERT_OK(gnnmg_graph_generate(nodes.context, "planted", "num_nodes=400 num_classes=3",
                                   nodes.graph.out()));
    ASSERT_OK(gnnmg_graph_set_node_csr(nodes.graph, 0, "bag", 8, indptr.data(), indices.data(),
                                       ones.data(), 400));
    ASSERT_OK(gnnmg_dataset_create(nodes.graph, "bag", "y", GNNMG_TASK_MULTICLASS, 3,
                                   nodes.dataset.out()));
    ASSERT_OK(gnnmg_dataset_add_random_split(nodes.dataset, "random", nullptr));
    nodes.make();
    EXPECT_FALSE(nodes.epoch().empty());
    Batch batch;
    ASSERT_OK(gnnmg_loader_next(nodes.loader, batch.out(), -1));
    Tensor tensors[3], dense;
    ASSERT_OK(gnnmg_batch_export_sparse_features(batch, 0, tensors[0].out(), tensors[1].out(),
                                                 tensors[2].out()));
    EXPECT_EQ(gpu_of(tensors[0]), gpu);
    entries.push_back(fetch<float>(nodes.context, tensors[2]));
    EXPECT_FAILS(gnnmg_batch_export_features(batch, 0, dense.out()), GNNMG_ERR_UNSUPPORTED,
                 "gnnmg_batch_export_sparse_features() yields them");

    Loop graphs(gpu, GNNMG_ARCHITECTURE_GIN, true);
    graphs.make();
    ASSERT_OK(gnnmg_loader_next(graphs.loader, batch.out(), -1));
    Tensor graph_ptr;
    ASSERT_OK(gnnmg_batch_export_graph_ptr(batch, graph_ptr.out()));
    EXPECT_EQ(gpu_of(graph_ptr), gpu);
    starts.push_back(fetch<int64_t>(graphs.context, graph_ptr));
  }
  EXPECT_EQ(entries[0], entries[1]);
  EXPECT_EQ(starts[0], starts[1]);
}

TEST(GpuLoop, OwnLossesAndLogitsThere) {
  for (const int gpu : {-1, 1}) {
    Loop loop(gpu);
    loop.make();
    Batch batch;
    ASSERT_OK(gnnmg_loader_next(loop.loader, batch.out(), -1));
    Tensor logits, gradients;
    ASSERT_OK(gnnmg_model_forward(loop.model, batch, logits.out()));
    EXPECT_EQ(gpu_of(logits), gpu);
    // The logits as their own gradient, also from main memory.
    ASSERT_OK(gnnmg_model_backward_from(loop.model, logits));
    ASSERT_OK(gnnmg_model_export_gradients(loop.model, gradients.out()));
    const std::vector<float> once = fetch<float>(loop.context, gradients);
    std::vector<float> rows = fetch<float>(loop.context, logits);
    Tensor there, here;
    ASSERT_OK(gnnmg_model_forward(loop.model, batch, there.out()));
    const auto shape = shape_of(logits);
    ASSERT_OK(gnnmg_tensor_create(rows.data(), GNNMG_DTYPE_F32, 2, shape.data(), nullptr, nullptr,
                                  here.out()));
    ASSERT_OK(gnnmg_model_backward_from(loop.model, here));
    std::vector<float> twice = fetch<float>(loop.context, gradients);
    for (float& value : twice) value /= 2;
    expect_close(twice, once, 1e-5);
    EXPECT_GT(*std::max_element(once.begin(), once.end()), 0);
  }
}

TEST(GpuLoop, MovesWithItsGradientsAndBack) {
  Loop loop(-1);
  loop.make();
  loop.optimizer.reset();
  Batch batch;
  ASSERT_OK(gnnmg_loader_next(loop.loader, batch.out(), -1));
  ASSERT_OK(gnnmg_model_forward(loop.model, batch, nullptr));
  ASSERT_OK(gnnmg_model_backward(loop.model, GNNMG_LOSS_AUTO, nullptr));
  const auto state = [&] {
    Tensor weights, gradients;
    EXPECT_OK(gnnmg_model_export_parameters(loop.model, weights.out()));
    EXPECT_OK(gnnmg_model_export_gradients(loop.model, gradients.out()));
    auto facts = info<gnnmg_model_info>();
    EXPECT_OK(gnnmg_model_get_info(loop.model, &facts));
    EXPECT_EQ(facts.device == GNNMG_DEVICE_CUDA ? facts.device_index : -1, gpu_of(weights));
    return std::tuple(gpu_of(weights), fetch<float>(loop.context, weights),
                      fetch<float>(loop.context, gradients));
  };
  const auto before = state();
  const TempDir folder;
  const std::string file = folder.file("there.safetensors");
  for (const int gpu : {1, 0, 0, -1}) {
    ASSERT_OK(gnnmg_model_set_device(loop.model, gpu < 0 ? GNNMG_DEVICE_CPU : GNNMG_DEVICE_CUDA,
                                     std::max(gpu, 0), 0));
    const auto now = state();
    EXPECT_EQ(std::get<0>(now), gpu);
    EXPECT_EQ(std::get<1>(now), std::get<1>(before));
    EXPECT_EQ(std::get<2>(now), std::get<2>(before));
    Model copy;
    ASSERT_OK(gnnmg_model_create_copy(loop.model, copy.out()));
    Tensor weights;
    ASSERT_OK(gnnmg_model_export_parameters(copy, weights.out()));
    EXPECT_EQ(gpu_of(weights), gpu);
    EXPECT_EQ(fetch<float>(loop.context, weights), std::get<1>(before));
    // Files and single tensors, in both directions.
    ASSERT_OK(gnnmg_model_save(copy, file.c_str(), nullptr, -1));
    Model other = loop.make_model();
    if (gpu >= 0) {
      ASSERT_OK(gnnmg_model_set_device(other, GNNMG_DEVICE_CUDA, 1 - gpu, 0));
    }
    ASSERT_OK(gnnmg_model_load(other, file.c_str(), nullptr, -1));
    Tensor loaded, bias;
    ASSERT_OK(gnnmg_model_export_parameters(other, loaded.out()));
    EXPECT_EQ(fetch<float>(loop.context, loaded), std::get<1>(before));
    const char* key = nullptr;
    int32_t trained = 0;
    ASSERT_OK(gnnmg_model_tensor_key(other, 0, &key, &trained));
    ASSERT_OK(gnnmg_model_export_tensor(copy, key, bias.out()));
    ASSERT_OK(gnnmg_model_set_tensor(other, key, bias));  // bias of the other GPU
  }
}

TEST(GpuLoop, OptimizersGoOnElsewhere) {
  const TempDir folder;
  const std::string states = folder.file("state.pth"), weights = folder.file("weights.pth");
  Loop whole(-1);
  whole.layers.dropout = 0;
  whole.make();
  std::vector<double> wanted = whole.epoch();
  const std::vector<double> second = whole.epoch();
  Loop first(0);
  first.layers.dropout = 0;
  first.make();
  expect_close(first.epoch(), wanted, 1e-4);
  ASSERT_OK(gnnmg_optimizer_save(first.optimizer, states.c_str(), nullptr, -1));
  ASSERT_OK(gnnmg_model_save(first.model, weights.c_str(), nullptr, -1));
  for (const int gpu : {-1, 1}) {
    Loop rest(gpu);
    rest.layers.dropout = 0;
    rest.make();
    ASSERT_OK(gnnmg_model_load(rest.model, weights.c_str(), nullptr, -1));
    ASSERT_OK(gnnmg_optimizer_load(rest.optimizer, states.c_str(), nullptr, -1));
    ASSERT_OK(gnnmg_loader_start(rest.loader, 1, 0));
    expect_close(rest.epoch(), second, 1e-4);
  }
}

// Ends of a group of threads, or of as many processes: threads of this process that join by a port.
void make_ends(const gnnmg_context* context, bool processes, int32_t ranks, gnnmg_comm** ends) {
  if (!processes) {
    EXPECT_OK(gnnmg_comm_create_group(context, ranks, nullptr, ends));
    return;
  }
  CommConfig config;
  config.port = free_port();
  config.num_processes = ranks;
  std::vector<std::thread> threads;
  for (int32_t rank = 0; rank < ranks; ++rank)
    threads.emplace_back([=] {
      CommConfig own = config;
      own.process_rank = rank;
      Context process;
      EXPECT_OK(gnnmg_context_create(GNNMG_VERSION, nullptr, process.out()));
      EXPECT_OK(gnnmg_comm_create(process, nullptr, nullptr, nullptr, &own, &ends[rank], -1));
    });
  for (std::thread& thread : threads) thread.join();
}

TEST(GpuLoop, RanksReduceTensorsThere) {
  constexpr int kRanks = 2;
  const auto run = [](bool on_gpus, bool processes) {
    World world(400);
    const Sampler sampler = world.make_sampler();
    const Model first = world.make_model();
    gnnmg_comm* ends[kRanks] = {};
    make_ends(world.context, processes, kRanks, ends);
    std::vector<float> results[kRanks];
    std::vector<std::thread> threads;
    for (int rank = 0; rank < kRanks; ++rank)
      threads.emplace_back([&, rank] {
        const Comm comm(ends[rank]);
        Model model;
        EXPECT_OK(gnnmg_model_create_copy(first, model.out()));
        LoaderConfig plan = world.plan;
        plan.rank = rank;
        plan.world_size = kRanks;
        if (on_gpus) {
          plan.device = GNNMG_DEVICE_CUDA;
          plan.device_index = rank;
          EXPECT_OK(gnnmg_model_set_device(model, GNNMG_DEVICE_CUDA, rank, 0));
        }
        Loader loader;
        Optimizer optimizer;
        Tensor gradients;
        EXPECT_OK(gnnmg_loader_create(world.dataset, sampler, &plan, plan.text(), loader.out()));
        EXPECT_OK(gnnmg_optimizer_create(model, nullptr, optimizer.out()));
        EXPECT_OK(gnnmg_model_export_gradients(model, gradients.out()));
        EXPECT_EQ(gpu_of(gradients), on_gpus ? rank : -1);
        Batch batch;
        for (int steps = 0; steps < 6;) {
          const gnnmg_status status = gnnmg_loader_next(loader, batch.out(), -1);
          if (status == GNNMG_END) continue;
          EXPECT_OK(status);
          EXPECT_OK(gnnmg_model_forward(model, batch, nullptr));
          EXPECT_OK(gnnmg_model_backward(model, GNNMG_LOSS_AUTO, nullptr));
          EXPECT_OK(gnnmg_comm_all_reduce(comm, gradients, GNNMG_REDUCE_SUM, -1));
          EXPECT_OK(gnnmg_optimizer_step(optimizer));
          ++steps;
        }
        Tensor weights;
        EXPECT_OK(gnnmg_model_export_parameters(model, weights.out()));
        results[rank] = fetch<float>(world.context, weights);
        // Gathers from a GPU to main memory, and sends from main memory to a GPU.
        std::vector<std::vector<float>> lists(kRanks, std::vector<float>(results[rank].size()));
        std::vector<Tensor> outputs;
        std::vector<gnnmg_tensor*> gathered;
        for (std::vector<float>& list : lists) {
          outputs.push_back(wrap(list));
          gathered.push_back(outputs.back());
        }
        EXPECT_OK(gnnmg_comm_all_gather(comm, weights, gathered.data(), -1));
        EXPECT_EQ(lists[0], lists[1]);
        EXPECT_EQ(lists[static_cast<size_t>(rank)], results[rank]);
        std::vector<float> sevens(results[rank].size(), rank == 0 ? 7.0f : 0.0f);
        const Tensor own = wrap(sevens);
        EXPECT_OK(gnnmg_comm_broadcast(comm, rank == 0 ? own : weights, 0, -1));
        if (rank == 1) {
          EXPECT_EQ(fetch<float>(world.context, weights), std::vector<float>(sevens.size(), 7.0f));
        }
        EXPECT_OK(gnnmg_comm_shutdown(comm, -1));
      });
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(results[0], results[1]);
    return results[0];
  };
  const std::vector<float> wanted = run(false, false);
  expect_close(run(true, false), wanted, 1e-4);
  expect_close(run(true, true), wanted, 1e-4);
}

TEST(GpuLoop, RefusesWhatLiesApart) {
  Loop here(-1), there(0), other(1);
  for (Loop* loop : {&here, &there, &other}) loop->make();
  // Model and batch of one context, on different GPUs.
  const auto forward = [&](int model_gpu, int batch_gpu) {
    Model model = here.make_model();
    if (model_gpu >= 0) {
      EXPECT_OK(gnnmg_model_set_device(model, GNNMG_DEVICE_CUDA, model_gpu, 0));
    }
    LoaderConfig plan = here.plan;
    if (batch_gpu >= 0) plan.device = GNNMG_DEVICE_CUDA, plan.device_index = batch_gpu;
    Loader loader;
    Batch batch;
    EXPECT_OK(gnnmg_loader_create(here.dataset, here.sampler, &plan, plan.text(), loader.out()));
    EXPECT_OK(gnnmg_loader_next(loader, batch.out(), -1));
    return gnnmg_model_forward(model, batch, nullptr);
  };
  EXPECT_OK(forward(0, 0));
  EXPECT_FAILS(forward(0, -1), GNNMG_ERR_INVALID_ARGUMENT,
               "the model lies on GPU 0 and the mini-batch in main memory; move the model with "
               "gnnmg_model_set_device()");
  EXPECT_FAILS(forward(-1, 1), GNNMG_ERR_INVALID_ARGUMENT,
               "the model lies in main memory and the mini-batch on GPU 1");
  EXPECT_FAILS(forward(1, 0), GNNMG_ERR_INVALID_ARGUMENT,
               "the model lies on GPU 1 and the mini-batch on GPU 0");
  // An explicit sample is in main memory.
  const int64_t seed = 3;
  Batch sample;
  ASSERT_OK(gnnmg_sampler_sample(there.sampler, there.dataset, &seed, 1, nullptr, 0, 0, 0,
                                 sample.out(), -1));
  Tensor logits;
  EXPECT_FAILS(gnnmg_model_infer(there.model, sample, logits.out()), GNNMG_ERR_INVALID_ARGUMENT,
               "the model lies on GPU 0 and the mini-batch in main memory");
}

TEST(GpuLoop, RefusesToMoveWhatIsUsed) {
  Loop loop(0);
  loop.make();
  EXPECT_FAILS(gnnmg_model_set_device(loop.model, GNNMG_DEVICE_CPU, 0, 0), GNNMG_ERR_BUSY,
               "an optimizer or a trainer works on the model where it lies");
  Trainer trainer;
  loop.training.device = GNNMG_DEVICE_CPU;
  EXPECT_FAILS(gnnmg_trainer_create(loop.model, loop.dataset, loop.sampler, nullptr, &loop.training,
                                    loop.training.text(), trainer.out()),
               GNNMG_ERR_UNSUPPORTED, "the model lies on GPU 0, and a trainer");
  loop.optimizer.reset();
  ASSERT_OK(gnnmg_model_set_device(loop.model, GNNMG_DEVICE_CPU, 0, 0));
  ASSERT_OK(gnnmg_trainer_create(loop.model, loop.dataset, loop.sampler, nullptr, &loop.training,
                                 loop.training.text(), trainer.out()));
  EXPECT_FAILS(gnnmg_model_set_device(loop.model, GNNMG_DEVICE_CUDA, 0, 0), GNNMG_ERR_BUSY,
               "an optimizer or a trainer");
  trainer.reset();
  EXPECT_OK(gnnmg_model_set_device(loop.model, GNNMG_DEVICE_CUDA, 0, 0));
}

TEST(GpuLoop, RefusesPlacesThatAreNone) {
  Loop loop(-1);
  loop.make();
  loop.optimizer.reset();
  EXPECT_FAILS(gnnmg_model_set_device(loop.model, GNNMG_DEVICE_CUDA, 2, 0), GNNMG_ERR_NOT_FOUND,
               "argument 'index' is 2, but this process sees 2 GPUs, 0 to 1");
  EXPECT_FAILS(gnnmg_model_set_device(loop.model, GNNMG_DEVICE_CUDA, -1, 0), GNNMG_ERR_NOT_FOUND,
               "argument 'index' is -1");
  EXPECT_FAILS(gnnmg_model_set_device(loop.model, GNNMG_DEVICE_AUTO, 0, 0),
               GNNMG_ERR_INVALID_ARGUMENT, "device is 0");
  EXPECT_FAILS(gnnmg_model_set_device(loop.model, GNNMG_DEVICE_CPU, 1, 0),
               GNNMG_ERR_INVALID_ARGUMENT, "index is 1, but device is GNNMG_DEVICE_CPU");
  EXPECT_FAILS(gnnmg_model_set_device(loop.model, GNNMG_DEVICE_CUDA, 0, 2), GNNMG_ERR_UNSUPPORTED,
               "argument 'stream' is 2, CUDA's per-thread stream");
  const auto refused = [&](auto change, gnnmg_status status, const std::string& part) {
    LoaderConfig plan = loop.plan;
    change(plan);
    Loader loader;
    EXPECT_FAILS(gnnmg_loader_create(loop.dataset, loop.sampler, &plan, plan.text(), loader.out()),
                 status, part);
  };
  refused([](auto& c) { c.device = 2, c.device_index = 7; }, GNNMG_ERR_NOT_FOUND,
          "device_index is 7, but this process sees 2 GPUs");
  refused([](auto& c) { c.device = 3; }, GNNMG_ERR_INVALID_ARGUMENT, "config.device is 3");
  refused([](auto& c) { c.device_index = 1; }, GNNMG_ERR_INVALID_ARGUMENT,
          "device_index is of a GPU, but device is auto");
  refused([](auto& c) { c.stream = 1; }, GNNMG_ERR_INVALID_ARGUMENT,
          "stream is of a GPU, but device is auto");
  refused([](auto& c) { c.device = 2, c.stream = 2; }, GNNMG_ERR_UNSUPPORTED,
          "stream is 2, CUDA's per-thread stream");
  refused([](auto& c) { c.set("graph_placement=4"); }, GNNMG_ERR_INVALID_ARGUMENT,
          "settings: graph_placement=4");
  refused([](auto& c) { c.set("hotness=3"); }, GNNMG_ERR_INVALID_ARGUMENT, "settings: hotness=3");
  refused([](auto& c) { c.padding0 = 1; }, GNNMG_ERR_INVALID_ARGUMENT, "config.padding0 is 1");
}

TEST(GpuLoop, TakesGpuTensorsWhereItSaysSo) {
  Loop loop(0);
  loop.make();
  Tensor weights, imported;
  ASSERT_OK(gnnmg_model_export_parameters(loop.model, weights.out()));
  EXPECT_FAILS(gnnmg_graph_import_node_tensor(loop.graph, 0, "far", weights), GNNMG_ERR_UNSUPPORTED,
               "lies on GPU 0, expected main memory; gnnmg_tensor_copy() copies it there");
  std::vector<float> few(3);
  const Tensor small = wrap(few);
  EXPECT_FAILS(gnnmg_tensor_copy(loop.context, weights, small), GNNMG_ERR_INVALID_ARGUMENT,
               "argument 'to' is f32 [3], expected f32 [");
  Batch batch;
  Tensor ids;
  ASSERT_OK(gnnmg_loader_next(loop.loader, batch.out(), -1));
  ASSERT_OK(gnnmg_batch_export_node_ids(batch, 0, ids.out()));
  EXPECT_FAILS(gnnmg_tensor_copy(loop.context, ids, ids), GNNMG_ERR_INVALID_ARGUMENT,
               "argument 'to' is a read-only tensor, but is written");
  // Moves to the GPU and back.
  const std::vector<float> before = fetch<float>(loop.context, weights);
  std::vector<float> ones(before.size(), 1.0f);
  ASSERT_OK(gnnmg_tensor_copy(loop.context, wrap(ones), weights));
  EXPECT_EQ(loop.parameters<float>(), ones);
}

TEST(GpuLoop, PartsMayGoInAnyOrder) {
  const int64_t live = num_live(0) + num_live(1);
  for (int order = 0; order < 6; ++order) {
    Tensor features, weights, ids;
    {
      Loop loop(order % 2);
      loop.make();
      Batch batch;
      ASSERT_OK(gnnmg_loader_next(loop.loader, batch.out(), -1));
      ASSERT_OK(gnnmg_model_forward(loop.model, batch, nullptr));
      ASSERT_OK(gnnmg_batch_export_features(batch, 0, features.out()));
      ASSERT_OK(gnnmg_batch_export_node_ids(batch, 0, ids.out()));
      ASSERT_OK(gnnmg_model_export_parameters(loop.model, weights.out()));
      if (order < 2) loop.model.reset();
      if (order >= 2 && order < 4) loop.loader.reset();
      if (order >= 4) batch.reset();
      if (order < 2) loop.optimizer.reset();
      if (order >= 4) {
        ASSERT_OK(gnnmg_model_backward(loop.model, GNNMG_LOSS_AUTO, nullptr));
        ASSERT_OK(gnnmg_optimizer_step(loop.optimizer));
      }
    }
    auto facts = info<gnnmg_tensor_info>();
    ASSERT_OK(gnnmg_tensor_get_info(features, &facts));
    World other(10);
    EXPECT_EQ(fetch<float>(other.context, features).size(),
              static_cast<size_t>(facts.num_elements));
    EXPECT_FALSE(fetch<int64_t>(other.context, ids).empty());
    EXPECT_FALSE(fetch<float>(other.context, weights).empty());
  }
  EXPECT_TRUE(eventually([&] { return num_live(0) + num_live(1) <= live; }))
      << num_live(0) + num_live(1) << " allocations, " << live << " before";
}

TEST(GpuLoop, SaysWhatDoesNotFit) {
  set_memory(0, 64 << 10);
  Loop loop(-1);
  loop.layers.hidden_dim = 512;
  Model model = loop.make_model();
  EXPECT_FAILS(gnnmg_model_set_device(model, GNNMG_DEVICE_CUDA, 0, 0), GNNMG_ERR_NO_MEMORY,
               "GPU 0");
  loop.plan.device = GNNMG_DEVICE_CUDA;
  loop.plan.set("graph_placement=device feature_placement=device");
  set_memory(0, 1 << 10);
  const Sampler sampler = loop.make_sampler();
  Loader loader;
  EXPECT_FAILS(
      gnnmg_loader_create(loop.dataset, sampler, &loop.plan, loop.plan.text(), loader.out()),
      GNNMG_ERR_NO_MEMORY, "GPU 0");
  // The model is unchanged, and moves once there is memory.
  set_memory(0, int64_t{1} << 30);
  EXPECT_OK(gnnmg_model_set_device(model, GNNMG_DEVICE_CUDA, 0, 0));
  EXPECT_OK(gnnmg_loader_create(loop.dataset, sampler, &loop.plan, loop.plan.text(), loader.out()));
  Batch batch;
  ASSERT_OK(gnnmg_loader_next(loader, batch.out(), -1));
  EXPECT_OK(gnnmg_model_forward(model, batch, nullptr));
  EXPECT_OK(gnnmg_model_backward(model, GNNMG_LOSS_AUTO, nullptr));
}

// A GPU reads ids unchecked, so one beyond the weights would end the process.
TEST(GpuLoop, RefusesNodesThatAModelHasNoWeightsFor) {
  constexpr int64_t kNodes = 400;
  Loop loop(1);
  std::vector<int64_t> next(kNodes), all(kNodes), types(kNodes);
  for (int64_t i = 0; i < kNodes; ++i) {
    all[i] = i;
    next[i] = (i + 1) % kNodes;
    types[i] = i % 3;
  }
  Graph ring;
  Dataset data;
  ASSERT_OK(gnnmg_graph_create_from_coo(loop.context, kNodes, all.data(), next.data(),
                                        GNNMG_DTYPE_I64, kNodes, ring.out()));
  for (const char* name : {"y", "edge_type"}) {
    const auto set = *name == 'y' ? gnnmg_graph_set_node_tensor : gnnmg_graph_set_edge_tensor;
    ASSERT_OK(set(ring, 0, name, types.data(), GNNMG_DTYPE_I64, 1, &kNodes));
  }
  ASSERT_OK(gnnmg_dataset_create(ring, nullptr, "y", GNNMG_TASK_MULTICLASS, 3, data.out()));
  ASSERT_OK(gnnmg_dataset_add_split(data, "all", all.data(), kNodes, nullptr, 0, nullptr, 0));
  Sampler sampler;
  ASSERT_OK(gnnmg_sampler_create(ring, &loop.sampling, loop.sampling.text(), sampler.out()));
  for (const char* input : {"input=embedding", "input=nodes"})
    for (const char* placement : {"graph_placement=device", "graph_placement=host"}) {
      LoaderConfig plan = loop.plan;
      plan.set(placement);
      Loader loader;
      Batch batch;
      ASSERT_OK(gnnmg_loader_create(data, sampler, &plan, plan.text(), loader.out()));
      ASSERT_OK(gnnmg_loader_next(loader, batch.out(), -1));
      for (const int64_t known : {kNodes - 1, kNodes}) {
        ModelConfig config = loop.layers;
        config.architecture = GNNMG_ARCHITECTURE_RGCN;
        config.set(input);
        config.input_dim = known;
        Model model;
        ASSERT_OK(gnnmg_model_create(loop.context, data, &config, config.text(), model.out()));
        ASSERT_OK(gnnmg_model_set_device(model, GNNMG_DEVICE_CUDA, 1, 0));
        const gnnmg_status status = gnnmg_model_forward(model, batch, nullptr);
        if (known == kNodes) {
          EXPECT_EQ(status, GNNMG_OK) << gnnmg_last_error();
        } else {
          EXPECT_FAILS(
              status, GNNMG_ERR_RANGE,
              "of a graph of 400 nodes, and the model has weights for those from 0 to 398");
        }
      }
    }
}

TEST(GpuLoop, NamesTheGpuThatIsLost) {
  Loop loop(1);
  loop.make();
  Batch batch, next;
  ASSERT_OK(gnnmg_loader_next(loop.loader, batch.out(), -1));
  ASSERT_OK(gnnmg_model_forward(loop.model, batch, nullptr));
  Tensor weights, ids;
  ASSERT_OK(gnnmg_model_export_parameters(loop.model, weights.out()));
  lose(1);
  EXPECT_FAILS(gnnmg_model_backward(loop.model, GNNMG_LOSS_AUTO, nullptr), GNNMG_ERR_DEVICE_LOST,
               "GPU 1 (fake GPU at 0000:02:00.0) is lost");
  EXPECT_FAILS(gnnmg_model_forward(loop.model, batch, nullptr), GNNMG_ERR_DEVICE_LOST, "GPU 1");
  EXPECT_FAILS(gnnmg_optimizer_step(loop.optimizer), GNNMG_ERR_DEVICE_LOST, "GPU 1");
  EXPECT_FAILS(gnnmg_batch_export_node_ids(batch, 0, ids.out()), GNNMG_ERR_DEVICE_LOST, "GPU 1");
  std::vector<float> list(static_cast<size_t>(shape_of(weights)[0]));
  EXPECT_EQ(gnnmg_tensor_copy(loop.context, weights, wrap(list)), GNNMG_ERR_DEVICE_LOST);
  gnnmg_status status;
  while ((status = gnnmg_loader_next(loop.loader, next.out(), -1)) == GNNMG_OK) next.reset();
  EXPECT_EQ(status, GNNMG_ERR_DEVICE_LOST) << gnnmg_last_error();
  // Everything can still be freed, and the other GPU works.
  find_again(1);
  Loop other(0);
  other.make();
  EXPECT_FALSE(other.epoch().empty());
}

}  // namespace
}  // namespace gnnmg::test
