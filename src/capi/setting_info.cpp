// The list of all settings.
#include <algorithm>
#include <map>

#include "base/names.h"
#include "capi/arguments.h"
#include "capi/settings.h"
#include "io/bytes.h"

namespace gnnmg::capi {
namespace {

using Lists = std::map<std::string, std::vector<SettingFacts>, std::less<>>;

// Never freed: callers keep pointers to the texts.
const Lists& lists() {
  static const Lists* const all = new Lists{
      {"context", context_settings()},
      {"dataset", dataset_settings()},
      {"split", split_settings()},
      {"folds", folds_settings()},
      {"parts", parts_settings()},
      {"served", served_settings()},
      {"sampler", sampler_settings()},
      {"loader", loader_settings()},
      {"model", model_settings()},
      {"norm", norm_settings()},
      {"model_file", model_file_settings()},
      {"optimizer", optimizer_settings()},
      {"trainer", trainer_settings()},
      {"predictor", predictor_settings()},
      {"planted", generator_settings("planted")},
      {"log_normal", generator_settings("log_normal")},
      {"rmat", generator_settings("rmat")},
      {"erdos_renyi", generator_settings("erdos_renyi")},
  };
  return *all;
}

const std::vector<SettingFacts>& list_of(std::string_view subject) {
  const auto found = lists().find(subject);
  if (found != lists().end()) return found->second;
  std::vector<std::string_view> names;
  for (const auto& [name, list] : lists()) names.emplace_back(name);
  fail(Status::kNotFound, "there are no settings '", io::printable(subject), "'",
       base::known_names(subject, names));
}

}  // namespace
}  // namespace gnnmg::capi

using namespace gnnmg::capi;

extern "C" {

gnnmg_status gnnmg_setting_get_info(const char* subject, int64_t index, gnnmg_setting_info* info) {
  return guard(outs(Out{info, "info"}), [&]() -> gnnmg_status {
    const std::vector<SettingFacts>& list = list_of(read_name(subject, "subject"));
    check_listed(index, "index");
    if (index >= static_cast<int64_t>(list.size())) return GNNMG_END;
    const SettingFacts& setting = list[static_cast<size_t>(index)];
    gnnmg_setting_info facts{};
    facts.is_field = setting.is_field;
    facts.name = setting.name.c_str();
    facts.type = setting.type.c_str();
    facts.default_value = setting.default_value.c_str();
    facts.values = setting.values.c_str();
    facts.help = setting.help.c_str();
    give(info, facts);
    return GNNMG_OK;
  });
}

}  // extern "C"
