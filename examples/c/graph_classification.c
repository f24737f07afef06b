/*
 * Classification of whole graphs by GIN, over two ranks:
 *   graph_classification [<folder or file>] [--folds] [--epochs <number>] [--batch-nodes <number>]
 * Without a path, on generated graphs. Trains on 80 % of the graphs and prints loss and validation
 * accuracy of each epoch, and the accuracy on the last 10 % at the end. With --folds, trains ten
 * models at once, each on nine of ten folds, and prints mean and deviation at the epoch with the
 * best mean. With --batch-nodes a mini-batch has graphs up to this number of nodes, instead of 16
 * graphs.
 */
/*! [whole program] */
#include <gnnmg.h>
#include <gnnmg_util.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FOLDS = 10, MOST_EPOCHS = 1000 };

static int64_t batch_nodes;              /* nodes of a mini-batch at most; 0: 16 graphs */
static double curve[FOLDS][MOST_EPOCHS]; /* accuracy on the held-out fold, after each epoch */

static int32_t print_epoch(const gnnmg_epoch_info* epoch, void* user_data) {
  (void)user_data;
  printf("epoch %2lld  loss %.4f  validation accuracy %.4f%s\n", (long long)epoch->epoch + 1,
         epoch->train_loss, epoch->validation->accuracy, epoch->best ? " *" : "");
  return 0;
}

static int32_t keep_epoch(const gnnmg_epoch_info* epoch, void* user_data) {
  ((double*)user_data)[epoch->epoch] = epoch->validation->accuracy;
  return 0;
}

/* Two kinds of graphs of 8 to 20 nodes: a ring with a chord at every third node, or two stars whose
 * centers are joined. */
static gnnmg_dataset* generated(const gnnmg_context* context) {
  enum { GRAPHS = 300, MOST_NODES = 20 };
  static int64_t sources[GRAPHS * MOST_NODES * 4], targets[GRAPHS * MOST_NODES * 4];
  static int64_t starts[GRAPHS + 1], classes[GRAPHS];
  static float ones[GRAPHS * MOST_NODES];
  int64_t edges = 0;
  for (int64_t g = 0; g < GRAPHS; ++g) {
    const int64_t first = starts[g], nodes = 8 + g * 7 % 13;
    classes[g] = g % 2;
    for (int64_t i = 0; i < nodes; ++i) {
      const int64_t next = classes[g] ? (i < 2 ? 1 - i : i % 2) : (i + 1) % nodes;
      const int64_t pairs = !classes[g] && i % 3 == 0 ? 2 : 1;
      for (int64_t k = 0; k < pairs; ++k, edges += 2) {
        sources[edges] = targets[edges + 1] = first + i;
        targets[edges] = sources[edges + 1] = first + (k ? (i + nodes / 2) % nodes : next);
      }
      ones[first + i] = 1;
    }
    starts[g + 1] = first + nodes;
  }
  const int64_t shape[] = {starts[GRAPHS], 1}, rows[] = {GRAPHS};
  gnnmg_graph* graph;
  gnnmg_dataset* data;
  gnnmg_tensor* labels;
  GNNMG_CHECK(gnnmg_graph_create_from_coo(context, starts[GRAPHS], sources, targets,
                                          GNNMG_DTYPE_I64, edges, &graph));
  GNNMG_CHECK(gnnmg_graph_set_node_tensor(graph, 0, "x", ones, GNNMG_DTYPE_F32, 2, shape));
  GNNMG_CHECK(gnnmg_tensor_create(classes, GNNMG_DTYPE_I64, 1, rows, NULL, NULL, &labels));
  GNNMG_CHECK(gnnmg_dataset_create_graphs(graph, starts, GRAPHS, "x", labels, GNNMG_TASK_MULTICLASS,
                                          2, &data));
  gnnmg_tensor_free(labels);
  gnnmg_graph_free(graph);
  return data;
}

/* A trainer of a new model on the chosen split. */
static gnnmg_trainer* make_trainer(const gnnmg_context* context, const gnnmg_dataset* data,
                                   int64_t epochs, uint64_t seed) {
  /*! [model] */
  const gnnmg_model_config layers = {.struct_size = sizeof layers,
                                     .architecture = GNNMG_ARCHITECTURE_GIN,
                                     .num_layers = 4,
                                     .hidden_dim = 64,
                                     .norm = GNNMG_NORM_BATCH,
                                     .readout = GNNMG_READOUT_SUM, /* a row per graph */
                                     .seed = seed};
  gnnmg_model* model; /* jumping=scores: scores of the features and of every layer */
  GNNMG_CHECK(
      gnnmg_model_create(context, data, &layers, "jumping=scores output_dropout=0.5", &model));
  /*! [model] */

  /*! [train] */
  const gnnmg_trainer_config training = {.struct_size = sizeof training,
                                         .num_ranks = 2,
                                         .num_epochs = epochs,
                                         .batch_size = batch_nodes ? INT64_MAX : 16, /* graphs */
                                         .seed = seed};
  char settings[64]; /* schedule=step: half the rate every 50 epochs */
  snprintf(settings, sizeof settings, "schedule=step batch_nodes=%lld", (long long)batch_nodes);
  gnnmg_trainer* trainer; /* NULL for the sampler: mini-batches of whole graphs */
  GNNMG_CHECK(gnnmg_trainer_create(model, data, NULL, NULL, &training, settings, &trainer));
  /*! [train] */
  gnnmg_model_free(model); /* the trainer keeps it */
  return trainer;
}

