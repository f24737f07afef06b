#include "nn/state/state_match.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "base/error.h"
#include "data/arrays.h"
#include "nn/state/gin_class.h"
#include "nn/state/layer_names.h"
#include "nn/state/module_names.h"
#include "nn/state/older_keys.h"
#include "nn/state/wrapper_names.h"
#include "nn/torch/tensor.h"

namespace gnnmg::nn {
namespace {

void append(std::string& list, const std::string& item) {
  list += (list.empty() ? "" : ", ") + item;
}

// Refuses numbers that a model cannot use: not finite in the model's type, or negative for a count
// or a variance. A diverged training leaves such numbers, and so does a damaged file.
void check_numbers(const ExpectedTensor& entry, const base::Tensor& tensor) {
  const int64_t count = tensor.shape().num_elements();
  const int64_t width = std::max<int64_t>(1, tensor.shape().row_elements());
  const auto* const bytes = static_cast<const std::byte*>(tensor.data());
  const int64_t bad = data::find_not_finite(bytes, tensor.dtype(), count,
                                            /*as_f32=*/entry.dtype != base::DType::kF64);
  if (bad >= 0)
    data::fail_not_finite(entry.key, bad / width, bad % width,
                          bytes + bad * base::dtype_size(tensor.dtype()), tensor.dtype());
  if (!entry.counter() && !entry.variance()) return;
  const at::Tensor values = view_of(tensor.view()).to(at::kDouble).contiguous();
  const double* const numbers = values.const_data_ptr<double>();
  const int64_t below =
      std::find_if(numbers, numbers + count, [](double n) { return n < 0; }) - numbers;
  if (below < count)
    base::fail(base::Status::kRange, entry.key, ", row ", below / width, ", column ", below % width,
               ": ", numbers[below], ", expected ", entry.counter() ? "a count" : "a variance",
               " of at least 0");
}

// The result of one way to read the keys.
struct Fit {
  MatchedState matched;
  std::string missing, unexpected, misshapen;
  int64_t misfits = 0;

  void add(std::string& list, const std::string& item) {
    append(list, item);
    ++misfits;
  }
  int64_t loaded() const {
    return std::ranges::count_if(matched.tensors, [](const auto* found) { return found; });
  }
  std::string list() const {
    std::string all;
    const auto section = [&](std::string_view title, const std::string& items) {
      if (!items.empty()) all += base::text(all.empty() ? "" : "; ", title, ": ", items);
    };
    section("missing", missing);
    section("unexpected", unexpected);
    section("of the wrong shape or type", misshapen);
    return all;
  }
};

class Matcher {
 public:
  Matcher(const io::StateFile& state, const std::vector<ExpectedTensor>& expected,
          Framework framework, const ModelConfig& config)
      : state_(state), expected_(expected), framework_(framework), config_(config) {
    for (const ExpectedTensor& entry : expected_) keys_.push_back(entry.key);
  }

  MatchedState run(Extent extent) const {
    std::optional<Fit> best;
    std::string prefix;  // prefix of the best way
    std::optional<base::Error> refusal;
    for (const Unwrapped& way :
         ways_to_unwrap(state_, std::ranges::any_of(keys_, has_underscored_name))) {
      try {
        Fit found = fit(way);
        if (found.misfits == 0) return std::move(found.matched);
        if (best && found.misfits >= best->misfits) continue;
        best = std::move(found);
        prefix = way.prefix;
      } catch (const base::Error& error) {
        if (!refusal) refusal = error;
      }
    }
    if (refusal) throw *refusal;
    if (extent == Extent::kPart && best->loaded() > 0) {
      best->matched.left = best->list();
      return std::move(best->matched);
    }
    if (extent == Extent::kWhole) refuse_parts();
    base::fail(
        base::Status::kFormat, "the state",
        prefix.empty() ? "" : base::text(", whose keys begin with \"", prefix, "\",").c_str(),
        " does not fit the model: ", best->list());
  }

