/* The progress bar and the lines of `train`. */
#include "train_progress.h"

#include <gnnmg_util.h>
#include <math.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

/* A line of parts. The first part that does not fit the width is dropped, with all after it. */
typedef struct line {
  char text[512];
  size_t width; /* characters that fit */
  int full;
} line;

static void add(line* to, const char* format, ...) {
  char part[512];
  va_list values;
  va_start(values, format);
  vsnprintf(part, sizeof part, format, values);
  va_end(values);
  const size_t used = strlen(to->text);
  to->full = to->full || used + strlen(part) > to->width;
  if (!to->full) memcpy(to->text + used, part, strlen(part) + 1);
}

/* An empty line as wide as the terminal is now; the last column stays free, because a character
 * there makes some terminals begin another line. */
static line line_of_terminal(void) {
  struct winsize size = {0};
  line made = {.width = 79};
  if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 1)
    made.width = size.ws_col < sizeof made.text ? size.ws_col - 1u : sizeof made.text - 1;
  return made;
}

#define METRIC(field, name, smaller) {#field, name, offsetof(gnnmg_metrics, field), smaller}
static const train_metric metrics[] = {
    METRIC(accuracy, "accuracy", 0), METRIC(loss, "loss", 1),
    METRIC(roc_auc, "ROC-AUC", 0),   METRIC(f1_macro, "macro F1", 0),
    METRIC(f1_micro, "micro F1", 0), METRIC(average_precision, "average precision", 0),
    METRIC(rmse, "RMSE", 1),         METRIC(mae, "MAE", 1)};

const train_metric* train_metric_of(const char* word) {
  for (size_t i = 0; i < sizeof metrics / sizeof *metrics; ++i)
    if (strcmp(metrics[i].word, word) == 0) return &metrics[i];
  return &metrics[0];
}

double train_metric_value(const train_metric* metric, const gnnmg_metrics* result) {
  return *(const double*)((const char*)result + metric->offset);
}

int32_t train_progress_epoch(const gnnmg_epoch_info* epoch, void* user_data) {
  train_progress* progress = user_data;
  train_times* times = &progress->times;
  times->epochs += epoch->times.total;
  times->evaluation += epoch->evaluation_seconds;
  times->wait += epoch->times.wait;
  times->compute += epoch->times.compute;
  times->reduce += epoch->times.reduce;
  times->peers += epoch->times.peer_wait;
  times->optimizer += epoch->times.optimizer;
  times->sample += epoch->times.sample;
  times->gather += epoch->times.gather;
  times->mean_busy += epoch->mean_busy_seconds;
  times->most_busy += epoch->most_busy_seconds;
  if (epoch->slowest_rank < TRAIN_RANKS) times->slowest[epoch->slowest_rank] += 1;
  times->seeds_per_second = epoch->seeds_per_second;
  times->num_epochs += 1;
  if (epoch->validation)
    train_curve_add(progress->curve, epoch->epoch,
                    train_metric_value(progress->metric, epoch->validation));
  if (progress->quiet) return 0;
  line shown = {.width = sizeof shown.text - 1};
  if (progress->bar) shown = line_of_terminal();
  add(&shown, "epoch %3lld/%lld  loss %.4f", (long long)epoch->epoch + 1,
      (long long)epoch->num_epochs, epoch->train_loss);
  if (epoch->validation)
    add(&shown, "  validation %s %.4f%s", progress->metric->name,
        train_metric_value(progress->metric, epoch->validation), epoch->best ? " *" : "  ");
  add(&shown, "  %.2f s", epoch->times.total + epoch->evaluation_seconds);
  add(&shown, "  %.0f seeds/s", epoch->seeds_per_second);
  /* One write, since another thread may draw the bar, whose place the line takes. */
  printf("%s%s\n", progress->bar ? "\r\033[K" : "", shown.text);
  fflush(stdout);
  return 0;
}

/* The times of the epoch, on this process's first rank. */
static void add_times(line* to, const gnnmg_times* times) {
  if (!(times->total > 0)) return;
  const double percent = times->total / 100;
  add(to, "  wait %.0f compute %.0f all-reduce %.0f peers %.0f update %.0f %%",
      times->wait / percent, times->compute / percent, (times->reduce - times->peer_wait) / percent,
      times->peer_wait / percent, times->optimizer / percent);
  if (times->sample + times->gather > 0)
    add(to, " (beside: sample %.0f gather %.0f %%)", times->sample / percent,
        times->gather / percent);
}

