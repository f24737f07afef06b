// The conversion of one layer's weights, kind by kind.
#include <algorithm>
#include <cstring>
#include <map>
#include <set>
#include <string_view>

#include "base/error.h"
#include "nn/state/convert.h"

namespace gnnmg::nn {
namespace {

using base::fail;
using base::Shape;
using base::Status;
using base::Tensor;

void put(NamedTensors& out, std::string key, Tensor tensor) {
  out.emplace_back(std::move(key), std::move(tensor));
}

template <typename F>
decltype(auto) visit_floats(const Tensor& t, const std::string& key, F&& f) {
  if (t.dtype() == base::DType::kF32) return f.template operator()<float>();
  if (t.dtype() == base::DType::kF64) return f.template operator()<double>();
  fail(Status::kFormat, key, " has elements of type ", base::dtype_name(t.dtype()),
       ", expected f32 or f64");
}

// The tensors of a layer, removed by key; the remaining ones at the end have no counterpart.
class Source {
 public:
  explicit Source(const NamedTensors& tensors) {
    for (const auto& [key, tensor] : tensors) tensors_[key] = &tensor;
  }
  bool has(const std::string& key) const { return tensors_.contains(key); }
  const Shape* shape_of(const std::string& key) const {
    const auto found = tensors_.find(key);
    return found == tensors_.end() ? nullptr : &found->second->shape();
  }
  Tensor take(const std::string& key) {
    const auto found = tensors_.find(key);
    if (found == tensors_.end()) fail(Status::kFormat, "missing: ", key);
    const Tensor tensor = *found->second;
    tensors_.erase(found);
    return tensor;
  }
  // Returns all keys with the prefix, in order.
  std::vector<std::string> below(const std::string& prefix) const {
    std::vector<std::string> keys;
    for (const auto& [key, tensor] : tensors_)
      if (key.starts_with(prefix)) keys.push_back(key);
    return keys;
  }
  void check_empty(const char* layer) const {
    if (!tensors_.empty())
      fail(Status::kUnsupported, layer, ": ", tensors_.begin()->first,
           " has no counterpart in the other framework");
  }

