/* The validation curves of several runs, added up. */
#include "train_curve.h"

#include <math.h>
#include <stdlib.h>

void train_sums_add(train_sums* sums, double value) {
  sums->count += 1;
  sums->sum += value;
  sums->squares += value * value;
}

double train_sums_mean(const train_sums* sums) { return sums->sum / (double)sums->count; }

double train_sums_error(const train_sums* sums) {
  if (sums->count < 2) return 0;
  const double count = (double)sums->count;
  const double variance = (sums->squares - sums->sum * train_sums_mean(sums)) / (count - 1);
  return sqrt((variance > 0 ? variance : 0) / count);
}

void train_curve_add(train_curve* curve, int64_t epoch, double value) {
  if (curve->at == curve->capacity) {
    curve->capacity = 2 * curve->capacity + 64;
    train_point* grown = realloc(curve->points, (size_t)curve->capacity * sizeof *grown);
    if (!grown) abort(); /* no memory */
    curve->points = grown;
  }
  train_point* point = &curve->points[curve->at];
  if (curve->at == curve->num_points) {
    *point = (train_point){.epoch = epoch};
    curve->num_points += 1;
  }
  train_sums_add(&point->runs, value);
  curve->last[curve->at % TRAIN_CURVE_LAST] = value;
  curve->at += 1;
}

void train_curve_end_run(train_curve* curve) {
  const int64_t count = curve->at < TRAIN_CURVE_LAST ? curve->at : TRAIN_CURVE_LAST;
  double sum = 0;
  for (int64_t i = 0; i < count; ++i) sum += curve->last[i];
  if (count) train_sums_add(&curve->last_means, sum / (double)count);
  curve->at = 0;
}

const train_point* train_curve_best(const train_curve* curve, int largest) {
  const train_point* best = NULL;
  for (int64_t i = 0; i < curve->num_points; ++i) {
    const train_point* point = &curve->points[i];
    if (point->runs.count < curve->last_means.count) break; /* some run ended before */
    const double mean = train_sums_mean(&point->runs);
    if (!best ||
        (largest ? mean > train_sums_mean(&best->runs) : mean < train_sums_mean(&best->runs)))
      best = point;
  }
  return best;
}

void train_curve_free(train_curve* curve) { free(curve->points); }
