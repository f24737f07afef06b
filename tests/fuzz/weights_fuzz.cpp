// State dicts between PyG's layers and DGL's, and under users' module names: four bytes select the
// model, then each tensor is five bytes, its layer, its name, its type and two with its sizes.
#include <iterator>
#include <map>

#include "nn/state/convert.h"
#include "nn/state/layer_names.h"
#include "nn/state/module_names.h"
#include "nn/state/wrapper_names.h"

namespace {

using namespace gnnmg;
using namespace gnnmg::nn;

constexpr const char* kLayers[] = {"convs.0.",
                                   "convs.1.",
                                   "layers.0.",
                                   "layers.1.",
                                   "conv1.",
                                   "norms.0.",
                                   "",
                                   "module._orig_mod.convs.0.",
                                   "convs.1._wrapped.",
                                   "module."};
constexpr const char* kNames[] = {"lin_l.weight",
                                  "lin_l.bias",
                                  "lin_r.weight",
                                  "lin_r.bias",
                                  "lin.weight",
                                  "lin.bias",
                                  "lin_rel.weight",
                                  "lin_rel.bias",
                                  "lin_root.weight",
                                  "fc_neigh.weight",
                                  "fc_self.weight",
                                  "fc_self.bias",
                                  "fc_pool.weight",
                                  "fc_pool.bias",
                                  "weight",
                                  "bias",
                                  "att_src",
                                  "att_dst",
                                  "att",
                                  "res.weight",
                                  "attn_l",
                                  "attn_r",
                                  "attn",
                                  "fc.weight",
                                  "fc_src.weight",
                                  "fc_src.bias",
                                  "fc_dst.weight",
                                  "fc_dst.bias",
                                  "res_fc.weight",
                                  "res_fc.bias",
                                  "eps",
                                  "nn.0.weight",
                                  "nn.2.weight",
                                  "nn.lins.0.weight",
                                  "nn.lins.1.weight",
                                  "nn.norms.0.module.weight",
                                  "nn.weight",
                                  "apply_func.weight",
                                  "apply_func.0.weight",
                                  "apply_func.2.bias",
                                  "comp",
                                  "root",
                                  "h_bias",
                                  "loop_weight",
                                  "linear_r.W",
                                  "linear_r.coeff",
                                  "theta.weight",
                                  "theta.bias",
                                  "phi.weight",
                                  "phi.bias",
                                  "module.weight",
                                  "nn.99999.weight",
                                  "lin_src.weight",
                                  "lin_dst.weight"};
constexpr base::DType kTypes[] = {base::DType::kF32, base::DType::kF64, base::DType::kF16,
                                  base::DType::kI64};

io::StateFile state_of(std::span<const uint8_t> input) {
  io::StateFile state;
  for (; input.size() >= 5; input = input.subspan(5)) {
    const int dims = (input[2] >> 4) % 5;
    const int64_t sizes[] = {input[3] & 7, input[3] >> 4 & 7, input[4] & 7, input[4] >> 4 & 7};
    state.tensors.emplace_back(
        base::text(kLayers[input[0] % std::size(kLayers)], kNames[input[1] % std::size(kNames)]),
        base::Tensor::zeros(kTypes[input[2] % std::size(kTypes)],
                            base::Shape(std::span(sizes).first(dims))));
  }
  return state;
}

void attempt(auto call) {
  try {
    call();
  } catch (const base::Error& error) {
    if (error.status() == base::Status::kInternal) __builtin_trap();
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size < 4) return 0;
  ModelConfig config;
  config.architecture = static_cast<Architecture>(data[0] % 12);
  if (config.architecture == Architecture::kLayers) config.architecture = Architecture::kSage;
  config.framework = data[1] & 1 ? Framework::kDgl : Framework::kPyg;
  config.heads = 1 + (data[1] >> 1) % 3;
  config.concat = data[1] & 8;
  config.residual = data[1] & 16;
  config.project = data[1] & 32;
  config.norm = data[1] & 64 ? Norm::kBatch : Norm::kNone;
  config.mlp_layers = data[1] & 128 ? 1 : 2;
  config.aggregation = static_cast<Aggregation>(data[2] % 7);
  config.blocks = data[3] % 4;
  const io::StateFile state = state_of({data + 4, size - 4});
  for (const Numbers numbers : {Numbers::kWeights, Numbers::kShapes, Numbers::kKept}) {
    attempt([&] {
      io::StateFile other = to_other_framework(config, state, numbers);
      from_other_framework(config, other, numbers);
    });
    attempt([&] { from_other_framework(config, state, numbers); });
  }
  std::vector<std::string> expected;
  std::map<std::string, const base::Tensor*> given;
  for (size_t i = 0; i < state.tensors.size(); ++i)
    if (i % 2)
      expected.push_back(state.tensors[i].first);
    else
      given[state.tensors[i].first] = &state.tensors[i].second;
  attempt([&] {
    config.act_first = data[3] & 64;
    adopt_network_names(given, expected, config);
    adopt_layer_names(given, layer_list(config.framework), expected);
    adopt_inner_norm_names(given, expected);
    adopt_norm_names(given, expected);
  });
  attempt([&] {
    io::StateFile renamed = state;
    to_torch_modules(renamed, config);
  });
  for (const auto& ways : {ways_to_unwrap(state, data[3] & 128), parts_below_prefixes(state, 8)})
    for (const Unwrapped& way : ways)
      for (size_t i = 0; i < way.keys.size(); ++i)
        if (!state.tensors[way.numbers[i]].first.ends_with(
                std::string_view(way.keys[i]).substr(way.keys[i].rfind('.') + 1)))
          __builtin_trap();  // the last name of a key must stay
  return 0;
}
