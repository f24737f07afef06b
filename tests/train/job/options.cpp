#include "train/job/options.h"

#include <cstdlib>

#include "data/split.h"

namespace gnnmg::test {

Options::Options(const std::vector<std::string>& arguments) {
  for (const std::string& argument : arguments) {
    const size_t equals = argument.find('=');
    if (equals != std::string::npos)
      given_[argument.substr(0, equals)] = argument.substr(equals + 1);
  }
}

std::string Options::text(const char* name, const char* otherwise) const {
  const auto found = given_.find(name);
  return found == given_.end() ? otherwise : found->second;
}

int64_t Options::number(const char* name, int64_t otherwise) const {
  const auto found = given_.find(name);
  return found == given_.end() ? otherwise : std::atoll(found->second.c_str());
}

namespace {

void take_nodes(const Options& options, Recipe& setup) {
  SmallData data;
  data.num_nodes = options.number("nodes", data.num_nodes);
  data.num_features = static_cast<int32_t>(options.number("features", data.num_features));
  data.num_train = options.number("train", data.num_train);
  data.nan_features = options.number("nan", data.nan_features);
  data.label_noise = options.number("noise", 0) / 100.0;
  setup.dataset = make_small(data);
}

// GIN on a set of graphs; of the training part the first `train`.
void take_graphs(const Options& options, Recipe& setup) {
  base::ThreadPool pool(1);
  base::Log log;
  auto dataset = std::make_shared<data::Dataset>(
      *data::open_dataset(options.text("graphs", ""), {}, {pool, log, {}}));
  dataset->splits = {data::random_split(*dataset, 0.81, 0.09, 1, false)};
  base::Tensor& train = dataset->splits[0].ids[0];
  train =
      base::Tensor::copy_of(train.as<const int64_t>().first(options.number("train", train.rows())));
  setup.dataset = std::move(dataset);
  setup.model.architecture = nn::Architecture::kGin;
  setup.model.num_layers = 3;
  setup.model.readout = nn::Readout::kSum;
  setup.model.jumping = nn::Jumping::kScores;
  setup.trainer.batch_size = 32;
}

}  // namespace

Recipe recipe_of(const Options& options) {
  Recipe setup;
  options.given("graphs") ? take_graphs(options, setup) : take_nodes(options, setup);
  setup.model.hidden_dim = options.number("hidden", setup.model.hidden_dim);
  setup.model.seed = static_cast<uint64_t>(options.number("model_seed", 3));
  if (options.number("f64", 0)) setup.model.dtype = base::DType::kF64;
  if (options.number("norm", 0)) setup.model.norm = nn::Norm::kBatch;
  setup.sampler.fanouts[0] = options.number("fanout", setup.sampler.fanouts[0]);
  if (options.number("all", 0)) setup.sampler.fanouts = {-1, -1};
  train::TrainerConfig& trainer = setup.trainer;
  trainer.num_ranks = static_cast<int32_t>(options.number("ranks", 1));
  trainer.batch_size = options.number("batch", trainer.batch_size);
  trainer.batches_per_step = options.number("batches", 4);
  trainer.num_epochs = options.number("epochs", trainer.num_epochs);
  trainer.seed = static_cast<uint64_t>(options.number("seed", 11));
  trainer.loader_threads = static_cast<int32_t>(options.number("loader", 1));
  trainer.deadline_ms = options.number("deadline", 30'000);
  trainer.sync_batch_norm = options.number("sync", 0) != 0;
  trainer.deterministic = options.number("strict", 0) != 0;
  trainer.stall_limit_ms = options.number("stall", trainer.stall_limit_ms);
  if (options.number("sampled", 0)) trainer.evaluation = train::EvaluationMode::kSampled;
  if (options.text("capture", "") == "off") trainer.capture = train::Capture::kOff;
  trainer.keep_best = options.number("keep_best", 0) != 0;
  trainer.early_stop_patience = options.number("patience", 0);
  if (options.text("averaged", "") == "ema") trainer.average = train::Average::kEma;
  if (options.text("averaged", "") == "swa") trainer.average = train::Average::kSwa;
  if (options.text("average", "exact") == "ranks")
    trainer.loss_average = train::LossAverage::kRanks;
  if (options.number("sgd", 0))
    trainer.optimizer = {.kind = train::OptimizerKind::kSgd, .learning_rate = 0.05};
  if (options.given("lr"))
    trainer.optimizer.learning_rate = std::atof(options.text("lr", "").c_str());
  if (options.given("steps")) set_steps(setup, options.number("steps", 1));
  return setup;
}

}  // namespace gnnmg::test
