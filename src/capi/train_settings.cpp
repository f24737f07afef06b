#include "capi/train_settings.h"

#include <deque>

#include "capi/device_placement.h"
#include "capi/settings.h"
#include "train/setting_list.h"

namespace gnnmg::capi {
namespace {

static_assert(static_cast<int32_t>(train::OptimizerKind::kAdam) == GNNMG_OPTIMIZER_ADAM &&
              static_cast<int32_t>(train::OptimizerKind::kAdamW) == GNNMG_OPTIMIZER_ADAMW &&
              static_cast<int32_t>(train::OptimizerKind::kSgd) == GNNMG_OPTIMIZER_SGD &&
              static_cast<int32_t>(train::OptimizerKind::kRmsProp) == GNNMG_OPTIMIZER_RMSPROP &&
              static_cast<int32_t>(train::OptimizerKind::kAdagrad) == GNNMG_OPTIMIZER_ADAGRAD);
static_assert(static_cast<int32_t>(loader::Partition::kGlobal) == GNNMG_PLAN_GLOBAL &&
              static_cast<int32_t>(loader::Partition::kDistributedSampler) ==
                  GNNMG_PLAN_DISTRIBUTED_SAMPLER &&
              static_cast<int32_t>(loader::Partition::kContiguous) == GNNMG_PLAN_CONTIGUOUS &&
              static_cast<int32_t>(loader::Partition::kParts) == GNNMG_PLAN_PARTS);

struct NoFields {};

// Rows of the lists of train/setting_list.h. `Fields`: the struct that has some of them.
template <typename Settings, typename Fields>
class SettingTable {
 public:
  std::vector<SettingRow<Settings>> rows;

  // `condition`: nullptr if the setting always has an effect.
  template <auto kGet>
  void add(const char* name, const train::Range& range, const char* help, bool is_field,
           bool (*has_effect)(const Settings&), const char* condition) {
    const std::string& text =
        texts_.emplace_back(range_text(range.low, range.above_low, range.high, range.below_high));
    const auto row =
        setting<Settings, kGet>(name, text.empty() ? nullptr : text.c_str(), help, is_field);
    rows.push_back(condition == nullptr ? row : row.only(has_effect, condition));
  }
  // `kGet`: the optimizer's config among the settings.
  template <auto kGet>
  void add_optimizer() {
    using namespace train::setting_list;
#define GNNMG_ROW(name, member, among, range, read, help) \
  add<[](auto& s) -> auto& { return kGet(s).member; }>(   \
      #name, range, help, requires(Fields f) { f.name; }, \
      [](const Settings& s) { return OfOptimizer(read)(kGet(s)); }, OfOptimizer(read).text);
    GNNMG_OPTIMIZER_SETTINGS(GNNMG_ROW)
#undef GNNMG_ROW
  }
  void add_trainer() {  // NOLINT(readability-function-size): a statement for each setting
    using namespace train::setting_list;
#define GNNMG_ROW(name, member, among, range, read, help) \
  add<[](auto& s) -> auto& { return s.config.member; }>(  \
      #name, range, help, requires(Fields f) { f.name; }, \
      [](const Settings& s) { return OfTrainer(read)(s.config); }, OfTrainer(read).text);
    GNNMG_TRAINER_SETTINGS(GNNMG_ROW)
#undef GNNMG_ROW
  }

