/* train: GraphSAGE on a data set or a generated graph, from the command line.
 *
 * The library's flagship example: every depth of options, one or several ranks in one or several
 * processes, a progress bar, and a closing table. `train --help` lists its options. */
#include <errno.h>
#include <gnnmg.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "common.h"
#include "train_curve.h"
#include "train_options.h"
#include "train_plan.h"
#include "train_progress.h"

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
  close_context(context);
  exit(130);
}

static const char* token_of(const train_options* o) {
  return o->token_file ? o->token_file : getenv("GNNMG_TOKEN_FILE");
}

/* Joins the job that a launcher has started or that the options name; NULL: there is none, this
 * process trains alone. The other processes may take long to arrive: an interrupt ends the wait. */
static gnnmg_comm* join(gnnmg_context* context, const train_options* o) {
  gnnmg_comm* comm = NULL;
  gnnmg_comm_config config;
  gnnmg_status status;
  CHECK(gnnmg_comm_config_init(&config, sizeof config));
  config.deadline_ms = o->deadline_ms;
  config.num_processes = o->processes;
  config.process_rank = o->process;
  config.port = o->port;
  do {
    if (o->processes)
      status =
          gnnmg_comm_create(context, o->host, o->interface_name, token_of(o), &config, &comm, 200);
    else
      status = gnnmg_comm_create_from_env(context, &config, &comm, 200);
  } while (status == GNNMG_PENDING && !interrupted);
  if (status == GNNMG_PENDING) end_by_interrupt(context);
  if (o->processes || status != GNNMG_ERR_NOT_FOUND) CHECK(status);
  return comm;
}

/* "planted:20000" names a generator and a size; returns 0 for anything else. */
static int generator(const char* text, const char* name, int64_t* nodes) {
  const size_t length = strlen(name);
  if (strncmp(text, name, length) != 0) return 0;
  if (!text[length]) return 1;
  char* end;
  *nodes = strtoll(text + length + 1, &end, 10);
  return text[length] == ':' && !*end && *nodes > 0;
}

static gnnmg_graph* generate(gnnmg_context* context, const train_options* o) {
  gnnmg_planted_partition_config planted;
  gnnmg_log_normal_config products;
  gnnmg_graph* graph = NULL;
  CHECK(gnnmg_planted_partition_config_init(&planted, sizeof planted));
  CHECK(gnnmg_log_normal_config_init(&products, sizeof products));
  products.num_nodes = 244903;
  if (generator(o->dataset, "planted", &planted.num_nodes))
    CHECK(gnnmg_graph_create_planted_partition(context, &planted, &graph));
  else if (generator(o->dataset, "products", &products.num_nodes))
    CHECK(gnnmg_graph_create_log_normal(context, &products, &graph));
  return graph;
}

/* Takes the graph of `data`, changes it as the options say, and puts the data set's splits and
 * weights around the new one. */
