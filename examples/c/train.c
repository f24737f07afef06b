/* train: GraphSAGE on a data set or a generated graph, from the command line.
 *
 * The library's flagship example: every setting as an option, one or several ranks in one or
 * several processes, a progress bar, and a closing table. `train --help` lists its options. */
#include <errno.h>
#include <gnnmg.h>
#include <gnnmg_util.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "train_curve.h"
#include "train_options.h"
#include "train_plan.h"
#include "train_progress.h"
#include "train_settings.h"

static volatile sig_atomic_t interrupted; /* 1: stop in an orderly way, 2: at once */
static void on_interrupt(int signal_number) {
  (void)signal_number;
  if (interrupted < 2) ++interrupted;
}

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Ends the program while a call waits for other processes. */
static void end_by_interrupt(gnnmg_context* context) {
  gnnmg_context_cancel(context);
  gnnmg_log_print(context, GNNMG_LOG_WARNING, stderr);
  fflush(stdout);
  _exit(130); /* exit() would end LibTorch's objects in the middle of a step */
}

/* Reports an error of the user without a place in the source, with the option in place of the
 * function that loads a checkpoint; a setting that the library refuses like any other wrong option.
 */
static void accept(gnnmg_status status) {
  if (status >= 0) return;
  static const char loads[] = "gnnmg_trainer_load()";
  const int option = status == GNNMG_ERR_INVALID_ARGUMENT;
  const char* text = gnnmg_last_error();
  const char* call = strstr(text, loads);
  const int before = (int)(call ? (size_t)(call - text) : strlen(text));
  fflush(stdout);
  fprintf(stderr, "train: %.*s%s%s%s\n", before, text, call ? "--resume" : "",
          call ? call + sizeof loads - 1 : "", option ? " (try --help)" : "");
  exit(option ? 2 : 1);
}

static const char* token_of(const train_options* o) {
  return o->token_file ? o->token_file : getenv("GNNMG_TOKEN_FILE");
}

/* Joins the job that a launcher has started or that the options name; NULL: there is none, this
 * process trains alone. The other processes may take long to arrive: an interrupt ends the wait. */
static gnnmg_comm* join(gnnmg_context* context, const train_options* o) {
  gnnmg_comm* comm = NULL;
  const gnnmg_comm_config config = {.struct_size = sizeof config,
                                    .deadline_ms = o->deadline_ms,
                                    .num_processes = o->processes,
                                    .process_rank = o->process,
                                    .port = o->port};
  gnnmg_status status;
  do {
    if (o->processes)
      status =
          gnnmg_comm_create(context, o->host, o->interface_name, token_of(o), &config, &comm, 200);
    else
      status = gnnmg_comm_create_from_env(context, &config, &comm, 200);
  } while (status == GNNMG_PENDING && !interrupted);
  if (status == GNNMG_PENDING) end_by_interrupt(context);
  if (o->processes || status != GNNMG_ERR_NOT_FOUND) accept(status);
  return comm;
}

/* A generated graph for "planted:20000", "planted", "products:20000" or "products", else NULL. */
static gnnmg_graph* generate(gnnmg_context* context, const train_options* o) {
  static const char* const known[][3] = {{"planted", "planted", "50000"},
                                         {"products", "log_normal", "244903"}};
  for (int i = 0; i < 2; ++i) {
    const size_t length = strlen(known[i][0]);
    if (strncmp(o->dataset, known[i][0], length) != 0) continue;
    const char* rest = o->dataset + length;
    if (*rest && (*rest != ':' || strspn(rest + 1, "0123456789") != strlen(rest + 1))) continue;
    char settings[64];
    snprintf(settings, sizeof settings, "num_nodes=%.40s", *rest ? rest + 1 : known[i][2]);
    gnnmg_graph* graph;
    accept(gnnmg_graph_generate(context, known[i][1], settings, &graph));
    return graph;
  }
  return NULL;
}

/* Takes the graph of `data`, changes it as the options say, and puts the data set's splits and
 * weights around the new one. */
