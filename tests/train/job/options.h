// A training in words, "key=value" each, so that a test and a process that it starts mean the same.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "train/fixture.h"

namespace gnnmg::test {

class Options {
 public:
  Options() = default;
  Options(int count, char** arguments) : Options({arguments, arguments + count}) {}
  explicit Options(const std::vector<std::string>& arguments);
  std::string text(const char* name, const char* otherwise) const;
  int64_t number(const char* name, int64_t otherwise) const;
  bool given(const char* name) const { return given_.contains(name); }

 private:
  std::map<std::string, std::string> given_;
};

// Read are: nodes, features, train (ids), nan (a node), noise (labels, of a hundred), graphs (a set
// of these in place of nodes), hidden, model_seed, f64, norm, sync (of it), fanout, all
// (neighbors), batch, batches (a step), steps or epochs, seed, sgd, lr, average, keep_best,
// patience (of an early stop), averaged (weights: ema, swa), ranks, strict, deadline, stall,
// loader, sampled (evaluation), capture (off).
Recipe recipe_of(const Options& options);

}  // namespace gnnmg::test