static gnnmg_dataset* transform(gnnmg_dataset* data, const train_options* o) {
  gnnmg_graph *graph, *changed;
  const char *features, *labels, *name;
  gnnmg_dataset_info info = {.struct_size = sizeof info};
  CHECK(gnnmg_dataset_get_graph(data, 0, &graph));
  CHECK(gnnmg_dataset_get_names(data, &name, &features, &labels));
  CHECK(gnnmg_dataset_get_info(data, &info));
  if (o->normalize_rows) {
    CHECK(gnnmg_graph_create_normalized(graph, features, &changed));
    gnnmg_graph_free(graph);
    graph = changed;
  }
  if (o->no_edges) {
    CHECK(gnnmg_graph_create_transformed(graph, GNNMG_TRANSFORM_REMOVE_EDGES, 0, &changed));
    gnnmg_graph_free(graph);
    graph = changed;
  }
  gnnmg_dataset* result;
  struct DLManagedTensorVersioned *starts, *of_graphs;
  if (gnnmg_dataset_export_graph_ptr(data, &starts) == GNNMG_OK) {
    CHECK(gnnmg_dataset_export_labels(data, &of_graphs));
    CHECK(gnnmg_dataset_create_graphs(graph, data_of(starts, NULL), info.num_graphs,
                                      *features ? features : NULL, of_graphs, info.task,
                                      info.num_classes, &result));
    gnnmg_tensor_free(starts);
    gnnmg_tensor_free(of_graphs);
  } else {
    CHECK(gnnmg_dataset_create(graph, *features ? features : NULL, *labels ? labels : NULL,
                               info.task, info.num_classes, &result));
  }
  gnnmg_graph_free(graph);
  gnnmg_split_info split = {.struct_size = sizeof split};
  for (int64_t i = 0; gnnmg_dataset_get_split_info(data, i, &name, &split) == GNNMG_OK; ++i) {
    struct DLManagedTensorVersioned* ids[3];
    gnnmg_tensor_info part[3];
    CHECK(gnnmg_dataset_set_split(data, name, split.index));
    for (int p = 0; p < 3; ++p) {
      part[p].struct_size = sizeof part[p];
      CHECK(gnnmg_dataset_export_split(data, GNNMG_SPLIT_TRAIN + p, &ids[p]));
      CHECK(gnnmg_tensor_get_info(ids[p], &part[p]));
    }
    CHECK(gnnmg_dataset_add_split(result, name, part[0].data, part[0].num_elements, part[1].data,
                                  part[1].num_elements, part[2].data, part[2].num_elements));
    for (int p = 0; p < 3; ++p) gnnmg_tensor_free(ids[p]);
  }
  struct DLManagedTensorVersioned* weights;
  if (gnnmg_dataset_export_class_weights(data, &weights) == GNNMG_OK) {
    gnnmg_tensor_info of_class = {.struct_size = sizeof of_class};
    CHECK(gnnmg_tensor_get_info(weights, &of_class));
    CHECK(gnnmg_dataset_set_class_weights(result, of_class.data, of_class.num_elements));
    gnnmg_tensor_free(weights);
  }
  if (gnnmg_dataset_export_sample_weights(data, &weights) == GNNMG_OK) {
    CHECK(gnnmg_dataset_set_sample_weights(result, weights));
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
  CHECK(gnnmg_context_set_option(context, "tls_certificate", o->tls_certificate));
  CHECK(gnnmg_context_set_option(context, "tls_key", o->tls_key));
  CHECK(gnnmg_context_set_option(context, "tls_authority", o->tls_authority));
}

/* This process's share of a graph in parts. The other processes may take long to come. */
static gnnmg_dataset* open_share(gnnmg_context* context, gnnmg_comm* comm, const train_options* o) {
  gnnmg_dataset* data = NULL;
  gnnmg_status status;
  if (o->tls_certificate) use_tls(context, o);
  do {
    gnnmg_served_config config = {.struct_size = sizeof config}; /* 0 is the default of the rest */
    config.reading = o->reading;   /* auto: asks other processes for parts that are not here */
    config.insecure = o->insecure; /* 1: without TLS also beyond this machine */
    status = gnnmg_dataset_open_parts(context, comm, o->dataset, &config, &data, 200);
  } while (status == GNNMG_PENDING && !interrupted);
  if (status == GNNMG_PENDING) end_by_interrupt(context);
  CHECK(status);
  return data;
}

static gnnmg_dataset* open_path(gnnmg_context* context, const train_options* o) {
  gnnmg_dataset* data = NULL;
  gnnmg_status status;
  do {
    status = gnnmg_dataset_open(context, o->dataset, NULL, &data, 200);
  } while (status == GNNMG_PENDING && !interrupted);
  if (status == GNNMG_PENDING) end_by_interrupt(context);
  CHECK(status);
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
             " tls_certificate=%s tls_key=%s tls_authority=%s", o->tls_certificate, o->tls_key,
             o->tls_authority);
  do
    status =
        gnnmg_dataset_open_served(context, addresses, token_of(o), &config, settings, &data, 200);
  while (status == GNNMG_PENDING && !interrupted);
  if (status == GNNMG_PENDING) end_by_interrupt(context);
  CHECK(status);
  return data;
}

