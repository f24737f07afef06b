/*
 * Predictions in a closed loop: 50 000 nodes of mean degree 10 with 128 features, GraphSAGE of two
 * layers, 64 wide, fan-outs 10 and 10, 10 ids a call by a fixed seed.
 *
 *   bench_predict <threads> [<calls of each> [train]]
 *
 * Prints one line: seconds of wall and of CPU time, calls a second, and the time of a call. With
 * `train` another thread trains, hands over a snapshot an epoch, and stops with the last call; each
 * answer is compared with those of its snapshot afterwards, for one call in 50. The seconds of the
 * first epochs, before the calls, and of those beside them show the slowdown of the training.
 */
#define _POSIX_C_SOURCE 200809L
#include <gnnmg.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

enum {
  NUM_NODES = 50000,
  IDS = 10,
  CLASSES = 10,
  MOST_THREADS = 16,
  MOST_SNAPSHOTS = 4096,
  EVERY = 50
};
enum { ALONE = 3 }; /* epochs before the calls */

#define CHECK(call)                                               \
  do {                                                            \
    if ((call) < 0) {                                             \
      fprintf(stderr, "bench_predict: %s\n", gnnmg_last_error()); \
      exit(1);                                                    \
    }                                                             \
  } while (0)

typedef struct {
  int64_t ids[IDS];
  float rows[IDS * CLASSES];
  int snapshot;
} answer;

static gnnmg_dataset* data;
static gnnmg_trainer* trainer;
static gnnmg_predictor* snapshots[MOST_SNAPSHOTS];
static atomic_int num_snapshots, num_busy, beginning;
static double epoch_seconds[MOST_SNAPSHOTS];
static int calls = 20000;

