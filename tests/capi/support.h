// Shared tools for tests of the C interface: handles that free themselves, small graphs and objects
// made from them.
#pragma once

#include <gnnmg.h>
#include <gnnmg_util.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstring>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

namespace gnnmg::test {

#define ASSERT_OK(call) ASSERT_EQ((call), GNNMG_OK) << gnnmg_last_error()
#define EXPECT_OK(call) EXPECT_EQ((call), GNNMG_OK) << gnnmg_last_error()
// Checks the status of a failed call, and a part of its text.
#define EXPECT_FAILS(call, status, part)                                     \
  do {                                                                       \
    EXPECT_EQ((call), (status)) << gnnmg_last_error();                       \
    EXPECT_NE(std::string(gnnmg_last_error()).find(part), std::string::npos) \
        << "the text is: " << gnnmg_last_error();                            \
  } while (false)

// Returns an unused port of 127.0.0.1.
int32_t free_port();

// A handle or tensor that frees itself.
template <typename T, void (*Free)(T*)>
class Owned {
 public:
  Owned() = default;
  explicit Owned(T* value) : value_(value) {}
  Owned(Owned&& other) noexcept : value_(other.release()) {}
  Owned& operator=(Owned&& other) noexcept {
    std::swap(value_, other.value_);
    return *this;
  }
  ~Owned() { Free(value_); }
  operator T*() const { return value_; }
  T* get() const { return value_; }
  T** out() {
    reset();
    return &value_;
  }
  T* release() { return std::exchange(value_, nullptr); }
  void reset() { Free(release()); }

 private:
  T* value_ = nullptr;
};
using Context = Owned<gnnmg_context, gnnmg_context_free>;
using Graph = Owned<gnnmg_graph, gnnmg_graph_free>;
using Dataset = Owned<gnnmg_dataset, gnnmg_dataset_free>;
using Sampler = Owned<gnnmg_sampler, gnnmg_sampler_free>;
using Loader = Owned<gnnmg_loader, gnnmg_loader_free>;
using Batch = Owned<gnnmg_batch, gnnmg_batch_free>;
using Model = Owned<gnnmg_model, gnnmg_model_free>;
using Optimizer = Owned<gnnmg_optimizer, gnnmg_optimizer_free>;
// The optimizer of a trainer.
inline Optimizer optimizer_of(const gnnmg_trainer* trainer) {
  Optimizer optimizer;
  EXPECT_OK(gnnmg_trainer_get_optimizer(trainer, optimizer.out()));
  return optimizer;
}
using Comm = Owned<gnnmg_comm, gnnmg_comm_free>;
using Trainer = Owned<gnnmg_trainer, gnnmg_trainer_free>;
using Predictor = Owned<gnnmg_predictor, gnnmg_predictor_free>;
using Server = Owned<gnnmg_server, gnnmg_server_free>;
using Tensor = Owned<gnnmg_tensor, gnnmg_tensor_free>;

// Adds words "name=value" to a text of settings, each in place of an earlier one of its name.
std::string with_words(const std::string& text, const std::string& words);
// A config with its defaults, and a text of further settings.
template <typename T>
class Config : public T {
 public:
  Config() : T{} { this->struct_size = sizeof(T); }
  void set(const std::string& words) { text_ = with_words(text_, words); }
  const char* text() const { return text_.c_str(); }

 private:
  std::string text_;
};
using CheckpointConfig = Config<gnnmg_checkpoint_config>;
using CommConfig = Config<gnnmg_comm_config>;
using ContextConfig = Config<gnnmg_context_config>;
using LoaderConfig = Config<gnnmg_loader_config>;
using ModelConfig = Config<gnnmg_model_config>;
using PartsConfig = Config<gnnmg_parts_config>;
using SamplerConfig = Config<gnnmg_sampler_config>;
using ServedConfig = Config<gnnmg_served_config>;
using ServerConfig = Config<gnnmg_server_config>;
using TrainerConfig = Config<gnnmg_trainer_config>;

template <typename T>
T info() {
  T value{};
  value.struct_size = sizeof value;
  return value;
}

// The elements of a tensor as a list.
template <typename T>
std::vector<T> values(const gnnmg_tensor* tensor) {
  auto facts = info<gnnmg_tensor_info>();
  EXPECT_OK(gnnmg_tensor_get_info(tensor, &facts));
  const T* data = static_cast<const T*>(facts.data);
  return {data, data + facts.num_elements};
}
std::vector<int64_t> shape_of(const gnnmg_tensor* tensor);
std::vector<double> weights_of(const gnnmg_model* model);
// A tensor over a list, which must outlive it.
template <typename T>
Tensor wrap(std::vector<T>& list) {
  const gnnmg_dtype dtype = std::is_same_v<T, float>     ? GNNMG_DTYPE_F32
                            : std::is_same_v<T, double>  ? GNNMG_DTYPE_F64
                            : std::is_same_v<T, int64_t> ? GNNMG_DTYPE_I64
                                                         : GNNMG_DTYPE_I32;
  const int64_t size = static_cast<int64_t>(list.size());
  Tensor tensor;
  EXPECT_OK(gnnmg_tensor_create(list.data(), dtype, 1, &size, nullptr, nullptr, tensor.out()));
  return tensor;
}

// A planted graph with features "x" and labels "y", and objects made from it in the order of the
// members; unwanted members stay empty.
struct World {
  explicit World(int64_t num_nodes = 300, int32_t threads = 2);
  SamplerConfig sampling;
  ModelConfig layers;
  TrainerConfig training;
  LoaderConfig plan;

  Context context;
  Graph graph;
  Dataset dataset;

  Sampler make_sampler();
  Model make_model();
  Loader make_loader(const gnnmg_sampler* sampler);
  Trainer make_trainer(gnnmg_model* model, const gnnmg_sampler* sampler);
};

// A predictor's rows for these ids, one after another.
template <typename T>
std::vector<T> predicted(const gnnmg_predictor* predictor, const std::vector<int64_t>& ids,
                         gnnmg_output output) {
  const auto count = static_cast<int64_t>(ids.size());
  size_t needed = 0, again = 0;
  EXPECT_OK(gnnmg_predictor_run(predictor, ids.data(), count, output, nullptr, 0, &needed));
  std::vector<T> rows(needed / sizeof(T));
  EXPECT_OK(gnnmg_predictor_run(predictor, ids.data(), count, output, rows.data(), needed, &again));
  EXPECT_EQ(again, needed);
  return rows;
}

// All parameters, in memory order.
std::vector<float> weights(const gnnmg_model* model);

// Repeats `call` while it returns GNNMG_PENDING; counts these results in `pending`.
template <typename Call>
gnnmg_status until_done(const Call& call, int* pending = nullptr) {
  gnnmg_status status;
  while ((status = call()) == GNNMG_PENDING)
    if (pending != nullptr) ++*pending;
  return status;
}

// Returns the status of a call that continues after GNNMG_PENDING and is then ended by `cancel`. On
// a loaded machine the call may finish first, and is repeated.
template <typename Call>
gnnmg_status begun_and_cancelled(const Call& call, const std::function<void()>& cancel) {
  gnnmg_status status = GNNMG_OK;
  for (int round = 0; round < 20 && status == GNNMG_OK; ++round) {
    status = call(0);
    if (status != GNNMG_PENDING) continue;
    cancel();
    status = until_done([&] { return call(1); });
  }
  return status;
}

// Waits for a change by another thread, at most 20 s.
template <typename Condition>
bool eventually(const Condition& condition) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  while (!condition()) {
    if (std::chrono::steady_clock::now() > end) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return true;
}

}  // namespace gnnmg::test
