/* The progress bar and the lines of `train`. */
#include "train_progress.h"

#include <math.h>
#include <stdio.h>

static double validation_of(const gnnmg_epoch_info* epoch, int metric) {
  switch (metric) {
    case GNNMG_METRIC_LOSS:
      return epoch->validation_loss;
    case GNNMG_METRIC_ROC_AUC:
      return epoch->validation_roc_auc;
    case GNNMG_METRIC_RMSE:
      return epoch->validation_rmse;
    default:
      return epoch->validation_accuracy;
  }
}

int32_t train_progress_epoch(const gnnmg_epoch_info* epoch, void* user_data) {
  train_progress* progress = user_data;
  train_times* times = &progress->times;
  times->epochs += epoch->seconds;
  times->evaluation += epoch->evaluation_seconds;
  times->wait += epoch->wait_seconds;
  times->compute += epoch->compute_seconds;
  times->reduce += epoch->reduce_seconds;
  times->peers += epoch->peer_wait_seconds;
  times->optimizer += epoch->optimizer_seconds;
  times->sample += epoch->sample_seconds;
  times->gather += epoch->gather_seconds;
  times->mean_busy += epoch->mean_busy_seconds;
  times->most_busy += epoch->most_busy_seconds;
  if (epoch->slowest_rank < TRAIN_RANKS) times->slowest[epoch->slowest_rank] += 1;
  times->seeds_per_second = epoch->seeds_per_second;
  times->num_epochs += 1;
  if (epoch->evaluated)
    train_curve_add(progress->curve, epoch->epoch, validation_of(epoch, progress->metric));
  if (progress->quiet || progress->bar) return 0;
  printf("epoch %3lld/%lld  loss %.4f", (long long)epoch->epoch + 1, (long long)epoch->num_epochs,
         epoch->train_loss);
  if (epoch->evaluated)
    printf("  validation %s %.4f%s", progress->name, validation_of(epoch, progress->metric),
           epoch->best ? " *" : "  ");
  printf("  %.2f s  %.0f seeds/s\n", epoch->seconds + epoch->evaluation_seconds,
         epoch->seeds_per_second);
  fflush(stdout);
  return 0;
}

/* The times of the epoch, on this process's first rank. */
static void draw_times(const gnnmg_progress_info* info) {
  if (!(info->seconds > 0)) return;
  const double percent = info->seconds / 100;
  fprintf(stderr, "  wait %.0f compute %.0f all-reduce %.0f peers %.0f update %.0f %%",
          info->wait_seconds / percent, info->compute_seconds / percent,
          (info->reduce_seconds - info->peer_wait_seconds) / percent,
          info->peer_wait_seconds / percent, info->optimizer_seconds / percent);
  if (info->sample_seconds + info->gather_seconds > 0)
    fprintf(stderr, " (beside: sample %.0f gather %.0f %%)", info->sample_seconds / percent,
            info->gather_seconds / percent);
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
  const long long shown = info.epoch < info.num_epochs ? info.epoch + 1 : info.num_epochs;
  fprintf(stderr, "\r[%s] %3.0f%%  epoch %lld/%lld  loss %.4f", bar, 100 * share, shown,
          (long long)info.num_epochs, info.loss);
  if (info.accuracy > 0) fprintf(stderr, "  accuracy %.4f", info.accuracy);
  if (info.has_validation)
    fprintf(stderr, "  %s %.4f (best %.4f, epoch %lld)", progress->name, info.validation,
            info.best_validation, (long long)info.best_epoch + 1);
  if (info.evaluating)
    fprintf(stderr, "  validating");
  else
    fprintf(stderr, "  %.0f seeds/s", info.seeds_per_second);
  draw_times(&info);
  if (share > 0.01 && share < 1) {
    const double left = info.elapsed_seconds * (1 - share) / share;
    fprintf(stderr, "  %d:%02d left", (int)(left / 60), (int)fmod(left, 60));
  }
  fprintf(stderr, "\033[K");
  fflush(stderr);
}

void train_progress_clear(const train_progress* progress) {
  if (progress->bar) fprintf(stderr, "\r\033[K");
}

void train_progress_rank(const gnnmg_rank_info* rank, int first) {
  const double percent = rank->seconds > 0 ? rank->seconds / 100 : 1;
  if (first)
    printf(
        "ranks   in %% of epoch %lld\n"
        "        rank  on     seconds  compute  reduce  peers  update    idle  waiting"
        "  (sample  gather)   bus MB  hits\n",
        (long long)rank->epoch + 1);
  char on[16] = "CPU";
  if (rank->device >= 0) snprintf(on, sizeof on, "GPU %d", (int)rank->device);
  printf("        %4d  %-6s %7.2f  %7.1f  %6.1f  %5.1f  %6.1f  %6.1f  %7.1f  (%6.1f  %6.1f)",
         (int)rank->rank, on, rank->seconds, rank->compute_seconds / percent,
         (rank->reduce_seconds - rank->peer_wait_seconds) / percent,
         rank->peer_wait_seconds / percent, rank->optimizer_seconds / percent,
         rank->idle_seconds / percent, rank->wait_seconds / percent, rank->sample_seconds / percent,
         rank->gather_seconds / percent);
  if (rank->device >= 0) printf("  %7.1f", (double)rank->bus_bytes * 1e-6);
  if (rank->num_rows > 0)
    printf("  %.0f %%", 100 * (double)rank->num_rows_there / (double)rank->num_rows);
  printf("\n");
}
