// Objects for the generated misuse sweep: one live object of each kind, and every sort of bad
// handle.
#pragma once

#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "capi/support.h"
#include "support/temp_dir.h"

namespace gnnmg::test {

inline int32_t misuse_gnnmg_layer_fn(const gnnmg_layer_info*, const int64_t*, int64_t, gnnmg_sink*,
                                     void*) {
  return 0;
}
inline int32_t misuse_gnnmg_epoch_fn(const gnnmg_epoch_info*, void*) { return 0; }
inline int32_t misuse_gnnmg_loss_fn(gnnmg_loss_batch*, void*) { return 0; }

// A value other than NULL and 0, to check that a call has cleared it.
template <typename T>
T garbage() {
  T value;
  std::memset(&value, 0x5a, sizeof value);
  return value;
}

// A struct of a later version with a field set that this version does not know.
template <typename T>
class Later {
 public:
  explicit Later(const T& known) {
    T grown = known;
    grown.struct_size = static_cast<uint32_t>(bytes_.size());
    std::memcpy(bytes_.data(), &grown, sizeof grown);
    bytes_.back() = 1;
  }
  const T* get() const { return reinterpret_cast<const T*>(bytes_.data()); }

 private:
  alignas(T) std::array<unsigned char, sizeof(T) + 16> bytes_{};
};

struct MisuseWorld {
  World parts{100};
  Sampler sampler = parts.make_sampler();
  Loader loader = parts.make_loader(sampler);
  Batch batch;
  Model model = parts.make_model();
  Optimizer optimizer;
  std::vector<Comm> comms;
  Trainer trainer;
  Predictor predictor = make_predictor();
  TempDir dir;
  Server server;
  std::vector<float> numbers = std::vector<float>(4);
  Tensor tensor = wrap(numbers);
  gnnmg_tensor* tensor_list[2] = {tensor, tensor};
  gnnmg_comm* comm_slots[2] = {};
  Model stack;  // custom layers

  MisuseWorld() {
    EXPECT_OK(gnnmg_loader_next(loader, batch.out(), -1));
    EXPECT_OK(gnnmg_optimizer_create(model, nullptr, optimizer.out()));
    gnnmg_comm* ends[2];
    EXPECT_OK(gnnmg_comm_create_group(parts.context, 2, nullptr, ends));
    for (gnnmg_comm* end : ends) comms.emplace_back(end);
    trainer = parts.make_trainer(model, sampler);
    EXPECT_OK(gnnmg_dataset_save_parts(parts.dataset, dir.file("parts").c_str(), nullptr, 0,
                                       nullptr, "fanouts=none", -1));
    server = make_server();
    EXPECT_OK(gnnmg_model_create(parts.context, parts.dataset, nullptr, "architecture=layers",
                                 stack.out()));
  }

  Predictor make_predictor() const {
    Predictor made;
    EXPECT_OK(gnnmg_predictor_create(model, parts.dataset, nullptr, made.out()));
    return made;
  }

  Server make_server() const {
    Server made;
    EXPECT_OK(gnnmg_server_create(parts.context, dir.file("parts").c_str(), nullptr, 0,
                                  "127.0.0.1:0", nullptr, nullptr, made.out(), -1));
    return made;
  }

  std::vector<const void*> all() const {
    return {parts.context.get(), parts.graph.get(), parts.dataset.get(), sampler.get(),
            loader.get(),        batch.get(),       model.get(),         optimizer.get(),
            comms[0].get(),      trainer.get(),     server.get(),        predictor.get(),
            tensor.get()};
  }

  template <typename T>
  T* live() const {
    if constexpr (std::is_same_v<T, gnnmg_context>) return parts.context;
    if constexpr (std::is_same_v<T, gnnmg_graph>) return parts.graph;
    if constexpr (std::is_same_v<T, gnnmg_dataset>) return parts.dataset;
    if constexpr (std::is_same_v<T, gnnmg_sampler>) return sampler;
    if constexpr (std::is_same_v<T, gnnmg_loader>) return loader;
    if constexpr (std::is_same_v<T, gnnmg_batch>) return batch;
    if constexpr (std::is_same_v<T, gnnmg_model>) return model;
    if constexpr (std::is_same_v<T, gnnmg_optimizer>) return optimizer;
    if constexpr (std::is_same_v<T, gnnmg_comm>) return comms[0];
    if constexpr (std::is_same_v<T, gnnmg_trainer>) return trainer;
    if constexpr (std::is_same_v<T, gnnmg_server>) return server;
    if constexpr (std::is_same_v<T, gnnmg_predictor>) return predictor;
    if constexpr (std::is_same_v<T, gnnmg_tensor>) return tensor;
    return nullptr;  // a sink exists only in a callback
  }