 private:
  std::deque<std::string> texts_;
};

using OptimizerTable = SettingTable<OptimizerSettings, NoFields>;
using TrainerTable = SettingTable<TrainerSettings, gnnmg_trainer_config>;

const OptimizerTable& optimizer_table() {
  static const OptimizerTable table = [] {
    OptimizerTable made;
    made.rows.push_back(GNNMG_SETTING_AS(OptimizerSettings, "optimizer", config.kind, nullptr,
                                         train::setting_list::kKindHelp));
    made.add_optimizer<[](auto& s) -> auto& { return s.config; }>();
    made.rows.push_back(
        GNNMG_SETTING(OptimizerSettings, clip_norm, "0 or more", train::setting_list::kClipHelp));
    return made;
  }();
  return table;
}

// Ranks with device=auto look for GPUs later.
bool may_use_gpus(const TrainerSettings& s) { return s.device != DeviceType::kCpu; }
constexpr const char* kGpus = "with device=auto or cuda";

constexpr SettingRow<TrainerSettings> kDeviceRows[] = {
    GNNMG_SETTING(TrainerSettings, num_ranks, "0 to 256",
                  "Ranks in this process, one thread each. 0: one per entry of devices, else one "
                  "per GPU of this process's share (its part of the GPUs that it sees, if other "
                  "processes of the job see them too), else one on the CPU.",
                  true),
    GNNMG_SETTING(
        TrainerSettings, device, nullptr,
        "Device of the ranks.\n"
        "auto: one GPU per rank if the shares of all processes have enough GPUs, else the "
        "CPU, where settings of GPUs change nothing; the log says which and why.\n"
        "cpu: the CPU.\n"
        "cuda: one GPU per rank; too few GPUs are an error.",
        true),
    GNNMG_SETTING(TrainerSettings, devices, "0 or more",
                  "Numbers of GPUs, each once: rank r uses the r-th. Without it, the GPUs of this "
                  "process's share, from the first.")
        .only(may_use_gpus, kGpus),
    GNNMG_PLACEMENT_SETTINGS(TrainerSettings, config.placement, may_use_gpus, kGpus),
};

const TrainerTable& trainer_table() {
  static const TrainerTable table = [] {
    TrainerTable made;
    made.add_trainer();
    for (SettingRow<TrainerSettings>& row : made.rows)
      if (row.name == std::string_view("capture")) row = row.only(may_use_gpus, kGpus);
    made.add_optimizer<[](auto& s) -> auto& { return s.config.optimizer; }>();
    made.rows.insert(made.rows.end(), std::begin(kDeviceRows), std::end(kDeviceRows));
    return made;
  }();
  return table;
}

// NOLINTBEGIN(readability-function-size): statements for each setting
template <typename Fields>
void take_fields(const Fields& in, TrainerSettings& out, FieldNames& given) {
#define GNNMG_TAKE(name, member, ...) \
  if constexpr (requires { in.name; }) take_field(in.name, #name, out.config.member, given);
  GNNMG_TRAINER_SETTINGS(GNNMG_TAKE)
#undef GNNMG_TAKE
#define GNNMG_TAKE(name, member, ...)  \
  if constexpr (requires { in.name; }) \
    take_field(in.name, #name, out.config.optimizer.member, given);
  GNNMG_OPTIMIZER_SETTINGS(GNNMG_TAKE)
#undef GNNMG_TAKE
  check_choice(in.num_ranks, 0, 1024, "config.num_ranks");
  take_field(in.num_ranks, "num_ranks", out.num_ranks, given);
  take_field(in.device, "device", out.device, given);
}
// NOLINTEND(readability-function-size)

}  // namespace

std::vector<SettingFacts> optimizer_settings() {
  return list_settings<OptimizerSettings>(optimizer_table().rows, {});
}
std::vector<SettingFacts> trainer_settings() {
  return list_settings<TrainerSettings>(trainer_table().rows, {});
}

OptimizerSettings read_optimizer(const char* settings) {
  OptimizerSettings read;
  std::vector<Word> words = split_words("optimizer", settings);
  apply_words<OptimizerSettings>(words, optimizer_table().rows, read);
  read.config.check();
  return read;
}

TrainerSettings read_trainer(const gnnmg_trainer_config* config, const char* settings) {
  TrainerSettings read;
  FieldNames given;
  take_fields(read_config(config), read, given);
  std::vector<Word> words = split_words("trainer", settings);
  apply_words<TrainerSettings>(words, trainer_table().rows, read, given);
  check_placement("trainer", read.config.placement);
  return read;
}

}  // namespace gnnmg::capi