static gnnmg_dataset* transform(gnnmg_dataset* data, const train_options* o) {
  gnnmg_graph *graph, *changed;
  const char *features, *labels, *name;
  gnnmg_dataset_info info = {.struct_size = sizeof info};
  GNNMG_CHECK(gnnmg_dataset_get_graph(data, 0, &graph));
  GNNMG_CHECK(gnnmg_dataset_get_names(data, &name, &features, &labels));
  GNNMG_CHECK(gnnmg_dataset_get_info(data, &info));
  if (o->normalize_rows) {
    GNNMG_CHECK(gnnmg_graph_create_normalized(graph, features, &changed));
    gnnmg_graph_free(graph);
    graph = changed;
  }
  if (o->no_edges) {
    GNNMG_CHECK(gnnmg_graph_create_transformed(graph, GNNMG_TRANSFORM_REMOVE_EDGES, 0, &changed));
    gnnmg_graph_free(graph);
    graph = changed;
  }
  gnnmg_dataset* result;
  gnnmg_tensor *starts, *of_graphs;
  if (gnnmg_dataset_export_graph_ptr(data, &starts) == GNNMG_OK) {
    GNNMG_CHECK(gnnmg_dataset_export_labels(data, &of_graphs));
    GNNMG_CHECK(gnnmg_dataset_create_graphs(graph, gnnmg_tensor_data_i64(starts, NULL),
                                            info.num_graphs, *features ? features : NULL, of_graphs,
                                            info.task, info.num_classes, &result));
    gnnmg_tensor_free(starts);
    gnnmg_tensor_free(of_graphs);
  } else {
    GNNMG_CHECK(gnnmg_dataset_create(graph, *features ? features : NULL, *labels ? labels : NULL,
                                     info.task, info.num_classes, &result));
  }
  gnnmg_graph_free(graph);
  gnnmg_split_info split = {.struct_size = sizeof split};
  for (int64_t i = 0; gnnmg_dataset_get_split_info(data, i, &name, &split) == GNNMG_OK; ++i) {
    gnnmg_dataset* selected;
    gnnmg_tensor* ids[3];
    gnnmg_tensor_info part[3];
    GNNMG_CHECK(gnnmg_dataset_select_split(data, name, split.index, &selected));
    for (int p = 0; p < 3; ++p) {
      part[p].struct_size = sizeof part[p];
      GNNMG_CHECK(gnnmg_dataset_export_split(selected, p, &ids[p]));
      GNNMG_CHECK(gnnmg_tensor_get_info(ids[p], &part[p]));
    }
    GNNMG_CHECK(gnnmg_dataset_add_split(result, name, part[0].data, part[0].num_elements,
                                        part[1].data, part[1].num_elements, part[2].data,
                                        part[2].num_elements));
    for (int p = 0; p < 3; ++p) gnnmg_tensor_free(ids[p]);
    gnnmg_dataset_free(selected);
  }
  gnnmg_tensor* weights;
  if (gnnmg_dataset_export_class_weights(data, &weights) == GNNMG_OK) {
    gnnmg_tensor_info of_class = {.struct_size = sizeof of_class};
    GNNMG_CHECK(gnnmg_tensor_get_info(weights, &of_class));
    GNNMG_CHECK(gnnmg_dataset_set_class_weights(result, of_class.data, of_class.num_elements));
    gnnmg_tensor_free(weights);
  }
  if (gnnmg_dataset_export_sample_weights(data, &weights) == GNNMG_OK) {
    GNNMG_CHECK(gnnmg_dataset_set_sample_weights(result, weights));
    gnnmg_tensor_free(weights);
  }
  return result;
}

/* 1: gnnmg_dataset_save_parts() has written the folder. */
static int holds_parts(const char* folder) {
  char path[4096];
  snprintf(path, sizeof path, "%s/manifest.json", folder);
  return access(path, R_OK) == 0;
}