  // A freed handle.
  template <typename T>
  const void* freed() {
    if constexpr (std::is_same_v<T, gnnmg_graph>) {
      Graph graph;
      EXPECT_OK(gnnmg_graph_create(parts.context, graph.out()));
      return graph;
    } else if constexpr (std::is_same_v<T, gnnmg_context>) {
      Context context;
      ContextConfig config;
      config.num_threads = 1;
      EXPECT_OK(gnnmg_context_create(GNNMG_VERSION, &config, context.out()));
      return context;
    } else if constexpr (std::is_same_v<T, gnnmg_dataset>) {
      Dataset dataset;
      EXPECT_OK(
          gnnmg_dataset_create(parts.graph, nullptr, nullptr, GNNMG_TASK_NONE, 0, dataset.out()));
      return dataset;
    } else if constexpr (std::is_same_v<T, gnnmg_sampler>) {
      return parts.make_sampler().get();
    } else if constexpr (std::is_same_v<T, gnnmg_loader>) {
      return parts.make_loader(sampler).get();
    } else if constexpr (std::is_same_v<T, gnnmg_batch>) {
      Batch sampled;
      const int64_t seed = 0;
      EXPECT_OK(
          gnnmg_sampler_sample(sampler, nullptr, &seed, 1, nullptr, 0, 0, 0, sampled.out(), -1));
      return sampled;
    } else if constexpr (std::is_same_v<T, gnnmg_model>) {
      return parts.make_model().get();
    } else if constexpr (std::is_same_v<T, gnnmg_optimizer>) {
      Optimizer other;
      EXPECT_OK(gnnmg_optimizer_create(model, nullptr, other.out()));
      return other;
    } else if constexpr (std::is_same_v<T, gnnmg_comm>) {
      Comm comm;
      EXPECT_OK(gnnmg_comm_create_group(parts.context, 1, nullptr, comm.out()));
      return comm;
    } else if constexpr (std::is_same_v<T, gnnmg_trainer>) {
      return parts.make_trainer(model, sampler).get();
    } else if constexpr (std::is_same_v<T, gnnmg_server>) {
      return make_server().get();
    } else if constexpr (std::is_same_v<T, gnnmg_predictor>) {
      return make_predictor().get();
    } else if constexpr (std::is_same_v<T, gnnmg_tensor>) {
      return wrap(numbers).get();
    } else {
      return stale_sink();
    }
  }

  // The sink of a callback that has returned.
  const void* stale_sink() {
    const void* seen = nullptr;
    Sampler custom;
    EXPECT_OK(gnnmg_sampler_create_custom(
        parts.graph, nullptr, nullptr,
        [](const gnnmg_layer_info*, const int64_t*, int64_t, gnnmg_sink* sink, void* out) {
          *static_cast<const void**>(out) = sink;
          return int32_t{0};
        },
        &seen, nullptr, custom.out()));
    Batch sampled;
    const int64_t seed = 0;
    EXPECT_OK(gnnmg_sampler_sample(custom, nullptr, &seed, 1, nullptr, 0, 0, 0, sampled.out(), -1));
    return seen;
  }

  // All values that are no live handle of a T.
  template <typename T>
  std::vector<const void*> bad(bool with_null) {
    std::vector<const void*> list;
    if (with_null) list.push_back(nullptr);
    list.push_back(freed<T>());
    for (const void* other : all())
      if (other != live<T>()) list.push_back(other);
    static std::mt19937_64 random(1);
    for (int i = 0; i < 20; ++i) list.push_back(reinterpret_cast<const void*>(random()));
    for (uint64_t bits : {uint64_t{1}, uint64_t{0xdeadbeef}, ~uint64_t{0}, uint64_t{1} << 63})
      list.push_back(reinterpret_cast<const void*>(bits));
    const auto near = reinterpret_cast<uint64_t>(live<T>());
    for (uint64_t flip :
         {uint64_t{1}, uint64_t{1} << 31, uint64_t{1} << 33, uint64_t{1} << 55, uint64_t{1} << 60})
      list.push_back(reinterpret_cast<const void*>(near ^ flip));
    static int local;
    list.push_back(&local);
    return list;
  }

