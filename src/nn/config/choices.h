// The words of each enumeration in the settings of a model, as settings by name, files and messages
// have them. With a prefix, in capitals, they are the constants of gnnmg.h.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "nn/config/config.h"

namespace gnnmg::nn {

struct Choices {
  const char* prefix;                  // "GNNMG_AGGREGATION_"; empty without constants
  int first;                           // value of the first word; the others follow
  std::span<const char* const> words;  // "default", "mean", ...

  int last() const { return first + static_cast<int>(words.size()) - 1; }
  bool has(int value) const { return value >= first && value <= last(); }
  // Returns the word of a value, or "?" if there is none.
  const char* word(int value) const { return has(value) ? words[value - first] : "?"; }
  std::optional<int> find(std::string_view word) const;
  std::string constant(int value) const;  // "GNNMG_AGGREGATION_MEAN"
  std::string list() const;               // "default, mean, ..."
};

const Choices& choices_of(Architecture);
const Choices& choices_of(Framework);
const Choices& choices_of(Input);
const Choices& choices_of(DegreeNorm);
const Choices& choices_of(Aggregation);
const Choices& choices_of(Activation);
const Choices& choices_of(Norm);
const Choices& choices_of(NormAffine);
const Choices& choices_of(Skip);
const Choices& choices_of(Init);
const Choices& choices_of(Jumping);
const Choices& choices_of(Readout);
const Choices& choices_of(LoopFill);
const Choices& choices_of(PnaReduction);
const Choices& choices_of(PnaScaler);
const Choices& choices_of(base::DType);  // the types that models compute in
const Choices& choices_of(LayerConfig::Kind);

template <typename E>
const char* word_of(E value) {
  return choices_of(value).word(static_cast<int>(value));
}
template <typename E>
std::string constant_of(E value) {
  return choices_of(value).constant(static_cast<int>(value));
}

}  // namespace gnnmg::nn
