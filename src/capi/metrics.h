// Metrics as they cross the border.
#pragma once

#include "data/dataset.h"
#include "gnnmg.h"
#include "nn/metrics.h"

namespace gnnmg::capi {

inline gnnmg_metrics metrics_of(const nn::Metrics& in, data::Task task) {
  gnnmg_metrics out{};
  out.task = static_cast<gnnmg_task>(task);
  out.count = in.count;
  out.correct = in.correct;
  out.loss = in.loss;
  out.accuracy = in.accuracy;
  out.f1_micro = in.f1_micro;
  out.f1_macro = in.f1_macro;
  out.roc_auc = in.roc_auc;
  out.average_precision = in.average_precision;
  out.rmse = in.rmse;
  out.mae = in.mae;
  return out;
}

}  // namespace gnnmg::capi