static double seconds_of(clockid_t clock) {
  struct timespec now;
  clock_gettime(clock, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static uint64_t next_random(uint64_t* state) { /* splitmix64 */
  uint64_t z = *state += 0x9e3779b97f4a7c15u;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

/* Two threads may make one each, so the number of snapshots is raised after its place is filled. */
static void publish(const gnnmg_model* model) {
  const int number = atomic_load(&num_snapshots);
  if (number == MOST_SNAPSHOTS) return;
  CHECK(gnnmg_predictor_create(model, data, "fanouts=10,10 seed=1", &snapshots[number]));
  atomic_store(&num_snapshots, number + 1);
}

static int32_t on_epoch(const gnnmg_epoch_info* epoch, void* user_data) {
  (void)user_data;
  if (epoch->epoch < MOST_SNAPSHOTS) epoch_seconds[epoch->epoch] = epoch->times.total;
  gnnmg_model* model;
  CHECK(gnnmg_trainer_snapshot(trainer, &model));
  publish(model);
  gnnmg_model_free(model);
  if (epoch->epoch + 1 == ALONE) atomic_store(&beginning, 1);
  return 0;
}

static void* train(void* unused) {
  CHECK(gnnmg_trainer_run(trainer, on_epoch, NULL, NULL));
  return unused;
}

static void* serve(void* argument) {
  answer* kept = argument; /* one in EVERY calls */
  uint64_t state = (uint64_t)(kept[0].snapshot + 1);
  for (int i = 0; i < calls; ++i) {
    answer one;
    for (int k = 0; k < IDS; ++k) one.ids[k] = (int64_t)(next_random(&state) % NUM_NODES);
    one.snapshot = atomic_load(&num_snapshots) - 1;
    const gnnmg_status status =
        gnnmg_predictor_run(snapshots[one.snapshot], one.ids, IDS, GNNMG_OUTPUT_LOGITS, one.rows,
                            sizeof one.rows, NULL);
    if (status == GNNMG_ERR_BUSY)
      atomic_fetch_add(&num_busy, 1);
    else
      CHECK(status);
    if (i % EVERY == 0) kept[i / EVERY] = one;
  }
  return NULL;
}

static int num_wrong(const answer* answers, int count) {
  int wrong = 0;
  for (int i = 0; i < count; ++i) {
    float rows[IDS * CLASSES];
    CHECK(gnnmg_predictor_run(snapshots[answers[i].snapshot], answers[i].ids, IDS,
                              GNNMG_OUTPUT_LOGITS, rows, sizeof rows, NULL));
    wrong += memcmp(rows, answers[i].rows, sizeof rows) != 0;
  }
  return wrong;
}

static double mean(const double* values, int from, int to) {
  double sum = 0;
  for (int i = from; i < to; ++i) sum += values[i];
  return to > from ? sum / (to - from) : 0;
}

static gnnmg_model* make_world(void) {
  gnnmg_context* context;
  gnnmg_model* model;
  char settings[128];
  snprintf(settings, sizeof settings, "num_nodes=%d mean_degree=10 num_features=128 num_classes=%d",
           NUM_NODES, CLASSES);
  CHECK(gnnmg_context_create(GNNMG_VERSION, NULL, &context));
  CHECK(gnnmg_dataset_generate(context, "planted", settings, &data));
  CHECK(gnnmg_model_create(context, data, NULL, "hidden_dim=64", &model));
  CHECK(gnnmg_trainer_create(model, data, NULL, NULL, NULL,
                             "num_epochs=100000 num_ranks=1 torch_threads=1 evaluate_every=0",
                             &trainer));
  return model;
}

int main(int argc, char** argv) {
  const int threads = argc > 1 ? atoi(argv[1]) : 1;
  if (argc > 2) calls = atoi(argv[2]);
  const int trains = argc > 3 && strcmp(argv[3], "train") == 0;
  if (threads < 1 || threads > MOST_THREADS || calls < 1) return 1;
  publish(make_world());
  pthread_t training, serving[MOST_THREADS];
  if (trains) {
    pthread_create(&training, NULL, train, NULL);
    while (!atomic_load(&beginning)) nanosleep(&(struct timespec){0, 1000000}, NULL);
  }
  const int count = (calls + EVERY - 1) / EVERY;
  answer* answers = calloc((size_t)threads * (size_t)count, sizeof *answers);
  if (answers == NULL) return 1;
  const double wall = seconds_of(CLOCK_MONOTONIC), cpu = seconds_of(CLOCK_PROCESS_CPUTIME_ID);
  for (int t = 0; t < threads; ++t) {
    answers[t * count].snapshot = t;
    pthread_create(&serving[t], NULL, serve, &answers[t * count]);
  }
  for (int t = 0; t < threads; ++t) pthread_join(serving[t], NULL);
  const double took = seconds_of(CLOCK_MONOTONIC) - wall;
  const double used = seconds_of(CLOCK_PROCESS_CPUTIME_ID) - cpu;
  if (trains) {
    gnnmg_trainer_stop(trainer);
    pthread_join(training, NULL);
  }
  const int last = atomic_load(&num_snapshots);
  double p50 = 0, p99 = 0;
  for (int s = 0; s < last; ++s) { /* the slowest snapshot with enough answers counts */
    gnnmg_predictor_info info = {.struct_size = sizeof info};
    CHECK(gnnmg_predictor_get_info(snapshots[s], &info));
    if (info.num_calls < 200) continue;
    if (info.p50_seconds > p50) p50 = info.p50_seconds;
    if (info.p99_seconds > p99) p99 = info.p99_seconds;
  }
  printf(
      "%d threads: %.3f s wall, %.3f s CPU, %.0f calls/s, p50 %.3f ms, p99 %.3f ms, %d busy, "
      "%d of %d answers wrong",
      threads, took, used, threads * calls / took, 1e3 * p50, 1e3 * p99, atomic_load(&num_busy),
      num_wrong(answers, threads * count), threads * count);
  if (trains)
    printf(", %d snapshots, epoch alone %.3f s, beside %.3f s", last, mean(epoch_seconds, 1, ALONE),
           mean(epoch_seconds, ALONE, last - 2));
  printf("\n");
  return 0;
}