static void use_tls(gnnmg_context* context, const train_options* o) {
  accept(gnnmg_context_set_option(context, "tls_certificate", o->tls_certificate));
  accept(gnnmg_context_set_option(context, "tls_key", o->tls_key));
  accept(gnnmg_context_set_option(context, "tls_authority", o->tls_authority));
}

/* This process's share of a graph in parts. The other processes may take long to come. */
static gnnmg_dataset* open_share(gnnmg_context* context, gnnmg_comm* comm, const train_options* o) {
  gnnmg_dataset* data = NULL;
  gnnmg_status status;
  if (o->tls_certificate) use_tls(context, o);
  do {
    const gnnmg_served_config config = {
        .struct_size = sizeof config,
        .reading = o->reading,    /* auto: asks other processes for parts that are not here */
        .insecure = o->insecure}; /* 1: without TLS also beyond this machine */
    status = gnnmg_dataset_open_parts(context, comm, o->dataset, &config, &data, 200);
  } while (status == GNNMG_PENDING && !interrupted);
  if (status == GNNMG_PENDING) end_by_interrupt(context);
  accept(status);
  return data;
}

static gnnmg_dataset* open_path(gnnmg_context* context, const train_options* o) {
  char* settings = train_settings_text("dataset", "");
  gnnmg_dataset* data = NULL;
  gnnmg_status status;
  do {
    status = gnnmg_dataset_open(context, o->dataset, settings, &data, 200);
  } while (status == GNNMG_PENDING && !interrupted);
  free(settings);
  if (status == GNNMG_PENDING) end_by_interrupt(context);
  accept(status);
  return data;
}

/* The data of graph servers, which may start later: an interrupt ends the wait. */
static gnnmg_dataset* open_served(gnnmg_context* context, const char* addresses,
                                  const train_options* o) {
  char settings[3 * 4096];
  gnnmg_served_config config = {.struct_size = sizeof config, .insecure = o->insecure};
  gnnmg_dataset* data = NULL;
  gnnmg_status status;
  const int size =
      snprintf(settings, sizeof settings, "patience_ms=%lld", (long long)o->server_patience_ms);
  if (o->tls_certificate)
    snprintf(settings + size, sizeof settings - (size_t)size,
             " tls_certificate=\"%s\" tls_key=\"%s\" tls_authority=\"%s\"", o->tls_certificate,
             o->tls_key, o->tls_authority);
  do
    status =
        gnnmg_dataset_open_served(context, addresses, token_of(o), &config, settings, &data, 200);
  while (status == GNNMG_PENDING && !interrupted);
  if (status == GNNMG_PENDING) end_by_interrupt(context);
  accept(status);
  return data;
}

static gnnmg_dataset* open_data(gnnmg_context* context, gnnmg_comm* comm, const train_options* o) {
  static const char served[] = "served:";
  gnnmg_dataset* data;
  gnnmg_graph* graph = generate(context, o);
  if (graph) {
    GNNMG_CHECK(gnnmg_dataset_create(graph, "x", "y", GNNMG_TASK_MULTICLASS, 0, &data));
    gnnmg_graph_free(graph);
  } else if (strncmp(o->dataset, served, sizeof served - 1) == 0) {
    data = open_served(context, o->dataset + sizeof served - 1, o);
  } else if (comm && holds_parts(o->dataset)) {
    data = open_share(context, comm, o);
  } else {
    data = open_path(context, o);
  }
  if (o->normalize_rows || o->no_edges) {
    gnnmg_dataset* changed = transform(data, o);
    gnnmg_dataset_free(data);
    data = changed;
  }
  return data;
}

