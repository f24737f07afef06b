/*
 * Costs of a C program: a call that reads a property, and an epoch of its own loop.
 * The benchmarks of the bindings do the same in their languages and start this program to take
 * turns with it.
 *
 * - `bench_calls`: medians of 11 rounds
 * - `bench_calls serve`: answers each line of standard input, "property" or "epoch", by seconds of
 *   wall and of CPU time
 *
 * A property is read `calls` times. The epoch is GraphSAGE with the library's defaults over a
 * generated graph of `nodes` nodes; the n-th has the same mini-batches in every program.
 */
#define _POSIX_C_SOURCE 200809L
#include <gnnmg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

enum { nodes = 20000, calls = 200000, rounds = 11 };

#define CHECK(call)                                             \
  do {                                                          \
    if ((call) < 0) {                                           \
      fprintf(stderr, "bench_calls: %s\n", gnnmg_last_error()); \
      exit(1);                                                  \
    }                                                           \
  } while (0)

typedef struct {
  gnnmg_graph* graph;
  gnnmg_loader* loader;
  gnnmg_model* model;
  gnnmg_optimizer* optimizer;
} world;

typedef struct {
  double wall, cpu; /* seconds */
} cost;

static world make_world(void) {
  world w;
  gnnmg_context* context;
  gnnmg_dataset* data;
  gnnmg_sampler* sampler;
  char settings[64];
  snprintf(settings, sizeof settings, "num_nodes=%d", nodes);
  CHECK(gnnmg_context_create(GNNMG_VERSION, NULL, &context));
  CHECK(gnnmg_dataset_generate(context, "planted", settings, &data));
  CHECK(gnnmg_dataset_get_graph(data, 0, &w.graph));
  CHECK(gnnmg_sampler_create(w.graph, NULL, NULL, &sampler));
  CHECK(gnnmg_loader_create(data, sampler, NULL, NULL, &w.loader));
  CHECK(gnnmg_model_create(context, data, NULL, NULL, &w.model));
  CHECK(gnnmg_optimizer_create(w.model, NULL, &w.optimizer));
  gnnmg_sampler_free(sampler); /* the loader keeps it, and it the rest */
  gnnmg_dataset_free(data);
  gnnmg_context_free(context);
  return w;
}

static void property(const world* w) {
  for (int i = 0; i < calls; ++i) {
    int64_t count = 0;
    CHECK(gnnmg_graph_num_nodes(w->graph, 0, &count));
    if (count != nodes) exit(1);
  }
}

static void epoch(const world* w) {
  gnnmg_batch* batch;
  gnnmg_status status;
  while ((status = gnnmg_loader_next(w->loader, &batch, -1)) == GNNMG_OK) {
    gnnmg_tensor* logits;
    double loss;
    CHECK(gnnmg_model_forward(w->model, batch, &logits));
    CHECK(gnnmg_model_backward(w->model, GNNMG_LOSS_AUTO, &loss));
    CHECK(gnnmg_optimizer_step(w->optimizer));
    gnnmg_tensor_free(logits);
    gnnmg_batch_free(batch);
  }
  CHECK(status);
}

static double seconds(struct timeval time) {
  return (double)time.tv_sec + 1e-6 * (double)time.tv_usec;
}

static cost measure(void (*work)(const world*), const world* w) {
  struct timespec begin, end;
  struct rusage before, after;
  clock_gettime(CLOCK_MONOTONIC, &begin);
  getrusage(RUSAGE_SELF, &before);
  work(w);
  getrusage(RUSAGE_SELF, &after);
  clock_gettime(CLOCK_MONOTONIC, &end);
  return (cost){(double)(end.tv_sec - begin.tv_sec) + 1e-9 * (double)(end.tv_nsec - begin.tv_nsec),
                seconds(after.ru_utime) + seconds(after.ru_stime) - seconds(before.ru_utime) -
                    seconds(before.ru_stime)};
}

static int ascending(const void* a, const void* b) {
  const double difference = *(const double*)a - *(const double*)b;
  return (difference > 0) - (difference < 0);
}

static cost median(void (*work)(const world*), const world* w) {
  double wall[rounds], cpu[rounds];
  for (int i = 0; i < rounds; ++i) {
    const cost one = measure(work, w);
    wall[i] = one.wall;
    cpu[i] = one.cpu;
  }
  qsort(wall, rounds, sizeof *wall, ascending);
  qsort(cpu, rounds, sizeof *cpu, ascending);
  return (cost){wall[rounds / 2], cpu[rounds / 2]};
}

static void serve(const world* w) {
  char line[64];
  while (fgets(line, sizeof line, stdin)) {
    line[strcspn(line, "\n")] = 0;
    cost one;
    if (strcmp(line, "property") == 0) {
      one = measure(property, w);
    } else if (strcmp(line, "epoch") == 0) {
      one = measure(epoch, w);
    } else {
      fprintf(stderr, "bench_calls: \"%s\" is neither property nor epoch\n", line);
      exit(2);
    }
    printf("%.9f %.6f\n", one.wall, one.cpu);
    fflush(stdout);
  }
}

int main(int argc, char** argv) {
  if (argc > 2 || (argc == 2 && strcmp(argv[1], "serve") != 0)) {
    fprintf(stderr, "usage: bench_calls [serve]\n");
    return 2;
  }
  world w = make_world();
  if (argc == 2) {
    serve(&w);
  } else {
    const cost read = median(property, &w), trained = median(epoch, &w);
    printf("property  %.1f ns\n", 1e9 * read.wall / calls);
    printf("epoch     %.4f s, %.4f s of CPU time\n", trained.wall, trained.cpu);
  }
  gnnmg_optimizer_free(w.optimizer);
  gnnmg_model_free(w.model);
  gnnmg_loader_free(w.loader);
  gnnmg_graph_free(w.graph);
  return 0;
}
