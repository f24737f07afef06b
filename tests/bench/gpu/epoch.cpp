// Whole epochs of training through the trainer: bars 17 and 18.
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "bench/gpu/tasks.h"
#include "bench/gpu/waits.h"
#include "data/split.h"
#include "nn/model/model.h"
#include "train/trainer.h"

namespace gnnmg::bench {
namespace {

constexpr int64_t kClasses = 47;

train::Capture capture_of(const std::string& word) {
  if (word == "captured") return train::Capture::kOn;
  if (word == "eager") return train::Capture::kOff;
  if (word == "unpadded") return train::Capture::kUnpadded;
  base::fail(base::Status::kInvalidArgument, "captured, eager or unpadded, not ", word);
}

train::Precision precision_of(const std::string& word) {
  if (word == "float32") return train::Precision::kFull;
  if (word == "tf32") return train::Precision::kTf32;
  if (word == "bf16") return train::Precision::kBf16;
  base::fail(base::Status::kInvalidArgument, "no such precision: ", word);
}

loader::FeaturePlacement place_of(const std::string& word) {
  if (word == "device") return loader::FeaturePlacement::kDevice;
  if (word == "pinned") return loader::FeaturePlacement::kPinned;
  base::fail(base::Status::kInvalidArgument, "no such place: ", word);
}

// A training on GPU 0 that runs as many epochs as requested.
class Training {
 public:
  Training(const World& world, loader::FeaturePlacement features, train::Capture capture,
           train::Precision precision) {
    std::vector<data::Split> splits{data::split_from_ids(world.train, {}, {}, world.size.num_nodes,
                                                         "train", 0, "the benchmark's ids")};
    const data::DatasetRef dataset =
        data::make_dataset(world.graph, "x", "y", false, std::move(splits), kClasses);
    nn::ModelConfig model;
    model.input_dim = dataset->feature_dim();
    model.hidden_dim = world.size.hidden;
    model.output_dim = kClasses;
    model.num_layers = static_cast<int>(world.size.fanouts.size());
    model.dropout = 0.5;
    train::TrainerConfig config;
    config.num_ranks = 0;
    config.devices = {0};
    config.placement.graph = loader::GraphPlacement::kDevice;
    config.placement.features = features;
    config.capture = capture;
    config.precision = precision;
    config.num_epochs = int64_t{1} << 20;
    config.batch_size = world.size.batch_size;
    config.optimizer.learning_rate = 0.003;
    config.prefetch = 8;
    config.evaluate_every = 0;
    config.keep_best = false;
    std::shared_ptr<nn::Model> made = nn::make_model(model);
    auto sampler = nn::training_sampler(
        *made, sample::make_neighbor_sampler(world.graph, world.law(true)), false);
    trainer_ =
        train::Trainer::create(std::move(made), dataset, std::move(sampler), config,
                               {host_, log_, pool_, nullptr, 300'000, &watched(gpu_table())});
    trainer_->set_epoch_function([this](const train::EpochReport& report) {
      const Calls now = calls();
      const auto at = std::chrono::steady_clock::now();  // includes everything between epochs
      seconds_.push_back(std::chrono::duration<double>(at - last_).count());
      last_ = at;
      spent_ = {now.waits - before_.waits, now.allocations - before_.allocations,
                now.pageable - before_.pageable};
      before_ = now;
      const Waits waited = waits();
      waited_ = {waited.asked - waited_before_.asked, waited.waitings - waited_before_.waitings,
                 waited.stalls - waited_before_.stalls, waited.seconds - waited_before_.seconds,
                 waited.stalled_seconds - waited_before_.stalled_seconds};
      waited_before_ = waited;
      report_ = report;
      if (static_cast<int64_t>(seconds_.size()) == wanted_) trainer_->stop();
      return 0;
    });
  }

  std::string run(int64_t epochs) {
    wanted_ = epochs;
    seconds_.clear();
    last_ = std::chrono::steady_clock::now();
    trainer_->start();
    trainer_->wait({});
    // The number of padded mini-batches so far and their shapes, which the trainer reports when it
    // stops.
    std::string shapes;
    constexpr std::string_view kSaid = ": padded mini-batches: ";
    while (const auto record = log_.next())
      if (const size_t at = record->text.find(kSaid); at != std::string::npos)
        shapes = record->text.substr(at + kSaid.size());
    std::string list;
    for (const double seconds : seconds_) list += base::text(list.empty() ? "" : ", ", seconds);
    return base::text(
        "\"seconds\": [", list, "], \"steps\": ", report_.steps, ", \"waits\": ", spent_.waits,
        ", \"allocations\": ", spent_.allocations, ", \"pageable\": ", spent_.pageable,
        ", \"asked\": ", waited_.asked, ", \"waitings\": ", waited_.waitings,
        ", \"waiting_seconds\": ", waited_.seconds, ", \"stalls\": ", waited_.stalls,
        ", \"stalled_seconds\": ", waited_.stalled_seconds,
        ", \"sample\": ", report_.sample_seconds, ", \"gather\": ", report_.gather_seconds,
        ", \"wait\": ", report_.wait_seconds, ", \"compute\": ", report_.compute_seconds,
        ", \"loss\": ", report_.train_loss, ", \"shapes\": \"", shapes, "\"");
  }

 private:
  base::HostQueue host_;
  base::HostQueue::Entry entry_{host_};
  base::Log log_;
  base::ThreadPool pool_;
  std::unique_ptr<train::Trainer> trainer_;
  std::vector<double> seconds_;
  train::EpochReport report_;
  Calls before_, spent_;
  Waits waited_before_, waited_;
  std::chrono::steady_clock::time_point last_;
  int64_t wanted_ = 0;
};

}  // namespace

void add_epoch_tasks(Tasks& tasks, const World& world) {
  auto kept = std::make_shared<std::map<std::string, std::unique_ptr<Training>>>();
  tasks["epoch"] = [kept, &world](const Words& words) {
    std::unique_ptr<Training>& found =
        (*kept)[base::text(words.at(1), " ", words.at(2), " ", words.at(3))];
    if (!found)
      found = std::make_unique<Training>(world, place_of(words[1]), capture_of(words[2]),
                                         precision_of(words[3]));
    return found->run(std::stoll(words.at(4)));
  };
}

}  // namespace gnnmg::bench