/* Chooses the split of a run: the requested one, a random one, or the first. */
static void choose_split(gnnmg_dataset** data, train_options* o, int run) {
  gnnmg_dataset_info info = {.struct_size = sizeof info};
  GNNMG_CHECK(gnnmg_dataset_get_info(*data, &info));
  o->drawn = o->train_fraction > 0 || (info.num_splits == 0 && !o->split);
  if (o->drawn) {
    char settings[128];
    const int size = snprintf(settings, sizeof settings, "seed=%llu",
                              (unsigned long long)o->seed + (unsigned)(o->vary_split ? run : 0));
    if (o->train_fraction > 0)
      snprintf(settings + size, sizeof settings - (size_t)size,
               " train_fraction=%.17g validation_fraction=%.17g", o->train_fraction,
               o->validation_fraction);
    accept(gnnmg_dataset_add_random_split(*data, "random", settings));
  } else {
    gnnmg_dataset* selected;
    const int32_t index = o->split_index + (o->vary_split ? run : 0);
    accept(gnnmg_dataset_select_split(*data, o->split, index, &selected));
    gnnmg_dataset_free(*data);
    *data = selected;
  }
  if (o->balance_classes) accept(gnnmg_dataset_balance_classes(*data));
}

static int is(const char* subject, const char* name, const char* value) {
  return strcmp(train_setting_value(subject, name), value) == 0;
}

static int of_graphs(void) { return !is("model", "readout", "none"); }

static gnnmg_model* make_model(gnnmg_context* context, gnnmg_dataset* data, const train_options* o,
                               int run) {
  gnnmg_dataset_info info = {.struct_size = sizeof info};
  GNNMG_CHECK(gnnmg_dataset_get_info(data, &info));
  const int features = info.feature_dim > 0 || train_setting_given("model", "input");
  const int nodes = is("model", "architecture", "rgcn") && is("model", "num_blocks", "0");
  char more[64];
  snprintf(more, sizeof more, "%sseed=%llu",
           features ? ""
           : nodes  ? "input=nodes "
                    : "input=embedding ",
           (unsigned long long)o->seed + (unsigned)run);
  char* settings = train_settings_text("model", more);
  gnnmg_model* model;
  accept(gnnmg_model_create(context, data, NULL, settings, &model));
  free(settings);
  if (o->load) accept(gnnmg_model_load(model, o->load, NULL, -1));
  return model;
}

static gnnmg_trainer* make_trainer(gnnmg_model* model, gnnmg_dataset* data, gnnmg_comm* comm,
                                   const train_options* o, int run) {
  gnnmg_sampler* sampler = NULL; /* takes graphs whole */
  if (!of_graphs()) {
    gnnmg_graph* graph;
    GNNMG_CHECK(gnnmg_dataset_get_graph(data, 0, &graph));
    char* settings = train_settings_text("sampler", "");
    accept(gnnmg_sampler_create(graph, NULL, settings, &sampler));
    free(settings);
    gnnmg_graph_free(graph);
  }
  char more[64];
  int size = snprintf(more, sizeof more, "seed=%llu", (unsigned long long)o->seed + (unsigned)run);
  if (!train_setting_given("trainer", "deadline_ms"))
    snprintf(more + size, sizeof more - (size_t)size, " deadline_ms=%lld",
             (long long)o->deadline_ms);
  char* settings = train_settings_text("trainer", more);
  gnnmg_trainer* trainer;
  accept(gnnmg_trainer_create(model, data, sampler, comm, NULL, settings, &trainer));
  free(settings);
  if (o->log) accept(gnnmg_trainer_set_record(trainer, GNNMG_RECORD_JSON_LINES, o->log));
  if (o->tensorboard)
    accept(gnnmg_trainer_set_record(trainer, GNNMG_RECORD_TENSORBOARD, o->tensorboard));
  gnnmg_sampler_free(sampler);
  return trainer;
}

