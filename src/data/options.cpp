// Options that a format's reader does not read.
#include <algorithm>

#include "data/readers.h"

namespace gnnmg::data {
namespace {

struct Effect {
  const char* option;
  bool (*is_default)(const OpenOptions& options);
  std::vector<Format> formats;  // formats whose readers use the option
  bool others = false;          // true: all formats but these use it
};

template <auto kMember>
constexpr bool is_default(const OpenOptions& options) {
  return options.*kMember == OpenOptions().*kMember;
}

const std::vector<Effect>& effects() {
  using Options = OpenOptions;
  using enum Format;
  static const std::vector<Effect> all = {
      {"separator", is_default<&Options::separator>, {kEdges}},
      {"header_lines", is_default<&Options::header>, {kEdges}},
      {"source_column", is_default<&Options::source_column>, {kEdges}},
      {"target_column", is_default<&Options::target_column>, {kEdges}},
      {"relabel", is_default<&Options::relabel>, {kEdges}},
      {"num_nodes", is_default<&Options::num_nodes>, {kEdges}},
      {"degree_features", is_default<&Options::degree_features>, {kGin, kTu}},
      {"sum_duplicates", is_default<&Options::sum_duplicates>, {kPlanetoid, kPlain, kShchur}},
      {"map_files", is_default<&Options::map_files>, {kNative, kParts}},
      // 0 takes their edges as they are.
      {"undirected", [](const Options& o) { return o.undirected <= 0; }, {kNative, kParts}, true},
      {"round_values", is_default<&Options::round_values>, {kEdges, kMatrixMarket, kMetis}, true},
  };
  return all;
}

std::string listed(const std::vector<Format>& formats) {
  std::string text;
  for (size_t i = 0; i < formats.size(); ++i)
    text += base::text(i == 0                   ? ""
                       : i + 1 < formats.size() ? ", "
                                                : " or ",
                       format_name(formats[i]));
  return text;
}

}  // namespace

void check_options(const OpenOptions& options, Format format, const std::string& path) {
  for (const Effect& effect : effects()) {
    const bool named = std::ranges::find(effect.formats, format) != effect.formats.end();
    if (named != effect.others || effect.is_default(options)) continue;
    base::fail(base::Status::kInvalidArgument, "dataset settings: ", effect.option, " has ",
               effect.others ? "no effect" : "an effect only",
               " with format=", listed(effect.formats), ", and ", path, " has the format ",
               format_name(format), "; leave it out");
  }
}

}  // namespace gnnmg::data
