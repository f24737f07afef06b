#include "nn/state/older_keys.h"

#include <ATen/TensorOperators.h>

#include <cstring>
#include <set>

#include "base/error.h"
#include "nn/torch/tensor.h"

namespace gnnmg::nn {
namespace {

bool same_numbers(const base::Tensor& a, const base::Tensor& b) {
  return a.dtype() == b.dtype() && a.shape() == b.shape() &&
         std::memcmp(a.data(), b.data(), a.view().num_bytes()) == 0;
}

class Renamer {
 public:
  Renamer(Given& given, const std::vector<ExpectedTensor>& expected, std::list<base::Tensor>& made)
      : given_(given), made_(made) {
    for (const ExpectedTensor& entry : expected) wanted_.insert(entry.key);
  }

  void visit(const ExpectedTensor& entry) {
    const size_t dot = entry.key.rfind('.');
    if (dot == std::string::npos) return;
    const std::string name = entry.key.substr(dot + 1);
    if (name == "att_src" || name == "att_dst")
      return adopt_attention(entry.key.substr(0, dot), name, entry);
    const size_t length = entry.key.rfind('.', dot - 1);
    if (length == std::string::npos) return;
    const std::string stem = entry.key.substr(0, length), rest = entry.key.substr(length + 1);
    if (rest == "lin.weight") adopt_matrix(stem, entry);
    if (rest == "lin_l.weight") adopt_rel_and_root(stem);
    if (rest == "lin_rel.weight") adopt_turned_rel(stem);
    if (rest == "fc_self.bias" || rest == "res_fc.bias") adopt_bias(stem, rest, entry);
  }

  std::string note() const { return note_; }

 private:
  bool has(const std::string& key) const { return given_.contains(key); }
  void rename(const std::string& from, const std::string& to) {
    given_[to] = given_.at(from);
    given_.erase(from);
  }
  void make(const at::Tensor& tensor, const base::Tensor& like, const std::string& to) {
    made_.push_back(base::Tensor::empty(like.dtype(), shape_of(tensor)));
    view_of(made_.back().view()).copy_(tensor);
    given_[to] = &made_.back();
  }

  // GCNConv and GATConv of PyG 1 may have their matrix transposed, as DGL's GraphConv has; GATConv
  // before 2.5 has it under two names.
  void adopt_matrix(const std::string& stem, const ExpectedTensor& entry) {
    if (has(entry.key)) return;
    for (const auto& [source, target] : {std::pair(".lin_src.weight", ".lin_dst.weight"),
                                         std::pair(".lin_l.weight", ".lin_r.weight")}) {
      if (!has(stem + source)) continue;
      if (has(stem + target)) {
        if (!same_numbers(*given_.at(stem + source), *given_.at(stem + target))) return;
        given_.erase(stem + target);
      }
      return rename(stem + source, entry.key);
    }
    const std::string turned = stem + ".weight";
    if (!has(turned) || wanted_.contains(turned)) return;
    const base::Tensor& matrix = *given_.at(turned);
    if (matrix.shape().num_dims != 2 || !base::is_floating(matrix.dtype())) return;
    make(view_of(matrix.view()).t(), matrix, entry.key);
    given_.erase(turned);
    if (!note_.empty()) return;
    note_ = base::text(turned,
                       " was read as the matrix of a layer of PyG 1, [inputs, outputs]; "
                       "DGL's GraphConv has it under the same key: its weights are read with "
                       "other_framework 1");
  }