/* Makes the trainer write checkpoints, and continues from the newest on request. */
static void use_checkpoints(gnnmg_context* context, gnnmg_trainer* trainer, const train_options* o,
                            int speaks) {
  const gnnmg_checkpoint_config config = {
      .struct_size = sizeof config, .every_steps = o->checkpoint_steps, .keep = o->checkpoint_keep};
  accept(gnnmg_trainer_set_checkpoints(trainer, o->checkpoints, &config));
  if (!o->resume) return;
  const gnnmg_status status = gnnmg_trainer_load(trainer, o->checkpoints, -1);
  gnnmg_log_print(context, GNNMG_LOG_WARNING, stderr); /* names a skipped checkpoint */
  if (status == GNNMG_ERR_NOT_FOUND) return;           /* first start */
  accept(status);
  gnnmg_progress_info at = {.struct_size = sizeof at};
  GNNMG_CHECK(gnnmg_trainer_progress(trainer, &at));
  if (!speaks) return;
  printf("resumed %lld epochs and %lld steps into training\n", (long long)at.epoch,
         (long long)at.step);
  fflush(stdout);
}

/* Trains to the end, or until the user interrupts: then all ranks stop after the same step, with
 * the weights of that step. A second interrupt cancels the step, and the program ends. */
static void train(gnnmg_context* context, gnnmg_trainer* trainer, train_progress* progress) {
  gnnmg_status status;
  int stopping = 0;
  accept(gnnmg_trainer_start(trainer, train_progress_epoch, progress, NULL));
  while ((status = gnnmg_trainer_wait(trainer, 100)) == GNNMG_PENDING && interrupted < 2) {
    if (interrupted && !stopping) {
      stopping = 1;
      train_progress_say(progress, "stopping after this step; again: at once");
      gnnmg_trainer_stop(trainer);
    }
    train_progress_draw(progress, trainer);
  }
  train_progress_clear(progress);
  if (status == GNNMG_PENDING) end_by_interrupt(context);
  accept(status);
}

/* A second interrupt ends the program here as well. */
static void evaluate(gnnmg_context* context, gnnmg_trainer* trainer, gnnmg_part part,
                     const train_progress* progress, gnnmg_metrics* result,
                     gnnmg_tensor** confusion) {
  gnnmg_status status;
  train_progress_busy(progress, "evaluating");
  do {
    status = gnnmg_trainer_evaluate(trainer, part, result, confusion, 200);
  } while (status == GNNMG_PENDING && interrupted < 2);
  train_progress_clear(progress);
  if (status == GNNMG_PENDING) end_by_interrupt(context);
  accept(status);
}

static int64_t size_of(const gnnmg_dataset* data, gnnmg_part part) {
  gnnmg_tensor* ids;
  int64_t count;
  GNNMG_CHECK(gnnmg_dataset_export_split(data, part, &ids));
  gnnmg_tensor_data_i64(ids, &count);
  gnnmg_tensor_free(ids);
  return count;
}

/* The number of ranks, and their devices if given. */
static void print_ranks(const gnnmg_context* context, int processes) {
  int64_t gpus = 0;
  GNNMG_CHECK(gnnmg_context_num_devices(context, &gpus, NULL));
  const char* ranks = train_setting_given("trainer", "num_ranks")
                          ? train_setting_value("trainer", "num_ranks")
                          : NULL;
  if (train_setting_given("trainer", "devices")) {
    const char* devices = train_setting_value("trainer", "devices");
    int count = 1;
    for (const char* c = devices; *c; ++c) count += *c == ',';
    printf("%d on GPU ", count);
    for (; *devices; ++devices) printf(*devices == ',' ? ", " : "%c", *devices);
  } else if (!ranks && gpus && !is("trainer", "device", "cpu")) {
    printf("one a GPU%s", processes > 1 ? " of its share" : "");
  } else {
    printf("%s", ranks ? ranks : "1");
  }
}