  // Checks that failed calls have freed and changed nothing.
  void expect_untouched() const {
    int32_t count = 0;
    int64_t large = 0;
    auto context = info<gnnmg_context_info>();
    EXPECT_OK(gnnmg_context_get_info(parts.context, &context));
    EXPECT_OK(gnnmg_graph_num_nodes(parts.graph, 0, &large));
    EXPECT_EQ(large, 100);
    auto dataset = info<gnnmg_dataset_info>();
    EXPECT_OK(gnnmg_dataset_get_info(parts.dataset, &dataset));
    EXPECT_EQ(dataset.num_splits, 1);
    EXPECT_OK(gnnmg_sampler_num_layers(sampler, &count));
    auto loader_facts = info<gnnmg_loader_info>();
    EXPECT_OK(gnnmg_loader_get_info(loader, &loader_facts));
    auto batch_facts = info<gnnmg_batch_info>();
    EXPECT_OK(gnnmg_batch_get_info(batch, &batch_facts));
    auto model_facts = info<gnnmg_model_info>();
    EXPECT_OK(gnnmg_model_get_info(model, &model_facts));
    double rate = 0;
    EXPECT_OK(gnnmg_optimizer_learning_rate(optimizer, &rate));
    EXPECT_OK(gnnmg_comm_rank(comms[0], &count));
    auto progress = info<gnnmg_progress_info>();
    EXPECT_OK(gnnmg_trainer_progress(trainer, &progress));
    EXPECT_EQ(progress.state, GNNMG_TRAINER_STATE_IDLE);
    auto served = info<gnnmg_server_info>();
    EXPECT_OK(gnnmg_server_get_info(server, &served));
    EXPECT_EQ(served.num_served, 2);
    auto predicting = info<gnnmg_predictor_info>();
    EXPECT_OK(gnnmg_predictor_get_info(predictor, &predicting));
    EXPECT_EQ(predicting.num_ids, 100);
    EXPECT_EQ(predicting.num_calls, 0);
    EXPECT_EQ(shape_of(tensor), std::vector<int64_t>{4});
  }
};

class Misuse : public testing::Test {
 public:
  static void SetUpTestSuite() { shared = new MisuseWorld; }
  static void TearDownTestSuite() {
    delete shared;
    shared = nullptr;
  }
  MisuseWorld& world = *shared;

 private:
  static inline MisuseWorld* shared = nullptr;
};

// Texts that are no settings of a subject.
inline std::vector<std::string> bad_settings(const char* subject) {
  std::vector<std::string> bad = {"nonsense",
                                  "=1",
                                  "\"",
                                  "\"no\"=1",
                                  "no_such_setting=1",
                                  "\xff=1",
                                  std::string(1 << 20, 'a'),
                                  std::string(1 << 20, 'a') + "=1"};
  auto facts = info<gnnmg_setting_info>();
  gnnmg_status status = GNNMG_OK;
  for (int64_t i = 0; (status = gnnmg_setting_get_info(subject, i, &facts)) == GNNMG_OK; ++i) {
    const std::string name = facts.name, value = facts.default_value;
    for (const char* word : {"", "=", "=\"1", "=\"1\"2", "=\"\""}) bad.push_back(name + word);
    if (value.empty()) continue;
    bad.push_back(name + "=" + value + " " + name + "=" + value);
    bad.push_back(name + "=" + value + " nonsense");
    bad.push_back(name + "X=" + value);
    if (facts.type != std::string("text")) bad.push_back(name + "=\x01");
  }
  EXPECT_EQ(status, GNNMG_END) << subject << ": " << gnnmg_last_error();
  return bad;
}

// Sets a field; returns a text that sets it too.
inline const char* set_both_ways(gnnmg_sampler_config& config) {
  config.num_fanouts = 1;
  return "fanouts=10";
}
inline const char* set_both_ways(gnnmg_loader_config& config) {
  config.batch_size = 8;
  return "batch_size=8";
}
inline const char* set_both_ways(gnnmg_model_config& config) {
  config.output_dim = 8;
  return "output_dim=8";
}
inline const char* set_both_ways(gnnmg_trainer_config& config) {
  config.learning_rate = 0.5;
  return "learning_rate=0.25";
}
inline const char* set_both_ways(gnnmg_parts_config& config) {
  config.num_parts = 4;
  return "num_parts=4";
}
inline const char* set_both_ways(gnnmg_served_config& config) {
  config.max_in_flight = 4;
  return "max_in_flight=4";
}

}  // namespace gnnmg::test

using namespace gnnmg::test;
