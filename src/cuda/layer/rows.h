// Operations row by row, as members of the table.
#pragma once

#include "cuda/layer/finish.h"
#include "cuda/layer/normalize.h"
#include "cuda/layer/table.h"

namespace gnnmg::cuda {

template <typename Queue, typename T>
void add_rows(nn::kernels::DeviceLayers<T>& table) {
  table.finish = finish<Queue, T>;
  table.finish_backward = finish_backward<Queue, T>;
  table.column_sums = column_sums<Queue, T>;
  table.normalize = normalize<Queue, T>;
  table.normalize_backward = normalize_backward<Queue, T>;
}

}  // namespace gnnmg::cuda