  // SAGEConv of PyG before 1.6 has them as lin_rel and lin_root, as GraphConv has, each with a
  // bias.
  void adopt_rel_and_root(const std::string& stem) {
    const std::string rel = stem + ".lin_rel", root = stem + ".lin_root", l = stem + ".lin_l";
    if (has(l + ".weight") || !has(rel + ".weight") || wanted_.contains(rel + ".weight")) return;
    rename(rel + ".weight", l + ".weight");
    if (has(root + ".weight")) rename(root + ".weight", stem + ".lin_r.weight");
    if (has(root + ".bias")) adopt_sum(rel + ".bias", root + ".bias", l + ".bias");
    if (has(rel + ".bias")) rename(rel + ".bias", l + ".bias");
    if (!note_.empty()) return;
    note_ = base::text(rel,
                       ".weight was read as the lin_l.weight of a SAGEConv of PyG before 1.6; "
                       "GraphConv has it under the same key, and computes sums of neighbors: its "
                       "weights are read with the architecture GraphConv");
  }

  // Two tensors that are added up wherever they are used; the first may be missing.
  void adopt_sum(const std::string& first, const std::string& second, const std::string& to) {
    if (!has(first)) return rename(second, to);
    const base::Tensor &a = *given_.at(first), &b = *given_.at(second);
    if (!(a.shape() == b.shape()) || a.dtype() != b.dtype() || !base::is_floating(a.dtype()))
      return;
    given_.erase(first);
    given_.erase(second);
    make(view_of(a.view()) + view_of(b.view()), a, to);
  }

  // GraphConv of PyG before 1.4 has a matrix [inputs, outputs], and a linear layer for the node.
  void adopt_turned_rel(const std::string& stem) {
    const std::string turned = stem + ".weight", lin = stem + ".lin";
    if (has(stem + ".lin_rel.weight") || !has(turned) || !has(lin + ".weight")) return;
    const base::Tensor& matrix = *given_.at(turned);
    if (matrix.shape().num_dims != 2 || !base::is_floating(matrix.dtype())) return;
    make(view_of(matrix.view()).t(), matrix, stem + ".lin_rel.weight");
    given_.erase(turned);
    rename(lin + ".weight", stem + ".lin_root.weight");
    if (has(lin + ".bias")) rename(lin + ".bias", stem + ".lin_rel.bias");
  }

  // GATConv of PyG 1 has them as att_l and att_r, or in one: [target, source].
  void adopt_attention(const std::string& stem, const std::string& name,
                       const ExpectedTensor& entry) {
    if (has(entry.key)) return;
    const std::string older = stem + (name == "att_src" ? ".att_l" : ".att_r"),
                      both = stem + ".att";
    if (has(older)) return rename(older, entry.key);
    if (!has(both) || wanted_.contains(both)) return;
    const base::Tensor& pair = *given_.at(both);
    const base::Shape& shape = pair.shape();
    if (shape.num_dims != 3 || shape[2] % 2 != 0 || !base::is_floating(pair.dtype())) return;
    const int64_t width = shape[2] / 2;
    make(view_of(pair.view()).narrow(2, name == "att_src" ? width : 0, width), pair, entry.key);
    if (has(stem + ".att_src") && has(stem + ".att_dst")) given_.erase(both);
  }

  // DGL's SAGEConv before 1.0 has one bias beside its linear layers, and GATConv before 1.1 too
  // where the residual is a linear layer; still older ones have one in each linear layer.
  void adopt_bias(const std::string& stem, const std::string& rest, const ExpectedTensor& entry) {
    const std::string plain = stem + ".bias", second = stem + ".fc_neigh.bias";
    if (!has(entry.key)) {
      if (!wanted_.contains(plain) && has(plain)) rename(plain, entry.key);
      return;
    }
    if (rest != "fc_self.bias" || wanted_.contains(second) || !has(second)) return;
    adopt_sum(entry.key, second, entry.key);
  }

  Given& given_;
  std::list<base::Tensor>& made_;
  std::set<std::string> wanted_;
  std::string note_;
};

}  // namespace

std::string rename_older_keys(Given& given, const std::vector<ExpectedTensor>& expected,
                              std::list<base::Tensor>& made) {
  Renamer renamer(given, expected, made);
  for (const ExpectedTensor& entry : expected) renamer.visit(entry);
  return renamer.note();
}

}  // namespace gnnmg::nn
