/* The progress display of `train`: one line per epoch, and on a terminal a bar below them, which is
 * as wide as the terminal at most. */
#ifndef TRAIN_PROGRESS_H
#define TRAIN_PROGRESS_H

#include <gnnmg.h>

#include "train_curve.h"

enum { TRAIN_RANKS = 1024 };

/* The times of a training, summed over its epochs. */
typedef struct train_times {
  double epochs, evaluation;               /* seconds */
  double wait, compute, reduce, optimizer; /* rank 0's loop, seconds */
  double peers;                            /* part of `reduce`: waiting for slower ranks */
  double sample, gather;                   /* rank 0's loader threads, seconds */
  double mean_busy, most_busy;             /* seconds of all ranks; of the slowest of each epoch */
  double seeds_per_second;                 /* value of the last epoch */
  int64_t num_epochs;
  int64_t slowest[TRAIN_RANKS]; /* number of epochs in which a rank was the slowest */
} train_times;

/* A metric by the library's word for it. */
typedef struct train_metric {
  const char *word, *name; /* "roc_auc", "ROC-AUC" */
  size_t offset;           /* place in gnnmg_metrics */
  int smaller;             /* 1: smaller is better */
} train_metric;

const train_metric* train_metric_of(const char* word);
double train_metric_value(const train_metric* metric, const gnnmg_metrics* result);

typedef struct train_progress {
  int bar;                    /* 1: standard error is a terminal and gets a bar */
  int quiet;                  /* 1: nothing is shown */
  const train_metric* metric; /* selects the best epoch */
  train_curve* curve;         /* gets the validations */
  train_times times;
} train_progress;

/* The epoch callback; `user_data` is a train_progress. */
int32_t train_progress_epoch(const gnnmg_epoch_info* epoch, void* user_data);

/* Draws the bar once. */
void train_progress_draw(const train_progress* progress, const gnnmg_trainer* trainer);

/* Prints a row of a table for a rank's last epoch, and the head before the first: its times, from
 * compute to idle as the total, with the part of idle spent waiting for mini-batches, its GPU's
 * reads over the bus, and the number of gathered rows in its GPU's memory. */
void train_progress_rank(const gnnmg_rank_info* rank, int first);

/* Prints a table of classes, or of the targets of a binary task, from a confusion matrix. */
void train_progress_classes(const gnnmg_tensor* confusion);

/* Wipes the bar, so that other text can follow. */
void train_progress_clear(const train_progress* progress);

/* Names the present work in the place of the bar, until that is wiped. */
void train_progress_busy(const train_progress* progress, const char* what);

/* Prints a line on standard error, above the bar. */
void train_progress_say(const train_progress* progress, const char* text);

#endif
