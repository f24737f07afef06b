// The models that read single neighborhoods, the work that justifies a second thread, and canceled
// calls.
#include "predict/predictor.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <numeric>
#include <vector>

#include "base/error.h"
#include "feature/store.h"
#include "train/fixture.h"

namespace gnnmg::test {
namespace {

using predict::Output;
using predict::Predictor;
using predict::PredictorConfig;

nn::ModelConfig small_config() {
  nn::ModelConfig config = Recipe().model;
  config.input_dim = 8;
  config.output_dim = 4;
  return config;
}

predict::Subject subject(const nn::ModelConfig& config,
                         const data::DatasetRef& dataset = make_small()) {
  return {nn::make_model(config), dataset, feature::make_store(*dataset->graph, "x")};
}

TEST(Predictor, RowsOfAllNodesWhereNeighborhoodsDoNotDetermineThem) {
  const data::DatasetRef data = make_small();
  const auto all = [&](const std::function<void(nn::ModelConfig&)>& change,
                       const PredictorConfig& predicting = {}) {
    nn::ModelConfig config = small_config();
    change(config);
    return predict::needs_all_rows(*nn::make_model(config), *data, predicting);
  };
  using Config = nn::ModelConfig;
  EXPECT_FALSE(all([](Config&) {}));
  EXPECT_FALSE(all([](Config& c) { c.norm = nn::Norm::kBatch; }));
  EXPECT_FALSE(all([](Config& c) { c.architecture = nn::Architecture::kGcn; }));
  EXPECT_TRUE(all([](Config& c) { c.norm = nn::Norm::kGraph; }));
  EXPECT_TRUE(all([](Config& c) { c.aggregation = nn::Aggregation::kLstm; }));
  const auto dgl_gcn = [](Config& c) {
    c.architecture = nn::Architecture::kGcn;
    c.framework = nn::Framework::kDgl;
  };
  EXPECT_TRUE(all(dgl_gcn));
  EXPECT_FALSE(all(dgl_gcn, {.fanouts = {5, 5}}));
}

TEST(Predictor, ASecondThreadIsAMatterOfTheWork) {
  const predict::Subject small = subject(small_config());
  const Predictor drawn(small, {.fanouts = {5, 5}}, {}), whole(small, {}, {});
  EXPECT_TRUE(drawn.few(10));
  EXPECT_FALSE(drawn.few(1'000'000));
  nn::ModelConfig config = small_config();
  config.hidden_dim = 2048;
  const Predictor wide(subject(config), {.fanouts = {5, 5}}, {});
  EXPECT_TRUE(wide.few(1));
  EXPECT_FALSE(wide.few(1000));
  EXPECT_TRUE(drawn.few(1000));
}

TEST(Predictor, ACancelledCallEndsAndTheNextOneIsRight) {
  const Predictor predictor(subject(small_config()), {}, {});
  std::vector<int64_t> ids(600);
  std::iota(ids.begin(), ids.end(), 0);
  std::vector<float> before(600 * 4), after(before), none(before);
  const auto& kind = predict::kind_of(Output::kLogits);
  predictor.run(ids, kind, before.data(), {});
  base::CancelToken cancel;
  cancel.cancel();
  EXPECT_THROW(predictor.run(ids, kind, none.data(), cancel), base::Error);
  predictor.run(ids, kind, after.data(), {});
  EXPECT_EQ(after, before);
  EXPECT_EQ(predictor.num_calls(), 2);
  EXPECT_EQ(predictor.num_rows(), 1200);
}

}  // namespace
}  // namespace gnnmg::test
