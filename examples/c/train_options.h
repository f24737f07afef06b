/* Options of the program `train` as plain values. */
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
  int partition, reading, insecure; /* numbers of gnnmg.h, and a flag, for data in parts */
  const char *tls_certificate, *tls_key, *tls_authority;
  int64_t server_patience_ms;
  int normalize_rows;
  int no_edges;
  int balance_classes;
  /* Model */
  int layers;
  int64_t hidden;
  int model, aggregation, activation, norm, skip, init; /* numbers of gnnmg.h */
  int heads, output_heads, readout, jumping, sort_rows, bases, blocks;
  int input; /* below 0: the data set's own choice */
  int64_t relations;
  int edge_features, edge_weights;
  int32_t node_categories[16], edge_categories[16]; /* one per column, up to the first 0 */
  double dropout, input_dropout, output_dropout, edge_dropout, node_dropout;
  int normalize, project, no_root, train_eps, double_precision;
  /* Sampling */
  int num_fanouts;
  int64_t fanouts[16];
  int expansion, draw, replace;
  /* Training */
  int64_t epochs, batch_size, batches_per_step; /* batch_size 0: all ids in one mini-batch */
  int64_t batch_nodes;
  double learning_rate, weight_decay, clip;
  int weight_decay_layers;
  int drop_last, optimizer, schedule, metric, evaluation;
  int64_t schedule_epochs, evaluate_every, patience;
  int ranks, loader_threads, torch_threads, deterministic, sync_batch_norm;
  int device, num_devices; /* number of gnnmg.h; entries of `devices`, 0: all there are */
  int32_t devices[16];
  int graph_placement, feature_placement, feature_form, hotness, capture;
  int gather_multiprocessors;
  int64_t cache_mib;
  uint64_t seed;
  int runs, vary_split;
  /* Several processes */
  int processes, process, port; /* processes 0: whatever a launcher has set */
  const char *host, *token_file, *interface_name;
  int64_t deadline_ms;
  /* Output */
  const char *save, *load, *log, *tensorboard, *checkpoints;
  int64_t checkpoint_steps;
  int checkpoint_keep, resume;
  int precision;
  int times;
  int plan;
  size_t gpu_memory;
  int quiet;
} train_options;

/* Fills `options` from the command line. Prints help or an error and ends the program if the
 * command line requires it. */
void train_options_parse(train_options* options, int argc, char** argv);

/* The word on the command line for a number, for the closing table. */
const char* train_option_word(const char* option, int number);

#endif
