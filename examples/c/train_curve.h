/* Validation over the epochs of several runs: folds have nothing else to be measured on. */
#ifndef TRAIN_CURVE_H
#define TRAIN_CURVE_H

#include <stdint.h>

enum { TRAIN_CURVE_LAST = 10 }; /* validations whose mean is taken at a run's end */

/* Sums from which mean and standard error follow. */
typedef struct train_sums {
  int64_t count;
  double sum, squares;
} train_sums;

typedef struct train_point {
  int64_t epoch; /* counting from 0 */
  train_sums runs;
} train_point;

/* Begins as zeros. */
typedef struct train_curve {
  train_point* points;
  int64_t num_points, capacity;
  int64_t at;                    /* points of the current run */
  double last[TRAIN_CURVE_LAST]; /* newest values, in a ring */
  train_sums last_means;         /* sums over the runs that have ended */
} train_curve;

void train_sums_add(train_sums* sums, double value);
double train_sums_mean(const train_sums* sums);
double train_sums_error(const train_sums* sums); /* 0 for a single one */

void train_curve_add(train_curve* curve, int64_t epoch, double value);
void train_curve_end_run(train_curve* curve);

/* The epoch that is best in the mean of all runs, the largest or the smallest, the first of equals;
 * NULL without any. */
const train_point* train_curve_best(const train_curve* curve, int largest);

void train_curve_free(train_curve* curve);

#endif
