// The outputs of a predictor, and how each is made from the model's rows.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

#include "base/tensor.h"
#include "data/dataset.h"

namespace gnnmg::predict {

enum class Output : int32_t { kLogits = 0, kProbabilities = 1, kClasses = 2, kEmbeddings = 3 };

// The rows of a model and their meaning.
struct ResultForm {
  base::DType dtype = base::DType::kF32;
  int64_t output_dim = 0;     // columns of the result
  int64_t embedding_dim = 0;  // columns of nn::ForwardArgs::hidden; 0: there are none
  data::Task task = data::Task::kNone;
};

class OutputKind {
 public:
  virtual ~OutputKind() = default;
  // Columns of the output; 0 where the model or its task has none.
  virtual int64_t cols(const ResultForm& form) const = 0;
  virtual base::DType dtype(const ResultForm& form) const { return form.dtype; }
  // True if it is made from the hidden rows and not from the result.
  virtual bool of_hidden_rows() const { return false; }
  virtual at::Tensor make(const at::Tensor& rows, const ResultForm& form) const = 0;
  // Error(kUnsupported) with the reason where cols() is 0.
  virtual void require(const ResultForm& form) const = 0;
};

const OutputKind& kind_of(Output output);

}  // namespace gnnmg::predict
