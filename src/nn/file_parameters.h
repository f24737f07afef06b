// The parameters of a model as a class in Python has them, which an optimizer numbers there: in the
// order of that class's modules, in its shapes. Free of torch's optimizers.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "io/state_file.h"
#include "nn/model.h"

namespace gnnmg::nn {

// Of which class: as Model::state() has it, or the other framework's, or one made of torch's own
// modules (see to_torch_modules), or that whose weights were loaded last (see to_file_names).
struct FileForm {
  bool other_framework = false;
  bool torch_modules = false;
  bool loaded_names = false;
};

class FileParameters {
 public:
  // Error(kUnsupported) naming a layer whose parameters have no counterparts there of which each is
  // one of them, moved or turned.
  FileParameters(const Model& model, const FileForm& form);

  struct Parameter {
    std::string key;  // as a state dict there has it
    base::Shape shape;
  };
  const std::vector<Parameter>& list() const { return list_; }

  // One tensor of each parameter, such as a moment of Adam: from those of the model, in the order
  // of parameters(), to those of list(), in that order, and back.
  std::vector<base::Tensor> to_file(std::vector<base::Tensor> own) const;
  std::vector<base::Tensor> to_model(std::vector<base::Tensor> file) const;

  // Of a form without settings: whether the weights were loaded from a file that has the parameters
  // in another order than the model.
  bool loaded_in_other_order() const { return loaded_in_other_order_; }

 private:
  const Model& model_;
  bool other_framework_, loaded_in_other_order_ = false;
  std::vector<Parameter> list_;
  std::vector<std::string> converted_;  // keys before their modules are torch's, in the same order
};

}  // namespace gnnmg::nn