static void print_head(const gnnmg_context* context, gnnmg_dataset* data, gnnmg_model* model,
                       const train_options* o, int processes) {
  gnnmg_dataset_info info = {.struct_size = sizeof info};
  gnnmg_model_info m = {.struct_size = sizeof m};
  GNNMG_CHECK(gnnmg_dataset_get_info(data, &info));
  GNNMG_CHECK(gnnmg_model_get_info(model, &m));
  printf("data    %s: %lld nodes, %lld edges, %lld features, %lld classes\n", o->dataset,
         (long long)info.num_nodes, (long long)info.num_edges, (long long)info.feature_dim,
         (long long)info.num_classes);
  printf("split   %lld train, %lld validation, %lld test%s\n",
         (long long)size_of(data, GNNMG_PART_TRAIN),
         (long long)size_of(data, GNNMG_PART_VALIDATION), (long long)size_of(data, GNNMG_PART_TEST),
         o->drawn ? ", drawn at random" : "");
  const int sage = is("model", "architecture", "sage");
  const char* aggregation =
      is("model", "aggregation", "default") ? "mean" : train_setting_value("model", "aggregation");
  printf("model   %s%s%s, %d layers, hidden width %lld, %lld parameters\n",
         sage ? "GraphSAGE" : train_setting_value("model", "architecture"), sage ? " " : "",
         sage ? aggregation : "", m.num_layers, (long long)m.hidden_dim,
         (long long)m.num_parameters);
  printf("ranks   ");
  print_ranks(context, processes);
  if (processes > 1)
    printf(" in each of %d processes", processes);
  else
    printf(" in this process");
  if (!of_graphs()) {
    printf(", fan-outs ");
    for (const char* c = train_setting_value("sampler", "fanouts"); *c; ++c)
      putchar(*c == ',' ? ' ' : *c);
  }
  printf("\n\n");
  fflush(stdout);
}

/* The best possible accuracy on the generated graphs is known: the share of test labels that the
 * generator's own likelihoods predict correctly (the library's docs explain the computation). */
static void print_ceiling(const train_options* o) {
  if (strcmp(o->dataset, "planted") == 0)
    printf("        reachable: 0.391 from own features, 0.740 with one hop, 0.909 with two\n");
  if (strcmp(o->dataset, "products") == 0)
    printf("        reachable: 0.229 from own features, 0.608 with one hop, 0.882 with two\n");
}

static void print_test(gnnmg_trainer* trainer, gnnmg_part part, const gnnmg_metrics* test,
                       const train_metric* metric, const train_options* o) {
  gnnmg_progress_info info = {.struct_size = sizeof info};
  GNNMG_CHECK(gnnmg_trainer_progress(trainer, &info));
  printf("%s%s %s %.4f, loss %.4f", o->quiet ? "" : "\n",
         part == GNNMG_PART_TEST ? "test   " : "held out", metric->name,
         train_metric_value(metric, test), test->loss);
  if (info.has_validation && info.best_epoch >= 0 && info.state == GNNMG_TRAINER_STATE_FINISHED)
    printf(" (weights of epoch %lld, validation %.4f)", (long long)info.best_epoch + 1,
           info.best_validation);
  printf("\n");
  print_ceiling(o);
}

static void print_tail(const train_times* t, double seconds) {
  if (!t->num_epochs) { /* interrupted in the first, or --epochs 0 */
    printf("time    %.1f s\n", seconds);
    return;
  }
  const double loop = t->epochs > 0 ? t->epochs / 100 : 1; /* one per cent */
  const double rest = t->epochs - t->wait - t->compute - t->reduce - t->optimizer;
  printf("time    %.1f s: %lld epochs of %.3f s, validation %.3f s each\n", seconds,
         (long long)t->num_epochs, t->epochs / (double)t->num_epochs,
         t->evaluation / (double)t->num_epochs);
  printf(
      "        of an epoch on rank 0: waiting for mini-batches %.0f %%, forward and backward "
      "%.0f %%,\n        all-reduce %.1f %%, waiting for slower ranks %.1f %%, update %.0f %%, "
      "other %.0f %%\n",
      t->wait / loop, t->compute / loop, (t->reduce - t->peers) / loop, t->peers / loop,
      t->optimizer / loop, rest / loop);
  printf("        beside it on rank 0's loader: sampling %.2f s, gathering %.2f s in all\n",
         t->sample, t->gather);
  if (!(t->most_busy > t->mean_busy)) return; /* one rank */
  int slowest = 0;
  for (int r = 1; r < TRAIN_RANKS; ++r)
    if (t->slowest[r] > t->slowest[slowest]) slowest = r;
  printf(
      "        slowest rank: %d, in %lld of %lld epochs; the slowest is busy %.1f %% longer than "
      "the "
      "mean\n",
      slowest, (long long)t->slowest[slowest], (long long)t->num_epochs,
      100 * (t->most_busy / t->mean_busy - 1));
}