 private:
  Fit fit(const Unwrapped& way) const {
    Given given;
    std::map<const base::Tensor*, FileNames::Place> origin;
    for (size_t i = 0; i < way.keys.size(); ++i) {
      const base::Tensor& tensor = state_.tensors[way.numbers[i]].second;
      origin[&tensor] = {way.keys[i], way.numbers[i]};
      given[way.keys[i]] = &tensor;
    }
    Fit found;
    MatchedState& matched = found.matched;
    matched.names.ordered = state_.ordered;
    matched.names.left_out = way.note();
    adopt_gin_class(given, keys_, matched.made);
    adopt_network_names(given, keys_, config_);
    adopt_layer_names(given, layer_list(framework_), keys_);
    if (framework_ == Framework::kDgl) adopt_inner_norm_names(given, keys_);
    adopt_norm_names(given, keys_);
    matched.names.older = rename_older_keys(given, expected_, matched.made);
    for (const ExpectedTensor& entry : expected_) {
      const base::Tensor* const tensor = take(given, entry, found);
      matched.tensors.push_back(tensor);
      const auto key = origin.find(tensor);
      if (key == origin.end()) continue;
      matched.names.keys[entry.key] = key->second;
      origin.erase(key);
    }
    for (const auto& [key, tensor] : given) {
      const auto own = origin.find(tensor);
      found.add(found.unexpected, own == origin.end() ? key : own->second.key);
    }
    if (!origin.empty()) matched.names.lost = origin.begin()->second.key;
    return found;
  }

  // Removes the tensor of this key from the given ones.
  static const base::Tensor* take(Given& given, const ExpectedTensor& entry, Fit& found) {
    const auto at = given.find(entry.key);
    if (at == given.end()) {
      if (!entry.counter()) found.add(found.missing, entry.key);
      return nullptr;
    }
    const base::Tensor& tensor = *at->second;
    given.erase(at);
    const int64_t before = found.misfits;
    if (!(tensor.shape() == entry.shape))
      found.add(found.misshapen, base::text(entry.key, " is ", tensor.shape().to_string(),
                                            ", expected ", entry.shape.to_string()));
    else if (!entry.accepts(tensor.dtype()))
      found.add(found.misshapen,
                base::text(entry.key, " has elements of type ", base::dtype_name(tensor.dtype()),
                           ", expected ", base::dtype_name(entry.dtype)));
    return found.misfits == before ? &tensor : nullptr;
  }

  // Error if the model's keys are below one or several prefixes, beside other keys.
  void refuse_parts() const {
    std::string prefixes, first;
    int64_t count = 0;
    for (const Unwrapped& part : parts_below_prefixes(state_, 4 * keys_.size())) {
      if (!fits(part)) continue;
      append(prefixes, base::text("\"", part.prefix, "\""));
      if (count++ == 0) first = part.prefix;
    }
    if (count == 0) return;
    std::string others;
    for (const auto& [key, tensor] : state_.tensors)
      if (count == 1 && !key.starts_with(first)) append(others, key);
    first.pop_back();
    if (count == 1)
      base::fail(base::Status::kFormat, "the keys that begin with ", prefixes,
                 " fit the model, and beside them there are others: ", others,
                 "; to load those of the model alone, set dict to their prefix, as in \"", first,
                 "\"");
    base::fail(base::Status::kFormat, "the state has keys that fit the model ", count,
               " times, below ", prefixes, ": set dict to the prefix of those to load, as in \"",
               first, "\"");
  }
  bool fits(const Unwrapped& part) const {
    try {
      return fit(part).misfits == 0;
    } catch (const base::Error&) {
      return false;
    }
  }

  const io::StateFile& state_;
  const std::vector<ExpectedTensor>& expected_;
  const Framework framework_;
  const ModelConfig& config_;
  std::vector<std::string> keys_;  // the expected keys
};

}  // namespace

MatchedState match_state(const io::StateFile& state, const std::vector<ExpectedTensor>& expected,
                         Framework framework, const ModelConfig& config, Extent extent) {
  MatchedState matched = Matcher(state, expected, framework, config).run(extent);
  for (size_t i = 0; i < expected.size(); ++i)
    if (matched.tensors[i]) check_numbers(expected[i], *matched.tensors[i]);
  return matched;
}

}  // namespace gnnmg::nn
