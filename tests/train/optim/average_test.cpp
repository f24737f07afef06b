// Averages of the weights: PyTorch's formulas to the bit, their uses, checkpoints, and any number
// of ranks.
#include <ATen/TensorOperators.h>
#include <ATen/ops/lerp.h>
#include <c10/core/GradMode.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/file.h"
#include "comm/ranks.h"
#include "nn/model/model.h"
#include "support/temp_dir.h"
#include "train/fixture.h"

namespace gnnmg::test {
namespace {

using base::Status;
using testing::HasSubstr;
using train::Average;

// Batch norm has buffers of both kinds; an epoch has five steps of one rank.
Recipe averaging(Average average, int64_t from = 0) {
  Recipe setup;
  setup.model.norm = nn::Norm::kBatch;
  setup.trainer.num_epochs = 4;
  setup.trainer.average = average;
  setup.trainer.average_decay = 0.8;
  setup.trainer.average_from = from;
  return setup;
}

std::vector<double> weights_of(const nn::Model& model) {
  std::vector<double> all;
  const auto append = [&](const at::Tensor& tensor) {
    const at::Tensor wide = tensor.detach().to(at::kDouble).contiguous().view(-1);
    all.insert(all.end(), wide.data_ptr<double>(), wide.data_ptr<double>() + wide.numel());
  };
  append(model.flat_parameters());
  for (const nn::NamedTensor& buffer : model.buffers()) append(buffer.tensor);
  return all;
}

// torch.optim.swa_utils.AveragedModel with use_buffers, over the tensors of a model.
class AveragedModel {
 public:
  explicit AveragedModel(const nn::Model& model) : averaged_(model.clone()) {}
  void update_parameters(const nn::Model& model, const train::TrainerConfig& c) {
    const c10::NoGradGuard no_grad;
    for (const auto list : {&nn::Model::parameters, &nn::Model::buffers})
      for (size_t i = 0; i < (model.*list)().size(); ++i) {
        const at::Tensor from = (model.*list)()[i].tensor.detach();
        const at::Tensor to = ((*averaged_).*list)()[i].tensor.detach();
        if (num_averaged_ == 0 || !from.is_floating_point())
          to.copy_(from);
        else if (c.average == Average::kEma)  // get_ema_multi_avg_fn()
          to.copy_(at::lerp(to, from, 1 - c.average_decay));
        else  // get_swa_avg_fn()
          to.copy_(to + (from - to) / (num_averaged_ + 1));
      }
    ++num_averaged_;
  }
  int64_t num_averaged() const { return num_averaged_; }
  std::vector<double> weights() const { return weights_of(*averaged_); }

