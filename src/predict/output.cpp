#include "predict/output.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/sigmoid.h>
#include <ATen/ops/softmax.h>

#include "base/error.h"

namespace gnnmg::predict {
namespace {

using base::Status;
using data::Task;

bool of_classes(const ResultForm& form) {
  return form.task == Task::kMulticlass || form.task == Task::kBinary;
}

void require_classes(const ResultForm& form, const char* what) {
  if (form.task == Task::kRegression)
    base::fail(Status::kUnsupported, "there are no ", what,
               ": the model predicts numbers, which the output logits has");
  if (form.task == Task::kNone)
    base::fail(
        Status::kUnsupported, "there are no ", what,
        ": neither the data set nor the model tells what the results mean; add task=multiclass "
        "or task=binary to the settings");
}

class Logits final : public OutputKind {
 public:
  int64_t cols(const ResultForm& form) const override { return form.output_dim; }
  at::Tensor make(const at::Tensor& rows, const ResultForm&) const override { return rows; }
  void require(const ResultForm&) const override {}
};

class Probabilities final : public OutputKind {
 public:
  int64_t cols(const ResultForm& form) const override {
    return of_classes(form) ? form.output_dim : 0;
  }
  at::Tensor make(const at::Tensor& rows, const ResultForm& form) const override {
    return form.task == Task::kBinary ? at::sigmoid(rows) : at::softmax(rows, 1);
  }
  void require(const ResultForm& form) const override { require_classes(form, "probabilities"); }
};

class Classes final : public OutputKind {
 public:
  int64_t cols(const ResultForm& form) const override {
    return form.task == Task::kMulticlass ? 1 : form.task == Task::kBinary ? form.output_dim : 0;
  }
  base::DType dtype(const ResultForm&) const override { return base::DType::kI64; }
  at::Tensor make(const at::Tensor& rows, const ResultForm& form) const override {
    return form.task == Task::kBinary ? (rows > 0).to(at::kLong) : rows.argmax(1);
  }
  void require(const ResultForm& form) const override { require_classes(form, "classes"); }
};

class Embeddings final : public OutputKind {
 public:
  int64_t cols(const ResultForm& form) const override { return form.embedding_dim; }
  bool of_hidden_rows() const override { return true; }
  at::Tensor make(const at::Tensor& rows, const ResultForm&) const override { return rows; }
  void require(const ResultForm& form) const override {
    if (form.embedding_dim == 0)
      base::fail(Status::kUnsupported,
                 "there are no embeddings: the model makes its result from the features in one "
                 "layer, from the rows of several layers, from those of nodes for a graph, or for "
                 "all nodes together");
  }
};

}  // namespace

const OutputKind& kind_of(Output output) {
  static const Logits logits;
  static const Probabilities probabilities;
  static const Classes classes;
  static const Embeddings embeddings;
  switch (output) {
    case Output::kLogits:
      return logits;
    case Output::kProbabilities:
      return probabilities;
    case Output::kClasses:
      return classes;
    case Output::kEmbeddings:
      return embeddings;
  }
  base::fail(Status::kInternal, "output ", static_cast<int32_t>(output));
}

}  // namespace gnnmg::predict
