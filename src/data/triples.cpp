#include "data/triples.h"

#include <algorithm>
#include <limits>

#include "base/error.h"
#include "data/arrays.h"

namespace gnnmg::data {
namespace {

using base::fail;
using base::Status;
using base::Tensor;

constexpr int64_t kMostRelations = std::numeric_limits<int32_t>::max() / 2;

template <typename Id>
Triples split(std::span<const Id> values, int64_t num_nodes, int64_t num_relations, bool reversed,
              const std::string& where) {
  const int64_t count = static_cast<int64_t>(values.size()) / 3, copies = reversed ? 2 : 1;
  const int64_t relations = num_relations < 0 ? kMostRelations : num_relations;
  int64_t largest = -1;
  for (int64_t e = 0; e < count; ++e)
    for (int64_t k = 0; k < 3; ++k) {
      const int64_t id = values[3 * e + k], bound = k == 1 ? relations : num_nodes;
      if (id < 0 || id >= bound)
        fail(Status::kRange, where, ", row ", e, ": ", k == 1 ? "relation " : "node ", id,
             ", expected 0 to ", bound - 1);
      if (k == 1) largest = std::max(largest, id);
    }
  const int64_t apart = num_relations < 0 ? largest + 1 : num_relations;
  const base::DType type = base::dtype_of<Id>();
  Triples out{Tensor::empty(type, {copies * count}), Tensor::empty(type, {copies * count}),
              Tensor::empty(base::DType::kI64, {copies * count})};
  const auto sources = out.sources.as<Id>(), targets = out.targets.as<Id>();
  const auto numbers = out.relations.as<int64_t>();
  for (int64_t e = 0; e < count; ++e) {
    sources[e] = values[3 * e];
    numbers[e] = values[3 * e + 1];
    targets[e] = values[3 * e + 2];
    if (!reversed) continue;
    sources[count + e] = targets[e];
    targets[count + e] = sources[e];
    numbers[count + e] = numbers[e] + apart;
  }
  return out;
}

}  // namespace

Triples split_triples(const Tensor& rows, int64_t num_nodes, int64_t num_relations, bool reversed,
                      const std::string& where) {
  const base::Shape& shape = rows.shape();
  if (shape.num_dims != 2 || shape[1] != 3)
    fail(Status::kFormat, where, ": triples of shape ", shape.to_string(), ", expected [E, 3]");
  if (num_relations > kMostRelations)
    fail(Status::kRange, where, ": ", num_relations, " relations, at most ", kMostRelations,
         " are supported");
  if (rows.dtype() == base::DType::kI32)
    return split(rows.as<const int32_t>(), num_nodes, num_relations, reversed, where);
  return split(to_i64(rows, where).as<const int64_t>(), num_nodes, num_relations, reversed, where);
}

}  // namespace gnnmg::data