 private:
  std::unique_ptr<nn::Model> averaged_;
  int64_t num_averaged_ = 0;
};

// The same steps without an average tell the weights of each.
void expect_as_pytorch(const Recipe& setup) {
  Recipe plain = setup;
  plain.trainer.average = Average::kNone;
  Host host;
  Trial raw(plain, host), run(setup, host);
  AveragedModel expected(raw.model());
  const train::TrainerConfig& c = setup.trainer;
  for (int step = 0; step < 20; ++step) {
    ASSERT_EQ(raw->step({}, nullptr), Status::kOk);
    ASSERT_EQ(run->step({}, nullptr), Status::kOk);
    const bool ends = step % 5 == 4;
    if (step / 5 >= c.average_from && (c.average == Average::kEma || ends))
      expected.update_parameters(raw.model(), c);
    const bool begun = expected.num_averaged() > 0;
    EXPECT_EQ(weights_of(*run->snapshot()), begun ? expected.weights() : raw.weights()) << step;
    if (step < 19) {
      EXPECT_EQ(run.weights(), raw.weights()) << step;
    }
  }
  EXPECT_EQ(run->step({}, nullptr), Status::kEnd);
  EXPECT_EQ(run.weights(), expected.weights());
  EXPECT_NE(run.weights(), raw.weights());
}

TEST(Average, EqualsPyTorchsToTheBit) {
  for (const Average average : {Average::kEma, Average::kSwa})
    for (const int64_t from : {0, 2}) expect_as_pytorch(averaging(average, from));
}

TEST(Average, IsWhatValidationsMeasureAndKeepBestKeeps) {
  for (const Average average : {Average::kEma, Average::kSwa}) {
    Recipe setup = averaging(average);
    setup.trainer.keep_best = true;
    Host host;
    Trial run(setup, host);
    std::vector<std::vector<double>> snapshots;
    run->set_epoch_function([&](const train::EpochReport& report) {
      const std::unique_ptr<nn::Model> model = run->snapshot();
      snapshots.push_back(weights_of(*model));
      const auto ids = setup.dataset->splits[0].part(data::SplitPart::kValidation);
      const nn::Metrics found = train::evaluate_model(*model, *setup.dataset, ids,
                                                      nn::Loss::kCrossEntropy, host.pool, {});
      EXPECT_EQ(found.correct, report.validation.correct) << report.epoch;
      EXPECT_NEAR(found.loss, report.validation.loss, 1e-6) << report.epoch;
      return 0;
    });
    run.train();
    ASSERT_EQ(snapshots.size(), 4U);
    EXPECT_EQ(run.weights(), snapshots[static_cast<size_t>(run->progress().best_epoch)]);
    const auto rows = run->embed({});
    ASSERT_TRUE(rows);
    const base::Tensor again = train::embed_model(run.model(), *setup.dataset, {});
    const auto found = rows->as<const float>(), expected = again.as<const float>();
    EXPECT_TRUE(std::ranges::equal(found, expected));
  }
}

TEST(Average, GoesOnFromACheckpointWithTheSameBits) {
  for (const Average average : {Average::kEma, Average::kSwa})
    for (const int world : {1, 2}) {
      Recipe setup = averaging(average, 1);
      setup.trainer.num_ranks = world;
      setup.trainer.keep_best = world == 2;
      const std::vector<double> expected = weights_after(setup);
      const TempDir folder;
      Host host;
      Trial run(setup, host);
      const int steps = world == 1 ? 20 : 12;
      for (int step = 1; step <= steps; ++step) {
        ASSERT_EQ(run->step({}, nullptr), Status::kOk);
        const std::string path = folder.file(base::text(step));
        run->save(path);
        Trial again(setup, host);
        again->load(path);
        EXPECT_EQ(weights_of(*again->snapshot()), weights_of(*run->snapshot())) << step;
        again.train();
        EXPECT_EQ(again.weights(), expected) << world << " ranks, step " << step;
      }
    }
}

TEST(Average, OfAnotherKindIsRefusedOnceItHasBegun) {
  const Recipe setup = averaging(Average::kSwa);
  const TempDir folder;
  Host host;
  Trial run(setup, host);
  for (int step = 0; step < 6; ++step) {
    if (step == 3) run->save(folder.file("before"));
    ASSERT_EQ(run->step({}, nullptr), Status::kOk);
  }
  run->save(folder.file("begun"));
  EXPECT_TRUE(base::exists(folder.file("begun/average.safetensors")));
  EXPECT_FALSE(base::exists(folder.file("before/average.safetensors")));
  for (const Average other : {Average::kNone, Average::kEma}) {
    Trial next(averaging(other), host);
    EXPECT_NO_THROW(next->load(folder.file("before")));
    const Outcome refused = attempt([&] { next->load(folder.file("begun")); });
    EXPECT_EQ(refused.status, Status::kMismatch);
    EXPECT_THAT(refused.text, HasSubstr(other == Average::kNone ? "average is none, was swa"
                                                                : "average is ema, was swa"));
  }
}

TEST(Average, HasTheSameBitsOnAnyNumberOfRanks) {
  for (const Average average : {Average::kEma, Average::kSwa}) {
    Recipe setup = averaging(average, 1);
    setup.trainer.deterministic = true;
    setup.trainer.batches_per_step = 2;
    const std::vector<double> expected = weights_after(setup);
    for (const int world : {2, 3}) {
      setup.trainer.num_ranks = world;
      EXPECT_EQ(weights_after(setup), expected) << world;
    }
  }
}

// An average of weights that the host has replaced would be none of the new ones.
TEST(Average, BeginsAnewWithWeightsOfTheHost) {
  for (const int world : {1, 2}) {
    Recipe setup = averaging(Average::kEma);
    setup.trainer.num_ranks = world;
    Host host;
    Trial run(setup, host);
    for (int step = 0; step < 3; ++step) ASSERT_EQ(run->step({}, nullptr), Status::kOk);
    EXPECT_NE(weights_of(*run->snapshot()), run.weights());
    {
      const c10::NoGradGuard no_grad;
      run.model().flat_parameters().detach().mul_(0.5);
    }
    const auto metrics = run->evaluate(data::SplitPart::kValidation, {});
    ASSERT_TRUE(metrics);
    EXPECT_EQ(weights_of(*run->snapshot()), run.weights());
    ASSERT_EQ(run->step({}, nullptr), Status::kOk);
    EXPECT_EQ(weights_of(*run->snapshot()), run.weights());
    ASSERT_EQ(run->step({}, nullptr), Status::kOk);
    EXPECT_NE(weights_of(*run->snapshot()), run.weights());
  }
}

}  // namespace
}  // namespace gnnmg::test