static gnnmg_dataset* open_data(gnnmg_context* context, gnnmg_comm* comm, const train_options* o) {
  static const char served[] = "served:";
  gnnmg_dataset* data;
  gnnmg_graph* graph = generate(context, o);
  if (graph) {
    CHECK(gnnmg_dataset_create(graph, "x", "y", GNNMG_TASK_MULTICLASS, 0, &data));
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
static void choose_split(gnnmg_dataset* data, const train_options* o, int run) {
  gnnmg_dataset_info info = {.struct_size = sizeof info};
  CHECK(gnnmg_dataset_get_info(data, &info));
  if (o->train_fraction > 0 || (info.num_splits == 0 && !o->split)) {
    gnnmg_split_config random;
    CHECK(gnnmg_split_config_init(&random, sizeof random));
    if (o->train_fraction > 0) {
      random.train_fraction = o->train_fraction;
      random.validation_fraction = o->validation_fraction;
    }
    random.seed = o->seed + (uint64_t)(o->vary_split ? run : 0);
    CHECK(gnnmg_dataset_add_random_split(data, "random", &random));
  } else {
    CHECK(gnnmg_dataset_set_split(data, o->split, o->split_index + (o->vary_split ? run : 0)));
  }
  if (o->balance_classes) CHECK(gnnmg_dataset_balance_classes(data));
}

/* The default input of the model. */
static gnnmg_input input_of(gnnmg_dataset* data, const train_options* o) {
  gnnmg_dataset_info info = {.struct_size = sizeof info};
  if (o->input >= 0) return o->input;
  CHECK(gnnmg_dataset_get_info(data, &info));
  if (info.feature_dim > 0) return GNNMG_INPUT_FEATURES;
  return o->model == GNNMG_MODEL_RGCN && !o->blocks ? GNNMG_INPUT_NODES : GNNMG_INPUT_EMBEDDING;
}

static gnnmg_model* make_model(gnnmg_context* context, gnnmg_dataset* data, const train_options* o,
                               int run) {
  gnnmg_model_config config;
  gnnmg_model* model;
  CHECK(gnnmg_model_config_init(&config, sizeof config));
  config.architecture = o->model;
  config.heads = o->heads;
  config.output_heads = o->output_heads;
  config.readout = o->readout;
  config.sort_rows = o->sort_rows;
  config.jumping = o->jumping;
  config.edge_dim = o->edge_features ? -1 : 0;
  if (o->edge_categories[0]) config.edge_dim = o->hidden;
  memcpy(config.node_vocabulary, o->node_categories, sizeof config.node_vocabulary);
  memcpy(config.edge_vocabulary, o->edge_categories, sizeof config.edge_vocabulary);
  config.edge_weights = o->edge_weights;
  config.input = input_of(data, o);
  config.num_relations = o->relations;
  config.num_bases = o->bases;
  config.num_blocks = o->blocks;
  config.num_layers = o->layers;
  config.hidden_dim = o->hidden;
  config.aggregation = o->aggregation;
  config.activation = o->activation;
  config.norm = o->norm;
  config.skip = o->skip;
  config.weight_init = o->init;
  config.dropout = o->dropout;
  config.input_dropout = o->input_dropout;
  config.output_dropout = o->output_dropout;
  config.edge_dropout = o->edge_dropout;
  config.node_dropout = o->node_dropout;
  config.normalize = o->normalize;
  config.project = o->project;
  config.root_weight = !o->no_root;
  config.train_eps = o->train_eps;
  config.dtype = o->double_precision ? GNNMG_DTYPE_F64 : GNNMG_DTYPE_F32;
  config.seed = o->seed + (uint64_t)run;
  CHECK(gnnmg_model_create(context, data, &config, &model));
  if (o->load) CHECK(gnnmg_model_load(model, o->load, NULL, -1));
  return model;
}

static gnnmg_trainer* make_trainer(gnnmg_model* model, gnnmg_dataset* data, gnnmg_comm* comm,
                                   const train_options* o, int run) {
  gnnmg_graph* graph;
  gnnmg_sampler* sampler;
  gnnmg_sampler_config neighbours;
  gnnmg_trainer_config config;
  gnnmg_trainer* trainer;
  CHECK(gnnmg_dataset_get_graph(data, 0, &graph));
  CHECK(gnnmg_sampler_config_init(&neighbours, sizeof neighbours));
  neighbours.num_fanouts = o->num_fanouts;
  memcpy(neighbours.fanouts, o->fanouts, sizeof neighbours.fanouts);
  neighbours.expansion = o->expansion;
  neighbours.draw = o->draw;
  neighbours.replace = o->replace;
  if (o->readout) {
    neighbours.num_fanouts = o->layers;
    CHECK(gnnmg_sampler_create_graphs(data, &neighbours, &sampler));
  } else {
    CHECK(gnnmg_sampler_create(graph, &neighbours, &sampler));
  }

  CHECK(gnnmg_trainer_config_init(&config, sizeof config));
  config.num_ranks = o->ranks;
  config.num_epochs = o->epochs;
  config.batch_size = o->batch_size ? o->batch_size : INT64_MAX;
  config.batch_nodes = o->batch_nodes;
  config.batches_per_step = o->batches_per_step;
  config.partition = o->partition;
  config.drop_last = o->drop_last;
  config.seed = o->seed + (uint64_t)run;
  config.optimizer = o->optimizer;
  config.learning_rate = o->learning_rate;
  config.weight_decay = o->weight_decay;
  config.weight_decay_layers = o->weight_decay_layers;
  config.clip_norm = o->clip;
  config.schedule = o->schedule;
  config.schedule_step_epochs = o->schedule_epochs;
  config.best_by = o->metric;
  config.evaluation = o->evaluation;
  config.evaluate_every = o->evaluate_every;
  config.early_stop_patience = o->patience;
  config.loader_threads = o->loader_threads;
  config.torch_threads = o->torch_threads;
  config.deterministic = o->deterministic;
  config.sync_batch_norm = o->sync_batch_norm;
  config.deadline_ms = o->deadline_ms;
  config.device = o->device;
  config.num_devices = o->num_devices;
  memcpy(config.devices, o->devices, sizeof config.devices);
  config.graph_placement = o->graph_placement;
  config.feature_placement = o->feature_placement;
  config.feature_form = o->feature_form;
  config.precision = o->precision;
  config.hotness = o->hotness;
  config.cache_bytes = (size_t)o->cache_mib << 20;
  config.gather_multiprocessors = o->gather_multiprocessors;
  config.capture = o->capture;
  CHECK(gnnmg_trainer_create(model, data, sampler, comm, &config, &trainer));
  if (o->log) CHECK(gnnmg_trainer_set_record(trainer, GNNMG_RECORD_JSON_LINES, o->log));
  if (o->tensorboard)
    CHECK(gnnmg_trainer_set_record(trainer, GNNMG_RECORD_TENSORBOARD, o->tensorboard));
  gnnmg_sampler_free(sampler);
  gnnmg_graph_free(graph);
  return trainer;
}

/* Makes the trainer write checkpoints, and continues from the newest on request. */
static void use_checkpoints(gnnmg_context* context, gnnmg_trainer* trainer, const train_options* o,
                            int speaks) {
  gnnmg_checkpoint_config config;
  CHECK(gnnmg_checkpoint_config_init(&config, sizeof config));
  config.every_steps = o->checkpoint_steps;
  config.keep = o->checkpoint_keep;
  CHECK(gnnmg_trainer_set_checkpoints(trainer, o->checkpoints, &config));
  if (!o->resume) return;
  const gnnmg_status status = gnnmg_trainer_load(trainer, o->checkpoints, -1);
  print_warnings(context);                   /* names a skipped checkpoint */
  if (status == GNNMG_ERR_NOT_FOUND) return; /* first start */
  CHECK(status);
  gnnmg_progress_info at = {.struct_size = sizeof at};
  CHECK(gnnmg_trainer_progress(trainer, &at));
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
  CHECK(gnnmg_trainer_start(trainer, train_progress_epoch, progress, NULL));
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
  CHECK(status);
}

/* A second interrupt ends the program here as well. */
static void evaluate(gnnmg_context* context, gnnmg_trainer* trainer, gnnmg_split part,
                     const train_progress* progress, gnnmg_metrics* result) {
  gnnmg_status status;
  train_progress_busy(progress, "evaluating");
  do {
    status = gnnmg_trainer_evaluate(trainer, part, result, 200);
  } while (status == GNNMG_PENDING && interrupted < 2);
  train_progress_clear(progress);
  if (status == GNNMG_PENDING) end_by_interrupt(context);
  CHECK(status);
}

static double value_of(const gnnmg_metrics* metrics, const train_options* o) {
  if (metrics->task == GNNMG_TASK_REGRESSION) return metrics->rmse;
  return o->metric == GNNMG_METRIC_ROC_AUC ? metrics->roc_auc : metrics->accuracy;
}

static const char* name_of(const gnnmg_metrics* metrics, const train_options* o) {
  if (metrics->task == GNNMG_TASK_REGRESSION) return "RMSE";
  return o->metric == GNNMG_METRIC_ROC_AUC ? "ROC-AUC" : "accuracy";
}

/* The metric of the epoch lines: for regression not the accuracy. */
static int validated_by(const gnnmg_dataset* data, const train_options* o) {
  gnnmg_dataset_info info = {.struct_size = sizeof info};
  CHECK(gnnmg_dataset_get_info(data, &info));
  return info.task == GNNMG_TASK_REGRESSION ? GNNMG_METRIC_RMSE : o->metric;
}

static int64_t size_of(const gnnmg_dataset* data, gnnmg_split part) {
  struct DLManagedTensorVersioned* ids;
  int64_t count;
  CHECK(gnnmg_dataset_export_split(data, part, &ids));
  data_of(ids, &count);
  gnnmg_tensor_free(ids);
  return count;
}

/* The number of ranks, and their devices if given. */
static void print_ranks(const gnnmg_context* context, const train_options* o, int processes) {
  int64_t gpus = 0;
  CHECK(gnnmg_context_num_devices(context, &gpus, NULL));
  if (o->num_devices) {
    printf("%d on GPU", o->num_devices);
    for (int i = 0; i < o->num_devices; ++i) printf("%s %d", i ? "," : "", (int)o->devices[i]);
  } else if (!o->ranks && gpus && o->device != GNNMG_DEVICE_CPU) {
    printf("one a GPU%s", processes > 1 ? " of its share" : "");
  } else {
    printf("%d", o->ranks ? o->ranks : 1);
  }
}

static void print_head(const gnnmg_context* context, gnnmg_dataset* data, gnnmg_model* model,
                       const train_options* o, int processes) {
  gnnmg_dataset_info info = {.struct_size = sizeof info};
  gnnmg_model_info m = {.struct_size = sizeof m};
  CHECK(gnnmg_dataset_get_info(data, &info));
  CHECK(gnnmg_model_get_info(model, &m));
  printf("data    %s: %lld nodes, %lld edges, %lld features, %lld classes\n", o->dataset,
         (long long)info.num_nodes, (long long)info.num_edges, (long long)info.feature_dim,
         (long long)info.num_classes);
  printf("split   %lld train, %lld validation, %lld test\n",
         (long long)size_of(data, GNNMG_SPLIT_TRAIN),
         (long long)size_of(data, GNNMG_SPLIT_VALIDATION),
         (long long)size_of(data, GNNMG_SPLIT_TEST));
  const int sage = o->model == GNNMG_MODEL_SAGE;
  const int aggregation =
      o->aggregation == GNNMG_AGGREGATION_DEFAULT ? GNNMG_AGGREGATION_MEAN : o->aggregation;
  printf("model   %s%s%s, %d layers, hidden width %lld, %lld parameters\n",
         sage ? "GraphSAGE" : train_option_word("model", o->model), sage ? " " : "",
         sage ? train_option_word("aggregation", aggregation) : "", m.num_layers,
         (long long)m.hidden_dim, (long long)m.num_parameters);
  printf("ranks   ");
  print_ranks(context, o, processes);
  if (processes > 1)
    printf(" in each of %d processes", processes);
  else
    printf(" in this process");
  if (!o->readout) printf(", fan-outs");
  for (int i = 0; i < o->num_fanouts && !o->readout; ++i) printf(" %lld", (long long)o->fanouts[i]);
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

static void print_test(gnnmg_trainer* trainer, gnnmg_split part, const gnnmg_metrics* test,
                       const train_options* o) {
  gnnmg_progress_info info = {.struct_size = sizeof info};
  CHECK(gnnmg_trainer_progress(trainer, &info));
  printf("%s%s %s %.4f, loss %.4f", o->quiet ? "" : "\n",
         part == GNNMG_SPLIT_TEST ? "test   " : "held out", name_of(test, o), value_of(test, o),
         test->loss);
  if (info.has_validation && info.best_epoch >= 0 && info.state == GNNMG_TRAINER_FINISHED)
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

/* Better before the training than after it. */
static void check_place(const char* path) {
  char folder[4096];
  const char* slash = strrchr(path, '/');
  const int length = slash ? (int)(slash - path) + 1 : 0;
  snprintf(folder, sizeof folder, "%.*s", length, path);
  if (access(length ? folder : ".", W_OK) == 0) return;
  fprintf(stderr, "train: --save %s: %s\n", path, strerror(errno));
  exit(2);
}

/* The training's use of a GPU's memory. */
static void print_plan(const gnnmg_trainer* trainer, const train_options* o) {
  /*! [memory] */
  gnnmg_memory_info plan = {.struct_size = sizeof plan};
  CHECK(gnnmg_trainer_get_memory_info(trainer, o->gpu_memory, &plan));
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
  if (o.save) check_place(o.save);
  signal(SIGINT, on_interrupt);
  signal(SIGTERM, on_interrupt);

  const double start = now();
  gnnmg_context* context = open_context();
  gnnmg_comm* comm = join(context, &o);
  int32_t process = 0, processes = 1;
  if (comm) {
    CHECK(gnnmg_comm_rank(comm, &process));
    CHECK(gnnmg_comm_world_size(comm, &processes));
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
  print_warnings(context);
  const int metric = validated_by(data, &o);
  const char* validated =
      metric == GNNMG_METRIC_RMSE ? "RMSE" : train_option_word("metric", metric);
  train_sums tests = {0};
  train_curve curve = {0};
  progress.name = validated;
  progress.metric = metric;
  progress.curve = &curve;
  gnnmg_split part = GNNMG_SPLIT_TEST;
  gnnmg_metrics test = {.struct_size = sizeof test};
  for (int run = 0; run < o.runs && !interrupted; ++run) {
    choose_split(data, &o, run);
    part = size_of(data, GNNMG_SPLIT_TEST) ? GNNMG_SPLIT_TEST : GNNMG_SPLIT_VALIDATION;
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
    if (speaks && o.save && run == 0) CHECK(gnnmg_model_save(model, o.save, NULL, -1));
    const int held_out = size_of(data, part) > 0; /* all may be for training */
    if (held_out) {
      evaluate(context, trainer, part, &progress, &test);
      train_sums_add(&tests, value_of(&test, &o));
    }
    if (speaks) {
      if (held_out) print_test(trainer, part, &test, &o);
      print_tail(&progress.times, now() - start);
      if (o.times && progress.times.num_epochs) print_ranks_times(trainer);
    }
    gnnmg_trainer_free(trainer);
    gnnmg_model_free(model);
  }
  if (speaks && tests.count > 1) {
    printf("\n");
    if (part == GNNMG_SPLIT_TEST || !curve.num_points)
      print_mean("result", name_of(&test, &o), &tests, "");
    else
      print_curve(&curve, validated, metric != GNNMG_METRIC_LOSS && metric != GNNMG_METRIC_RMSE);
  }
  train_curve_free(&curve);
  if (comm) CHECK(gnnmg_comm_shutdown(comm, -1)); /* all processes leave together */
  gnnmg_comm_free(comm);
  gnnmg_dataset_free(data);
  close_context(context);
  return interrupted ? 130 : 0;
}
