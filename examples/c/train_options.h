/* The command line of `train`: options of the program itself as plain values, and the library's
 * settings, which train_settings.h keeps. */
#ifndef TRAIN_OPTIONS_H
#define TRAIN_OPTIONS_H

#include <stddef.h>
#include <stdint.h>

typedef struct train_options {
  /* Data */
  const char*
      dataset;       /* a path, or "planted[:NODES]", "products[:NODES]", "served:HOST:PORT,..." */
  const char* split; /* NULL: the first */
  int split_index;
  double train_fraction; /* above 0: a random split */
  double validation_fraction;
  int drawn;             /* 1: the split of the run is a random one */
  int reading, insecure; /* number of gnnmg.h, and a flag, for data in parts */
  const char *tls_certificate, *tls_key, *tls_authority;
  int64_t server_patience_ms;
  int normalize_rows, no_edges, balance_classes;
  /* Training */
  uint64_t seed;
  int runs, vary_split;
  size_t gpu_memory;
  /* Several processes */
  int processes, process, port; /* processes 0: whatever a launcher has set */
  const char *host, *token_file, *interface_name;
  int64_t deadline_ms;
  /* Output */
  const char *save, *load, *log, *tensorboard, *checkpoints;
  int64_t checkpoint_steps;
  int checkpoint_keep, resume;
  int confusion, times, plan, quiet;
} train_options;

/* Fills `options`, and the settings, from the command line. Prints help or an error and ends the
 * program if the command line requires it. */
void train_options_parse(train_options* options, int argc, char** argv);

/* The shorter name of a setting's option: "hidden" of hidden_dim in "model"; NULL: it has none. */
const char* train_options_short(const char* subject, const char* name);

/* 1: an option of the program has this name, and another meaning than the setting. */
int train_options_own(const char* option);

#endif