static void print_mean(const char* label, const char* name, const train_sums* runs,
                       const char* when) {
  printf("%-7s %s %.4f +- %.4f (mean and standard error of %lld runs%s)\n", label, name,
         train_sums_mean(runs), train_sums_error(runs), (long long)runs->count, when);
}

/* If folds are held out for validation: the epoch with the best mean of the runs' curves, and,
 * because the same data selects and measures that epoch, the end of the curves. */
static void print_curve(const train_curve* curve, const char* name, int largest) {
  const train_point* best = train_curve_best(curve, largest);
  char when[64];
  snprintf(when, sizeof when, " after epoch %lld, the best in the mean",
           (long long)best->epoch + 1);
  print_mean("result", name, &best->runs, when);
  snprintf(when, sizeof when, ", each over its last %d validations", TRAIN_CURVE_LAST);
  print_mean("last", name, &curve->last_means, when);
}

/* Better before the training than after it: a file or folder that can be replaced, or a new one,
 * but no link to nothing, FIFO or device. The library tries all places but that of --save itself
 * before the training. */
static void check_place(const char* option, const char* path) {
  char folder[4096];
  struct stat there;
  const char* slash = strrchr(path, '/');
  const int length = slash ? (int)(slash - path) + 1 : 0;
  snprintf(folder, sizeof folder, "%.*s", length, path);
  const char* fault = NULL;
  if (strcmp(option, "save") == 0 && access(length ? folder : ".", W_OK) != 0)
    fault = strerror(errno);
  else if (lstat(path, &there) != 0)
    return; /* a new one */
  else if (stat(path, &there) != 0)
    fault = "is a link to nothing";
  else if (!S_ISREG(there.st_mode) && !S_ISDIR(there.st_mode))
    fault = "is neither a file nor a folder";
  else if (access(path, W_OK) != 0)
    fault = strerror(errno);
  if (!fault) return;
  fprintf(stderr, "train: --%s %s: %s\n", option, path, fault);
  exit(2);
}

/* The training's use of a GPU's memory. */
static void print_plan(const gnnmg_trainer* trainer, const train_options* o) {
  /*! [memory] */
  gnnmg_memory_info plan = {.struct_size = sizeof plan};
  GNNMG_CHECK(gnnmg_trainer_get_memory_info(trainer, o->gpu_memory, &plan));
  train_plan_print(&plan);
  /*! [memory] */
}

/* The times of each rank of this process. */
static void print_ranks_times(const gnnmg_trainer* trainer) {
  /*! [ranks] */
  gnnmg_rank_info rank = {.struct_size = sizeof rank};
  for (int64_t i = 0; gnnmg_trainer_get_rank_info(trainer, i, &rank) == GNNMG_OK; ++i)
    train_progress_rank(&rank, i == 0);
  /*! [ranks] */
}