static void train(const gnnmg_context* context, gnnmg_dataset* data, int64_t epochs) {
  /*! [split] */
  GNNMG_CHECK(gnnmg_dataset_add_random_split(data, "random",
                                             "train_fraction=0.8 validation_fraction=0.1 seed=1"));
  /*! [split] */
  gnnmg_trainer* trainer = make_trainer(context, data, epochs, 1);
  GNNMG_CHECK(gnnmg_trainer_run(trainer, print_epoch, NULL, NULL));
  gnnmg_metrics metrics = {.struct_size = sizeof metrics};
  GNNMG_CHECK(gnnmg_trainer_evaluate(trainer, GNNMG_PART_TEST, &metrics, NULL, -1));
  printf("test accuracy %.4f (%lld of %lld graphs)\n", metrics.accuracy, (long long)metrics.correct,
         (long long)metrics.count);
  gnnmg_trainer_free(trainer);
}

static void cross_validate(const gnnmg_context* context, gnnmg_dataset* data, int64_t epochs) {
  /*! [folds] */
  /* scikit-learn's ten folds, as used by GIN's authors */
  GNNMG_CHECK(gnnmg_dataset_add_folds(data, "folds", "num_folds=10 numpy_legacy=1"));
  gnnmg_trainer* trainers[FOLDS];
  for (int32_t k = 0; k < FOLDS; ++k) {
    gnnmg_dataset* fold; /* shares the data */
    GNNMG_CHECK(gnnmg_dataset_select_split(data, "folds", k, &fold));
    trainers[k] = make_trainer(context, fold, epochs, (uint64_t)k);
    GNNMG_CHECK(gnnmg_trainer_start(trainers[k], keep_epoch, curve[k], NULL));
    gnnmg_dataset_free(fold);
  }
  for (int32_t k = 0; k < FOLDS; ++k) {
    GNNMG_CHECK(gnnmg_trainer_wait(trainers[k], -1));
    printf("fold %2d  accuracy after the last epoch %.4f\n", k + 1, curve[k][epochs - 1]);
    fflush(stdout);
    gnnmg_trainer_free(trainers[k]);
  }
  /*! [folds] */
  int64_t best = 0;
  double mean[MOST_EPOCHS] = {0}, last = 0, deviation = 0;
  const int64_t tail = epochs < 10 ? epochs : 10;
  for (int64_t e = 0; e < epochs; ++e) {
    for (int k = 0; k < FOLDS; ++k) mean[e] += curve[k][e] / FOLDS;
    if (mean[e] > mean[best]) best = e;
    if (e >= epochs - tail) last += mean[e] / (double)tail;
  }
  for (int k = 0; k < FOLDS; ++k) deviation += pow(curve[k][best] - mean[best], 2) / FOLDS;
  printf("accuracy %.4f +- %.4f over folds at epoch %lld, the best of the mean; last %lld: %.4f\n",
         mean[best], sqrt(deviation), (long long)best + 1, (long long)tail, last);
}

int main(int argc, char** argv) {
  const char* path = NULL;
  int by_folds = 0;
  int64_t epochs = 30;
  for (int i = 1; i < argc; ++i) {
    if (strcmp(argv[i], "--folds") == 0)
      by_folds = 1;
    else if (strcmp(argv[i], "--epochs") == 0 && i + 1 < argc)
      epochs = atoll(argv[++i]);
    else if (strcmp(argv[i], "--batch-nodes") == 0 && i + 1 < argc)
      batch_nodes = atoll(argv[++i]);
    else
      path = argv[i];
  }
  if (epochs < 1 || epochs > MOST_EPOCHS) {
    fprintf(stderr, "--epochs: expected 1 to %d\n", MOST_EPOCHS);
    return 1;
  }

  gnnmg_context* context;
  gnnmg_dataset* data;
  GNNMG_CHECK(gnnmg_context_create(GNNMG_VERSION, NULL, &context));
  gnnmg_check_context(context);
  if (path != NULL)
    GNNMG_CHECK(gnnmg_dataset_open(context, path, NULL, &data, -1));
  else
    data = generated(context);
  gnnmg_dataset_info facts = {.struct_size = sizeof facts};
  GNNMG_CHECK(gnnmg_dataset_get_info(data, &facts));
  printf("%lld graphs of %.1f nodes in the mean, %lld features, %lld classes\n",
         (long long)facts.num_graphs, (double)facts.num_nodes / (double)facts.num_graphs,
         (long long)facts.feature_dim, (long long)facts.num_classes);

  if (by_folds)
    cross_validate(context, data, epochs);
  else
    train(context, data, epochs);
  gnnmg_dataset_free(data);
  gnnmg_log_print(context, GNNMG_LOG_WARNING, stderr);
  gnnmg_context_free(context);
  return 0;
}
/*! [whole program] */
