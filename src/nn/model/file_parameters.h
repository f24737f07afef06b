// The parameters of a model in the order and shapes of a Python class, whose optimizer numbers
// them: the order of that class's modules. Free of torch's optimizers.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "io/state_file.h"
#include "nn/model/model.h"

namespace gnnmg::nn {

// The form of that class: as in Model::state(), the other framework's, torch's own modules (see
// to_torch_modules), or the class whose weights were loaded last (see to_file_names).
struct FileForm {
  bool other_framework = false;
  bool torch_modules = false;
  bool loaded_names = false;
};

class FileParameters {
 public:
  // Error(kUnsupported) names a layer with a parameter whose counterpart is not a single parameter,
  // moved or transposed.
  FileParameters(const Model& model, const FileForm& form);

  struct Parameter {
    std::string key;  // key in a state dict of that class
    base::Shape shape;
  };
  const std::vector<Parameter>& list() const { return list_; }

  // Convert one tensor per parameter, such as a moment of Adam, from the model's order,
  // parameters(), to the order of list(), and back.
  std::vector<base::Tensor> to_file(std::vector<base::Tensor> own) const;
  std::vector<base::Tensor> to_model(std::vector<base::Tensor> file) const;

  // For the default form: true if the weights were loaded from a file with another order of
  // parameters.
  bool loaded_in_other_order() const { return loaded_in_other_order_; }

 private:
  const Model& model_;
  bool other_framework_, loaded_in_other_order_ = false;
  std::vector<Parameter> list_;
  // Keys before the conversion to torch's modules, in the same order.
  std::vector<std::string> converted_;
};

}  // namespace gnnmg::nn
