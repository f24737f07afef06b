#include "nn/config/choices.h"

#include <algorithm>

namespace gnnmg::nn {

std::optional<int> Choices::find(std::string_view word) const {
  const auto found = std::find(words.begin(), words.end(), word);
  if (found == words.end()) return std::nullopt;
  return first + static_cast<int>(found - words.begin());
}

std::string Choices::constant(int value) const {
  std::string name = prefix;
  for (const char* c = word(value); *c != '\0'; ++c)
    name += *c >= 'a' && *c <= 'z' ? static_cast<char>(*c - 'a' + 'A') : *c;
  return name;
}

std::string Choices::list() const {
  std::string all;
  for (const char* word : words) (all += all.empty() ? "" : ", ") += word;
  return all;
}

const Choices& choices_of(Architecture) {
#define GNNMG_KIND(constant, word, ...) #word,
  static constexpr const char* kWords[] = {GNNMG_LAYER_KINDS(GNNMG_KIND)};
#undef GNNMG_KIND
  static const Choices choices{"GNNMG_ARCHITECTURE_", 0, kWords};
  return choices;
}

const Choices& choices_of(Framework) {
  static constexpr const char* kWords[] = {"pyg", "dgl"};
  static const Choices choices{"GNNMG_FRAMEWORK_", 0, kWords};
  return choices;
}

const Choices& choices_of(Input) {
  static constexpr const char* kWords[] = {"features", "embedding", "nodes"};
  static const Choices choices{"", 0, kWords};
  return choices;
}

const Choices& choices_of(DegreeNorm) {
  static constexpr const char* kWords[] = {"both", "right", "left", "none"};
  static const Choices choices{"", 0, kWords};
  return choices;
}

const Choices& choices_of(Aggregation) {
  static constexpr const char* kWords[] = {"default", "mean", "max", "sum", "pool", "lstm", "gcn"};
  static const Choices choices{"GNNMG_AGGREGATION_", 0, kWords};
  return choices;
}

const Choices& choices_of(Activation) {
  static constexpr const char* kWords[] = {"relu", "none",  "elu",  "leaky_relu", "gelu",
                                           "tanh", "prelu", "silu", "sigmoid"};
  static const Choices choices{"GNNMG_ACTIVATION_", 0, kWords};
  return choices;
}

const Choices& choices_of(Norm) {
  static constexpr const char* kWords[] = {"none",  "batch",    "layer", "layer_graph",
                                           "graph", "instance", "pair",  "pair_rows"};
  static const Choices choices{"GNNMG_NORM_", 0, kWords};
  return choices;
}

const Choices& choices_of(NormAffine) {
  static constexpr const char* kWords[] = {"default", "on", "off"};
  static const Choices choices{"", 0, kWords};
  return choices;
}

const Choices& choices_of(Skip) {
  static constexpr const char* kWords[] = {"none", "linear", "residual"};
  static const Choices choices{"", 0, kWords};
  return choices;
}

const Choices& choices_of(Init) {
  static constexpr const char* kWords[] = {"pyg", "glorot", "dgl"};
  static const Choices choices{"", 0, kWords};
  return choices;
}

const Choices& choices_of(Jumping) {
  static constexpr const char* kWords[] = {"none", "last", "cat", "max", "lstm", "scores"};
  static const Choices choices{"", 0, kWords};
  return choices;
}

const Choices& choices_of(Readout) {
  static constexpr const char* kWords[] = {"none",      "sum",     "mean", "max",
                                           "attention", "set2set", "sort"};
  static const Choices choices{"GNNMG_READOUT_", 0, kWords};
  return choices;
}

const Choices& choices_of(LoopFill) {
  static constexpr const char* kWords[] = {"mean", "sum", "max", "min", "constant"};
  static const Choices choices{"", 0, kWords};
  return choices;
}

const Choices& choices_of(PnaReduction) {
  static constexpr const char* kWords[] = {"mean", "min", "max", "sum", "variance", "deviation"};
  static const Choices choices{"", 1, kWords};
  return choices;
}

const Choices& choices_of(PnaScaler) {
  static constexpr const char* kWords[] = {"identity", "amplification", "attenuation", "linear",
                                           "inverse_linear"};
  static const Choices choices{"", 1, kWords};
  return choices;
}

const Choices& choices_of(base::DType) {
  static constexpr const char* kWords[] = {"f32", "f64"};
  static const Choices choices{"GNNMG_DTYPE_", 0, kWords};
  return choices;
}

const Choices& choices_of(LayerConfig::Kind) {
  static constexpr const char* kWords[] = {"convolution", "linear",  "norm",
                                           "activation",  "dropout", "readout"};
  static const Choices choices{"", 0, kWords};
  return choices;
}

}  // namespace gnnmg::nn
