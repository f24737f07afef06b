/*
 * Results of all nodes: GraphSAGE of three layers and 256 hidden units over a data set in the
 * library's own format, untrained. Answers each line of its input by one gnnmg_model_embed(), as a
 * line of JSON. embed.py asks it and its peers in turns.
 *
 *   bench_embed save <nodes> <folder>    generates a products-shaped data set, for all sides
 *   bench_embed serve <folder>
 */
#define _POSIX_C_SOURCE 200809L
#include <gnnmg.h>
#include <gnnmg_util.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#define CHECK(call)                                             \
  do {                                                          \
    if ((call) < 0) {                                           \
      fprintf(stderr, "bench_embed: %s\n", gnnmg_last_error()); \
      exit(1);                                                  \
    }                                                           \
  } while (0)

static double seconds_of(clockid_t clock) {
  struct timespec now;
  clock_gettime(clock, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static double peak_megabytes(void) {
  struct rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  return (double)usage.ru_maxrss / 1024;
}

/* The same for the same bits, whatever their meaning. */
static uint64_t hash_of(const void* data, size_t bytes) { /* FNV-1a */
  uint64_t hash = 0xcbf29ce484222325u;
  for (size_t i = 0; i < bytes; ++i) hash = (hash ^ ((const uint8_t*)data)[i]) * 0x100000001b3u;
  return hash;
}

static void serve(const gnnmg_dataset* data, gnnmg_model* model) {
  const double loaded = peak_megabytes();
  char line[256];
  while (fgets(line, sizeof line, stdin)) {
    gnnmg_tensor* rows;
    const double wall = seconds_of(CLOCK_MONOTONIC), cpu = seconds_of(CLOCK_PROCESS_CPUTIME_ID);
    CHECK(gnnmg_model_embed(model, data, 0, NULL, &rows, -1));
    const double wall_after = seconds_of(CLOCK_MONOTONIC);
    const double cpu_after = seconds_of(CLOCK_PROCESS_CPUTIME_ID);
    int64_t count;
    const float* values = gnnmg_tensor_data_f32(rows, &count);
    printf(
        "{\"wall\": %.4f, \"cpu\": %.4f, \"loaded_mb\": %.0f, \"peak_mb\": %.0f, \"hash\": "
        "\"%016llx\"}\n",
        wall_after - wall, cpu_after - cpu, loaded, peak_megabytes(),
        (unsigned long long)hash_of(values, (size_t)count * sizeof *values));
    fflush(stdout);
    gnnmg_tensor_free(rows);
  }
}

int main(int argc, char** argv) {
  gnnmg_context* context;
  gnnmg_dataset* data;
  gnnmg_model* model;
  CHECK(gnnmg_context_create(GNNMG_VERSION, NULL, &context));
  if (argc == 4 && strcmp(argv[1], "save") == 0) {
    char settings[64];
    snprintf(settings, sizeof settings, "num_nodes=%s", argv[2]);
    CHECK(gnnmg_dataset_generate(context, "log_normal", settings, &data));
    CHECK(gnnmg_dataset_save(data, argv[3], -1));
  } else if (argc == 3 && strcmp(argv[1], "serve") == 0) {
    CHECK(gnnmg_dataset_open(context, argv[2], NULL, &data, -1));
    CHECK(gnnmg_model_create(context, data, NULL, "num_layers=3 hidden_dim=256", &model));
    serve(data, model);
    gnnmg_model_free(model);
  } else {
    fprintf(stderr, "usage: bench_embed save <nodes> <folder> | serve <folder>\n");
    return 2;
  }
  gnnmg_dataset_free(data);
  gnnmg_context_free(context);
  return 0;
}