int main(int argc, char** argv) {
  train_options o;
  train_options_parse(&o, argc, argv);
  if (o.save) check_place("save", o.save);
  if (o.checkpoints) check_place("checkpoints", o.checkpoints);
  if (o.log) check_place("log", o.log);
  if (o.tensorboard) check_place("tensorboard", o.tensorboard);
  signal(SIGINT, on_interrupt);
  signal(SIGTERM, on_interrupt);

  const double start = now();
  gnnmg_context* context;
  GNNMG_CHECK(gnnmg_context_create(GNNMG_VERSION, NULL, &context));
  gnnmg_check_context(context);
  gnnmg_comm* comm = join(context, &o);
  int32_t process = 0, processes = 1;
  if (comm) {
    GNNMG_CHECK(gnnmg_comm_rank(comm, &process));
    GNNMG_CHECK(gnnmg_comm_world_size(comm, &processes));
  }
  const int speaks = process == 0; /* one process of a job prints and saves */
  train_progress progress = {
      .bar = speaks && !o.quiet && isatty(STDERR_FILENO) && isatty(STDOUT_FILENO),
      .quiet = o.quiet || !speaks};
  char loading[4096];
  snprintf(loading, sizeof loading, "loading %s", o.dataset);
  train_progress_busy(&progress, loading);
  gnnmg_dataset* data = open_data(context, comm, &o);
  train_progress_clear(&progress);
  gnnmg_log_print(context, GNNMG_LOG_WARNING, stderr);
  gnnmg_dataset_info info = {.struct_size = sizeof info};
  GNNMG_CHECK(gnnmg_dataset_get_info(data, &info));
  const int regression = info.task == GNNMG_TASK_REGRESSION;
  const char* best_by = train_setting_value("trainer", "best_by");
  const train_metric* validated =
      train_metric_of(regression && strcmp(best_by, "mae") != 0 ? "rmse" : best_by);
  const train_metric* tested = /* the loss is printed as well */
      !regression && strcmp(best_by, "loss") == 0 ? train_metric_of("accuracy") : validated;
  train_sums tests = {0};
  train_curve curve = {0};
  progress.metric = validated;
  progress.curve = &curve;
  gnnmg_part part = GNNMG_PART_TEST;
  gnnmg_metrics test = {.struct_size = sizeof test};
  gnnmg_tensor* confusion = NULL;
  for (int run = 0; run < o.runs && !interrupted; ++run) {
    choose_split(&data, &o, run);
    part = size_of(data, GNNMG_PART_TEST) ? GNNMG_PART_TEST : GNNMG_PART_VALIDATION;
    gnnmg_model* model = make_model(context, data, &o, run);
    gnnmg_trainer* trainer = make_trainer(model, data, comm, &o, run);
    progress.times = (train_times){0};
    if (run == 0 && speaks) print_head(context, data, model, &o, processes);
    if (o.plan) {
      if (speaks) print_plan(trainer, &o);
      gnnmg_trainer_free(trainer);
      gnnmg_model_free(model);
      break;
    }
    if (o.checkpoints) use_checkpoints(context, trainer, &o, speaks);
    train(context, trainer, &progress);
    train_curve_end_run(&curve);
    if (speaks && o.save && run == 0) accept(gnnmg_model_save(model, o.save, NULL, -1));
    const int held_out = size_of(data, part) > 0; /* all may be for training */
    if (held_out) {
      evaluate(context, trainer, part, &progress, &test, o.confusion ? &confusion : NULL);
      train_sums_add(&tests, train_metric_value(tested, &test));
    }
    if (speaks) {
      if (held_out) print_test(trainer, part, &test, tested, &o);
      if (confusion) train_progress_classes(confusion);
      print_tail(&progress.times, now() - start);
      if (o.times && progress.times.num_epochs) print_ranks_times(trainer);
    }
    gnnmg_tensor_free(confusion);
    confusion = NULL;
    gnnmg_trainer_free(trainer);
    gnnmg_model_free(model);
  }
  if (speaks && tests.count > 1) {
    printf("\n");
    if (part == GNNMG_PART_TEST || !curve.num_points)
      print_mean("result", tested->name, &tests, "");
    else
      print_curve(&curve, validated->name, !validated->smaller);
  }
  train_curve_free(&curve);
  if (comm) accept(gnnmg_comm_shutdown(comm, -1)); /* all processes leave together */
  gnnmg_comm_free(comm);
  gnnmg_dataset_free(data);
  gnnmg_log_print(context, GNNMG_LOG_WARNING, stderr);
  gnnmg_context_free(context);
  return interrupted ? 130 : 0;
}