void train_progress_draw(const train_progress* progress, const gnnmg_trainer* trainer) {
  enum { width = 24 };
  gnnmg_progress_info info = {.struct_size = sizeof info};
  if (!progress->bar || gnnmg_trainer_progress(trainer, &info) != GNNMG_OK) return;
  const double epoch_share = info.num_steps ? (double)info.step / (double)info.num_steps : 0;
  double share = ((double)info.epoch + epoch_share) / (double)info.num_epochs;
  if (!(share < 1)) share = 1;
  char bar[width + 1];
  for (int i = 0; i < width; ++i) bar[i] = i < share * width ? '=' : '.';
  bar[width] = 0;
  const long long epoch = info.epoch < info.num_epochs ? info.epoch + 1 : info.num_epochs;
  line shown = line_of_terminal(); /* the most important parts first */
  add(&shown, "[%s] %3.0f%%", bar, 100 * share);
  add(&shown, "  epoch %lld/%lld", epoch, (long long)info.num_epochs);
  const int begun = info.seeds_per_second > 0;
  if (begun) add(&shown, "  loss %.4f", info.loss);
  if (share > 0.01 && share < 1) {
    const double left = info.elapsed_seconds * (1 - share) / share;
    add(&shown, "  %d:%02d left", (int)(left / 60), (int)fmod(left, 60));
  }
  if (info.evaluating) add(&shown, "  validating");
  if (info.has_validation)
    add(&shown, "  validation %s %.4f", progress->metric->name, info.validation);
  if (info.accuracy > 0) add(&shown, "  training accuracy %.4f", info.accuracy);
  if (info.has_validation)
    add(&shown, "  best %.4f in epoch %lld", info.best_validation, (long long)info.best_epoch + 1);
  if (begun) add(&shown, "  %.0f seeds/s", info.seeds_per_second);
  add_times(&shown, &info.times);
  fprintf(stderr, "\r%s\033[K", shown.text);
  fflush(stderr);
}

void train_progress_clear(const train_progress* progress) {
  if (progress->bar) fprintf(stderr, "\r\033[K");
}

void train_progress_busy(const train_progress* progress, const char* what) {
  if (!progress->bar) return;
  line shown = line_of_terminal();
  shown.width = shown.width < 4 ? 0 : shown.width - 4;
  add(&shown, "%.*s", (int)shown.width, what);
  fprintf(stderr, "\r%s ...\033[K", shown.text);
  fflush(stderr);
}

void train_progress_say(const train_progress* progress, const char* text) {
  train_progress_clear(progress);
  fprintf(stderr, "%s\n", text);
}

void train_progress_rank(const gnnmg_rank_info* rank, int first) {
  const double percent = rank->times.total > 0 ? rank->times.total / 100 : 1;
  if (first)
    printf(
        "ranks   in %% of epoch %lld\n"
        "        rank  on     seconds  compute  reduce  peers  update    idle  waiting"
        "  (sample  gather)   bus MB  hits\n",
        (long long)rank->epoch + 1);
  char on[16] = "CPU";
  if (rank->device >= 0) snprintf(on, sizeof on, "GPU %d", (int)rank->device);
  printf("        %4d  %-6s %7.2f  %7.1f  %6.1f  %5.1f  %6.1f  %6.1f  %7.1f  (%6.1f  %6.1f)",
         (int)rank->rank, on, rank->times.total, rank->times.compute / percent,
         (rank->times.reduce - rank->times.peer_wait) / percent, rank->times.peer_wait / percent,
         rank->times.optimizer / percent, rank->idle_seconds / percent, rank->times.wait / percent,
         rank->times.sample / percent, rank->times.gather / percent);
  if (rank->device >= 0) printf("  %7.1f", (double)rank->bus_bytes * 1e-6);
  if (rank->num_rows > 0)
    printf("  %.0f %%", 100 * (double)rank->num_rows_there / (double)rank->num_rows);
  printf("\n");
}

void train_progress_classes(const gnnmg_tensor* confusion) {
  gnnmg_tensor_info info = {.struct_size = sizeof info};
  GNNMG_CHECK(gnnmg_tensor_get_info(confusion, &info));
  const int64_t* matrix = gnnmg_tensor_data_i64(confusion, NULL);
  const int targets = info.num_dims == 3;
  printf("%s     rows  precision  recall      F1\n", targets ? "target" : "class ");
  for (int64_t c = 0; c < info.shape[0]; ++c) {
    const int64_t *of = matrix + (targets ? 4 * c : 0), index = targets ? 1 : c;
    int64_t rows = 0;
    for (int64_t i = 0; i < info.shape[1]; ++i) rows += of[index * info.shape[1] + i];
    printf("%6lld  %7lld  %9.4f  %6.4f  %6.4f\n", (long long)c, (long long)rows,
           gnnmg_precision(of, info.shape[1], index), gnnmg_recall(of, info.shape[1], index),
           gnnmg_f1(of, info.shape[1], index));
  }
}