 private:
  std::map<std::string, const Tensor*> tensors_;
};

Tensor reshaped(const Tensor& t, Shape shape, const std::string& key) {
  if (t.shape().num_elements() != shape.num_elements())
    fail(Status::kFormat, key, " is ", t.shape().to_string(), ", which cannot become ",
         shape.to_string());
  base::TensorView view = t.view();
  view.shape = shape;
  return {view, t.owner()};
}

void check_matrix(const Tensor& t, const std::string& key) {
  if (t.shape().num_dims != 2)
    fail(Status::kFormat, key, " is ", t.shape().to_string(), ", expected two dimensions");
}

// Returns a tensor with out[i] = f(i).
template <typename T, typename F>
Tensor made(Shape shape, const F& f) {
  Tensor out = Tensor::empty(base::dtype_of<T>(), shape);
  const auto values = out.as<T>();
  for (size_t i = 0; i < values.size(); ++i) values[i] = f(static_cast<int64_t>(i));
  return out;
}

Tensor transposed(const Tensor& t, const std::string& key) {
  check_matrix(t, key);
  const int64_t rows = t.shape()[0], columns = t.shape()[1];
  return visit_floats(t, key, [&]<typename T>() {
    const auto from = t.as<const T>();
    return made<T>({columns, rows},
                   [&](int64_t i) { return from[(i % rows) * columns + i / rows]; });
  });
}

// Returns a + factor * b.
Tensor sum(const Tensor& a, double factor, const Tensor& b, const std::string& key) {
  if (!(a.shape() == b.shape()) || a.dtype() != b.dtype())
    fail(Status::kFormat, key, " is ", b.shape().to_string(), ", expected ", a.shape().to_string());
  return visit_floats(a, key, [&]<typename T>() {
    const auto first = a.as<const T>(), second = b.as<const T>();
    return made<T>(a.shape(), [&](int64_t i) { return first[i] + T(factor) * second[i]; });
  });
}

Tensor zeros_as(const Tensor& t, Shape shape) { return Tensor::zeros(t.dtype(), shape); }

Tensor negated(const Tensor& t, const std::string& key) {
  return visit_floats(t, key, [&]<typename T>() {
    const auto from = t.as<const T>();
    return made<T>(t.shape(), [&](int64_t i) { return -from[i]; });
  });
}

// Returns columns [begin, begin + count) of a matrix.
Tensor columns_of(const Tensor& t, int64_t begin, int64_t count, const std::string& key) {
  const int64_t width = t.shape()[1];
  return visit_floats(t, key, [&]<typename T>() {
    const auto from = t.as<const T>();
    return made<T>({t.shape()[0], count},
                   [&](int64_t i) { return from[i / count * width + begin + i % count]; });
  });
}

// Repeat a bias for each head, and average over heads.
Tensor repeated(const Tensor& bias, int64_t heads, const std::string& key) {
  const int64_t width = bias.shape().num_elements();
  return visit_floats(bias, key, [&]<typename T>() {
    const auto from = bias.as<const T>();
    return made<T>({heads * width}, [&](int64_t i) { return from[i % width]; });
  });
}
Tensor mean_of_heads(const Tensor& bias, int64_t heads, const std::string& key) {
  const int64_t width = bias.shape().num_elements() / heads;
  return visit_floats(bias, key, [&]<typename T>() {
    const auto from = bias.as<const T>();
    return made<T>({width}, [&](int64_t i) {
      T total = 0;
      for (int64_t h = 0; h < heads; ++h) total += from[h * width + i];
      return total / static_cast<T>(heads);
    });
  });
}

// The same for the rows of a matrix.
Tensor repeated_rows(const Tensor& t, int64_t heads, const std::string& key) {
  if (heads == 1) return t;
  return reshaped(repeated(t, heads, key), {t.shape()[0] * heads, t.shape()[1]}, key);
}
Tensor mean_of_rows(const Tensor& t, int64_t heads, const std::string& key) {
  if (heads == 1) return t;
  return reshaped(mean_of_heads(t, heads, key), {t.shape()[0] / heads, t.shape()[1]}, key);
}

Tensor unit_matrix(const Tensor& like, int64_t size) {
  return visit_floats(like, "weight", [&]<typename T>() {
    return made<T>({size, size}, [&](int64_t i) { return i % size == i / size ? T{1} : T{0}; });
  });
}

// Returns the keys of the linear layers of GIN's network, under whichever of its three names.
std::vector<std::string> network_of(const Source& source, const std::string& root) {
  if (source.has(root + ".weight")) return {root};
  std::set<std::pair<int64_t, std::string>> found;
  for (const std::string& key : source.below(root + ".")) {
    if (!key.ends_with(".weight")) continue;
    const std::string name = key.substr(0, key.size() - 7);
    const size_t dot = name.rfind('.');
    const std::string number = name.substr(dot + 1), list = name.substr(0, dot);
    if (list != root && list != root + ".lins")
      fail(Status::kUnsupported, "GIN: ", key, " has no counterpart in the other framework");
    if (number.empty() || number.size() > 4 ||
        !std::ranges::all_of(number, [](char c) { return c >= '0' && c <= '9'; }))
      fail(Status::kFormat, "GIN: ", key, " is no linear layer of a network");
    found.emplace(std::stoll(number), name);
  }
  if (found.empty()) fail(Status::kFormat, "missing: ", root, ".weight");
  std::vector<std::string> names;
  for (const auto& [number, name] : found) names.push_back(name);
  return names;
}

void move_network(Source& source, const std::string& from, const std::string& to, bool mlp,
                  NamedTensors& out) {
  const std::vector<std::string> names = network_of(source, from);
  for (size_t k = 0; k < names.size(); ++k) {
    const std::string name = mlp                 ? base::text(to, ".lins.", k)
                             : names.size() == 1 ? to
                                                 : base::text(to, ".", 2 * k);
    for (const char* end : {".weight", ".bias"})
      if (source.has(names[k] + end)) put(out, name + end, source.take(names[k] + end));
  }
}

void move(Source& source, const std::string& from, const std::string& to, NamedTensors& out) {
  put(out, to, source.take(from));
}
void move_if(Source& source, const std::string& from, const std::string& to, NamedTensors& out) {
  if (source.has(from)) move(source, from, to, out);
}

// Moves eps, which is a parameter or a buffer.
void move_eps(const ConvertedLayer& layer, Source& source, NamedTensors& out) {
  if (layer.numbers != Numbers::kKept || source.has("eps")) move(source, "eps", "eps", out);
}

NamedTensors gcn_to_dgl(Source& source) {
  NamedTensors out;
  put(out, "weight", transposed(source.take("lin.weight"), "lin.weight"));
  move_if(source, "bias", "bias", out);
  return out;
}

NamedTensors gcn_to_pyg(Source& source) {
  NamedTensors out;
  move_if(source, "bias", "bias", out);
  put(out, "lin.weight", transposed(source.take("weight"), "weight"));
  return out;
}

NamedTensors gat_to_dgl(const ConvertedLayer& layer, Source& source) {
  NamedTensors out;
  move(source, "att_src", "attn_l", out);
  move(source, "att_dst", "attn_r", out);
  Tensor bias;
  if (source.has("bias")) {
    bias = source.take("bias");
    if (!layer.concat) bias = repeated(bias, layer.heads, "bias");
  }
  if (!layer.residual && bias.defined()) put(out, "bias", bias);
  move_if(source, "lin.weight", "fc.weight", out);
  move_if(source, "lin_src.weight", "fc_src.weight", out);
  move_if(source, "lin_dst.weight", "fc_dst.weight", out);
  if (!layer.residual) return out;
  const Tensor residual = source.take("res.weight");
  check_matrix(residual, "res.weight");
  // DGL has one per head; the mean of equal ones is PyG's.
  const int64_t copies = layer.concat ? 1 : layer.heads;
  const int64_t rows = residual.shape()[0] * copies;
  if (rows != residual.shape()[1]) {
    put(out, "res_fc.weight", repeated_rows(residual, copies, "res.weight"));
    if (bias.defined()) put(out, "res_fc.bias", bias);
    return out;
  }
  // DGL adds the rows themselves if they are as wide as the result.
  const Tensor unit = mean_of_rows(unit_matrix(residual, rows), copies, "res.weight");
  if (layer.numbers == Numbers::kWeights &&
      std::memcmp(unit.data(), residual.data(), residual.view().num_bytes()) != 0)
    fail(Status::kUnsupported,
         "GATConv: DGL's residual of rows as wide as the result is the row itself, and res.weight "
         "is not the ",
         copies == 1 ? "unit matrix" : "mean of its heads");
  if (bias.defined()) out.insert(out.begin() + 2, {"bias", bias});
  return out;
}

NamedTensors gat_to_pyg(const ConvertedLayer& layer, Source& source) {
  NamedTensors out;
  move(source, "attn_l", "att_src", out);
  move(source, "attn_r", "att_dst", out);
  const bool mapped = source.has("res_fc.weight");
  const std::string key = mapped ? "res_fc.bias" : "bias";
  if (source.has(key)) {
    const Tensor bias = source.take(key);
    put(out, "bias", layer.concat ? bias : mean_of_heads(bias, layer.heads, key));
  }
  move_if(source, "fc.weight", "lin.weight", out);
  move_if(source, "fc_src.weight", "lin_src.weight", out);
  move_if(source, "fc_dst.weight", "lin_dst.weight", out);
  if (!layer.residual) return out;
  const Tensor residual = mapped ? source.take("res_fc.weight")
                                 : unit_matrix(out[0].second, out[0].second.shape().num_elements());
  check_matrix(residual, "res_fc.weight");
  put(out, "res.weight", mean_of_rows(residual, layer.concat ? 1 : layer.heads, "res_fc.weight"));
  return out;
}

NamedTensors gatv2_to_dgl(const ConvertedLayer& layer, Source& source) {
  NamedTensors out;
  move(source, "att", "attn", out);
  Tensor from = source.take("lin_l.weight"), to = source.take("lin_r.weight");
  put(out, "fc_src.weight", from);
  if (!source.has("lin_l.bias")) {
    put(out, "fc_dst.weight", to);
    return out;
  }
  // A bias of all sources is a bias of the result; its contribution to the scores is subtracted.
  Tensor bias = source.take("bias");
  if (!layer.concat) bias = repeated(bias, layer.heads, "bias");
  put(out, "fc_src.bias", sum(source.take("lin_l.bias"), 1, bias, "bias"));
  put(out, "fc_dst.weight", to);
  put(out, "fc_dst.bias", sum(source.take("lin_r.bias"), -1, bias, "bias"));
  return out;
}

NamedTensors gatv2_to_pyg(const ConvertedLayer& layer, Source& source) {
  NamedTensors out;
  move(source, "attn", "att", out);
  const bool biased = source.has("fc_src.bias");
  if (biased) {
    const int64_t width = out[0].second.shape().num_elements();
    put(out, "bias", zeros_as(out[0].second, {layer.concat ? width : width / layer.heads}));
  }
  move(source, "fc_src.weight", "lin_l.weight", out);
  move_if(source, "fc_src.bias", "lin_l.bias", out);
  move(source, "fc_dst.weight", "lin_r.weight", out);
  move_if(source, "fc_dst.bias", "lin_r.bias", out);
  return out;
}

NamedTensors sage_to_dgl(const char* neighbors, const char* root, Source& source) {
  NamedTensors out;
  const std::string from(neighbors);
  move_if(source, "lin.weight", "fc_pool.weight", out);
  move_if(source, "lin.bias", "fc_pool.bias", out);
  move(source, from + ".weight", "fc_neigh.weight", out);
  if (!source.has(std::string(root) + ".weight"))
    fail(Status::kUnsupported, "SAGEConv without the own row has no counterpart in DGL");
  move(source, std::string(root) + ".weight", "fc_self.weight", out);
  move_if(source, from + ".bias", "fc_self.bias", out);
  return out;
}

NamedTensors sage_to_pyg(const char* neighbors, const char* root, Source& source) {
  NamedTensors out;
  const std::string to(neighbors);
  move_if(source, "fc_pool.weight", "lin.weight", out);
  move_if(source, "fc_pool.bias", "lin.bias", out);
  move(source, "fc_neigh.weight", to + ".weight", out);
  move_if(source, "fc_self.bias", to + ".bias", out);
  move(source, "fc_self.weight", std::string(root) + ".weight", out);
  return out;
}

NamedTensors edge_to_dgl(Source& source) {
  const Tensor weight = source.take("nn.weight");
  check_matrix(weight, "nn.weight");
  const int64_t in = weight.shape()[1] / 2;
  NamedTensors out;
  put(out, "theta.weight", negated(columns_of(weight, in, in, "nn.weight"), "nn.weight"));
  put(out, "theta.bias", zeros_as(weight, {weight.shape()[0]}));
  put(out, "phi.weight", columns_of(weight, 0, in, "nn.weight"));
  move(source, "nn.bias", "phi.bias", out);
  return out;
}

NamedTensors edge_to_pyg(Source& source) {
  const Tensor theta = negated(source.take("theta.weight"), "theta.weight");
  const Tensor phi = source.take("phi.weight");
  check_matrix(phi, "phi.weight");
  const int64_t rows = phi.shape()[0], in = phi.shape()[1];
  const Tensor weight = visit_floats(phi, "phi.weight", [&]<typename T>() {
    const auto first = phi.as<const T>();
    const auto second = reshaped(theta, phi.shape(), "theta.weight").as<const T>();
    return made<T>({rows, 2 * in}, [&](int64_t i) {
      const int64_t row = i / (2 * in), column = i % (2 * in);
      return column < in ? first[row * in + column] : second[row * in + column - in];
    });
  });
  NamedTensors out;
  put(out, "nn.weight", weight);
  put(out, "nn.bias", sum(source.take("phi.bias"), 1, source.take("theta.bias"), "theta.bias"));
  return out;
}

NamedTensors relation_to_dgl(Source& source) {
  NamedTensors out;
  move_if(source, "bias", "h_bias", out);
  move_if(source, "root", "loop_weight", out);
  const Tensor weight = source.take("weight");
  const Shape& shape = weight.shape();
  put(out, "linear_r.W",
      shape.num_dims == 4 ? reshaped(weight, {shape[0], shape.row_elements()}, "weight") : weight);
  move_if(source, "comp", "linear_r.coeff", out);
  return out;
}

NamedTensors relation_to_pyg(const ConvertedLayer& layer, Source& source) {
  NamedTensors out;
  Tensor weight = source.take("linear_r.W");
  if (layer.kind == LayerKind::kRelationBlocks) {
    check_matrix(weight, "linear_r.W");
    const int64_t blocks = std::max<int64_t>(1, layer.blocks);
    const int64_t columns = std::max<int64_t>(1, layer.width / blocks);
    weight =
        reshaped(weight, {weight.shape()[0], blocks, weight.shape()[1] / blocks / columns, columns},
                 "linear_r.W");
  }
  put(out, "weight", weight);
  move_if(source, "linear_r.coeff", "comp", out);
  move_if(source, "loop_weight", "root", out);
  move_if(source, "h_bias", "bias", out);
  return out;
}

const char* name_of(LayerKind kind) {
  switch (kind) {
    case LayerKind::kSage:
    case LayerKind::kSagePool:
      return "SAGEConv";
    case LayerKind::kGraphMean:
      return "GraphConv";
    case LayerKind::kGcn:
      return "GCNConv";
    case LayerKind::kGat:
      return "GATConv";
    case LayerKind::kGatv2:
      return "GATv2Conv";
    case LayerKind::kGin:
      return "GINConv";
    case LayerKind::kRelation:
    case LayerKind::kRelationBlocks:
      return "RGCNConv";
    case LayerKind::kEdge:
      return "EdgeConv";
  }
  return "layer";
}

// Checks that tensors only move, so that an optimizer's state can follow.
void check_moves(const ConvertedLayer& layer, const Source& source) {
  if (layer.numbers != Numbers::kKept) return;
  const auto refuse = [&](const char* why) {
    fail(Status::kUnsupported, name_of(layer.kind), ": ", why,
         ", so that what an optimizer keeps of them cannot be converted: go on with a new "
         "optimizer");
  };
  switch (layer.kind) {
    case LayerKind::kEdge:
      return refuse("weights of one framework are sums and differences of those of the other");
    case LayerKind::kGatv2:
      if (source.has("bias") || source.has("fc_src.bias"))
        return refuse("biases of DGL are sums of those of PyG");
      return;
    case LayerKind::kGat:
      if (!layer.concat && layer.heads > 1 && source.has("bias"))
        return refuse("DGL has a bias for each head where PyG has one for their mean");
      if (!layer.concat && layer.heads > 1 && layer.residual)
        return refuse("DGL has a residual for each head where PyG has one for their mean");
      if (layer.residual && !source.has("res_fc.weight")) {
        const Shape* shape = source.shape_of("res.weight");
        if (!shape || shape->num_dims != 2 || (*shape)[0] == (*shape)[1])
          return refuse("weights of a residual as wide as the result are in PyG alone");
      }
      return;
    default:
      return;
  }
}

}  // namespace

NamedTensors to_dgl(const ConvertedLayer& layer, const NamedTensors& pyg) {
  Source source(pyg);
  check_moves(layer, source);
  NamedTensors out;
  switch (layer.kind) {
    case LayerKind::kSage:
    case LayerKind::kSagePool:
      out = sage_to_dgl("lin_l", "lin_r", source);
      break;
    case LayerKind::kGraphMean:
      out = sage_to_dgl("lin_rel", "lin_root", source);
      break;
    case LayerKind::kGcn:
      out = gcn_to_dgl(source);
      break;
    case LayerKind::kGat:
      out = gat_to_dgl(layer, source);
      break;
    case LayerKind::kGatv2:
      out = gatv2_to_dgl(layer, source);
      break;
    case LayerKind::kGin:
      move_eps(layer, source, out);
      move_network(source, "nn", "apply_func", false, out);
      break;
    case LayerKind::kRelation:
    case LayerKind::kRelationBlocks:
      out = relation_to_dgl(source);
      break;
    case LayerKind::kEdge:
      out = edge_to_dgl(source);
      break;
  }
  source.check_empty(name_of(layer.kind));
  return out;
}

NamedTensors to_pyg(const ConvertedLayer& layer, const NamedTensors& dgl) {
  Source source(dgl);
  check_moves(layer, source);
  NamedTensors out;
  switch (layer.kind) {
    case LayerKind::kSage:
    case LayerKind::kSagePool:
      out = sage_to_pyg("lin_l", "lin_r", source);
      break;
    case LayerKind::kGraphMean:
      out = sage_to_pyg("lin_rel", "lin_root", source);
      break;
    case LayerKind::kGcn:
      out = gcn_to_pyg(source);
      break;
    case LayerKind::kGat:
      out = gat_to_pyg(layer, source);
      break;
    case LayerKind::kGatv2:
      out = gatv2_to_pyg(layer, source);
      break;
    case LayerKind::kGin:
      move_eps(layer, source, out);
      move_network(source, "apply_func", "nn", layer.mlp, out);
      break;
    case LayerKind::kRelation:
    case LayerKind::kRelationBlocks:
      out = relation_to_pyg(layer, source);
      break;
    case LayerKind::kEdge:
      out = edge_to_pyg(source);
      break;
  }
  source.check_empty(name_of(layer.kind));
  return out;
}

}  // namespace gnnmg::nn
