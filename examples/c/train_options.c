/* The command line of `train`, on getopt_long. */
#include "train_options.h"

#include <errno.h>
#include <getopt.h>
#include <gnnmg.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "train_help.h"
#include "train_plan.h"

typedef struct choice {
  const char *option, *word;
  int number;
} choice;

static const choice choices[] = {
    {"model", "sage", GNNMG_MODEL_SAGE},
    {"model", "gcn", GNNMG_MODEL_GCN},
    {"model", "gat", GNNMG_MODEL_GAT},
    {"model", "gatv2", GNNMG_MODEL_GATV2},
    {"model", "gin", GNNMG_MODEL_GIN},
    {"model", "gine", GNNMG_MODEL_GINE},
    {"model", "rgcn", GNNMG_MODEL_RGCN},
    {"model", "transformer", GNNMG_MODEL_TRANSFORMER},
    {"model", "pna", GNNMG_MODEL_PNA},
    {"model", "graphconv", GNNMG_MODEL_GRAPHCONV},
    {"model", "edge", GNNMG_MODEL_EDGE},
    {"input", "features", GNNMG_INPUT_FEATURES},
    {"input", "embedding", GNNMG_INPUT_EMBEDDING},
    {"input", "nodes", GNNMG_INPUT_NODES},
    {"readout", "sum", GNNMG_READOUT_SUM},
    {"readout", "mean", GNNMG_READOUT_MEAN},
    {"readout", "max", GNNMG_READOUT_MAX},
    {"readout", "attention", GNNMG_READOUT_ATTENTION},
    {"readout", "set2set", GNNMG_READOUT_SET2SET},
    {"readout", "sort", GNNMG_READOUT_SORT},
    {"jumping", "none", GNNMG_JUMPING_NONE},
    {"jumping", "last", GNNMG_JUMPING_LAST},
    {"jumping", "cat", GNNMG_JUMPING_CAT},
    {"jumping", "max", GNNMG_JUMPING_MAX},
    {"jumping", "lstm", GNNMG_JUMPING_LSTM},
    {"jumping", "scores", GNNMG_JUMPING_SCORES},
    {"aggregation", "default", GNNMG_AGGREGATION_DEFAULT},
    {"aggregation", "mean", GNNMG_AGGREGATION_MEAN},
    {"aggregation", "max", GNNMG_AGGREGATION_MAX},
    {"aggregation", "sum", GNNMG_AGGREGATION_SUM},
    {"activation", "relu", GNNMG_ACTIVATION_RELU},
    {"activation", "none", GNNMG_ACTIVATION_NONE},
    {"activation", "elu", GNNMG_ACTIVATION_ELU},
    {"activation", "leaky", GNNMG_ACTIVATION_LEAKY_RELU},
    {"activation", "gelu", GNNMG_ACTIVATION_GELU},
    {"activation", "tanh", GNNMG_ACTIVATION_TANH},
    {"activation", "prelu", GNNMG_ACTIVATION_PRELU},
    {"activation", "silu", GNNMG_ACTIVATION_SILU},
    {"activation", "sigmoid", GNNMG_ACTIVATION_SIGMOID},
    {"norm", "none", GNNMG_NORM_NONE},
    {"norm", "batch", GNNMG_NORM_BATCH},
    {"norm", "layer", GNNMG_NORM_LAYER},
    {"norm", "graph", GNNMG_NORM_LAYER_GRAPH},
    {"skip", "none", GNNMG_SKIP_NONE},
    {"skip", "linear", GNNMG_SKIP_LINEAR},
    {"skip", "residual", GNNMG_SKIP_RESIDUAL},
    {"init", "pyg", GNNMG_WEIGHT_INIT_PYG},
    {"init", "glorot", GNNMG_WEIGHT_INIT_GLOROT},
    {"init", "dgl", GNNMG_WEIGHT_INIT_DGL},
    {"expansion", "once", GNNMG_EXPANSION_ONCE},
    {"expansion", "every-layer", GNNMG_EXPANSION_EVERY_LAYER},
    {"draw", "uniform", GNNMG_DRAW_UNIFORM},
    {"draw", "labor", GNNMG_DRAW_LABOR},
    {"draw", "labor-once", GNNMG_DRAW_LABOR_ONCE},
    {"optimizer", "adam", GNNMG_OPTIMIZER_ADAM},
    {"optimizer", "adamw", GNNMG_OPTIMIZER_ADAMW},
    {"optimizer", "sgd", GNNMG_OPTIMIZER_SGD},
    {"schedule", "constant", GNNMG_SCHEDULE_CONSTANT},
    {"schedule", "cosine", GNNMG_SCHEDULE_COSINE},
    {"schedule", "step", GNNMG_SCHEDULE_STEP},
    {"schedule", "plateau", GNNMG_SCHEDULE_PLATEAU},
    {"metric", "accuracy", GNNMG_METRIC_ACCURACY},
    {"metric", "loss", GNNMG_METRIC_LOSS},
    {"metric", "auc", GNNMG_METRIC_ROC_AUC},
    {"graph-placement", "auto", GNNMG_GRAPH_PLACEMENT_AUTO},
    {"graph-placement", "device", GNNMG_GRAPH_PLACEMENT_DEVICE},
    {"graph-placement", "pinned", GNNMG_GRAPH_PLACEMENT_PINNED},
    {"graph-placement", "host", GNNMG_GRAPH_PLACEMENT_HOST},
    {"feature-placement", "auto", GNNMG_FEATURE_PLACEMENT_AUTO},
    {"feature-placement", "device", GNNMG_FEATURE_PLACEMENT_DEVICE},
    {"feature-placement", "pinned", GNNMG_FEATURE_PLACEMENT_PINNED},
    {"feature-placement", "cached", GNNMG_FEATURE_PLACEMENT_CACHED},
    {"feature-placement", "split", GNNMG_FEATURE_PLACEMENT_SPLIT},
    {"feature-placement", "host", GNNMG_FEATURE_PLACEMENT_HOST},
    {"feature-form", "as-given", GNNMG_FEATURE_FORM_AS_GIVEN},
    {"feature-form", "f16", GNNMG_FEATURE_FORM_F16},
    {"feature-form", "bf16", GNNMG_FEATURE_FORM_BF16},
    {"feature-form", "int8", GNNMG_FEATURE_FORM_INT8},
    {"precision", "float32", GNNMG_PRECISION_FLOAT32},
    {"precision", "tf32", GNNMG_PRECISION_TF32},
    {"precision", "bf16", GNNMG_PRECISION_BF16},
    {"hotness", "probability", GNNMG_HOTNESS_PROBABILITY},
    {"hotness", "degree", GNNMG_HOTNESS_DEGREE},
    {"hotness", "counting", GNNMG_HOTNESS_COUNTING},
    {"capture", "auto", GNNMG_CAPTURE_AUTO},
    {"capture", "off", GNNMG_CAPTURE_OFF},
    {"capture", "on", GNNMG_CAPTURE_ON},
    {"capture", "unpadded", GNNMG_CAPTURE_UNPADDED},
    {"partition", "global", GNNMG_PARTITION_GLOBAL},
    {"partition", "parts", GNNMG_PARTITION_PARTS},
    {"reading", "auto", GNNMG_PARTS_READING_AUTO},
    {"reading", "shared", GNNMG_PARTS_READING_SHARED},
    {"reading", "asked", GNNMG_PARTS_READING_ASKED},
    {"evaluation", "full", GNNMG_EVALUATION_FULL},
    {"evaluation", "sampled", GNNMG_EVALUATION_SAMPLED},
};
enum { num_choices = sizeof choices / sizeof *choices };

static void complain(const char* option, const char* value, const char* expected) {
  fprintf(stderr, "train: --%s %s: expected %s (try --help)\n", option, value, expected);
  exit(2);
}

static int choose(const char* option, const char* word) {
  char expected[160] = "one of";
  for (int i = 0; i < num_choices; ++i) {
    if (strcmp(choices[i].option, option) != 0) continue;
    if (strcmp(choices[i].word, word) == 0) return choices[i].number;
    strcat(strcat(expected, " "), choices[i].word);
  }
  complain(option, word, expected);
  return 0;
}

const char* train_option_word(const char* option, int number) {
  for (int i = 0; i < num_choices; ++i)
    if (strcmp(choices[i].option, option) == 0 && choices[i].number == number)
      return choices[i].word;
  return "?";
}

static int64_t integer(const char* option, const char* text, int64_t least) {
  char expected[64];
  char* end;
  errno = 0;
  const long long value = strtoll(text, &end, 10);
  snprintf(expected, sizeof expected, "an integer of at least %lld", (long long)least);
  if (errno || end == text || *end || value < least) complain(option, text, expected);
  return value;
}

static int small(const char* option, const char* text, int least) {
  const int64_t value = integer(option, text, least);
  if (value > INT_MAX) complain(option, text, "an integer below 2^31");
  return (int)value;
}

static double number(const char* option, const char* text, double least, double most) {
  char expected[64];
  char* end;
  const double value = strtod(text, &end);
  snprintf(expected, sizeof expected, "a number from %g to %g", least, most);
  if (end == text || *end || !(value >= least && value <= most)) complain(option, text, expected);
  return value;
}

/* Up to 16 integers with commas between; returns how many. */
static int list(const char* option, const char* text, int64_t least, int64_t* values) {
  char expected[96];
  snprintf(expected, sizeof expected, "%sup to 16 integers of at least %lld with commas between",
           least < 0 ? "\"full\", or " : "", (long long)least);
  int count = 0;
  for (const char* at = text;; ++at) {
    char* end;
    const long long value = strtoll(at, &end, 10);
    if (end == at || value < least || (*end && *end != ',') || count == 16)
      complain(option, text, expected);
    values[count++] = value;
    if (!*end) return count;
    at = end;
  }
}

static void fanouts(train_options* o, const char* text) {
  o->num_fanouts = 0;
  if (strcmp(text, "full") == 0) return; /* one -1 a layer, once the layers are known */
  o->num_fanouts = list("fanouts", text, -1, o->fanouts);
}

static void categories(const char* option, const char* text, int32_t* counts) {
  int64_t values[16];
  const int columns = list(option, text, 1, values);
  for (int k = 0; k < 16; ++k) {
    if (k < columns && values[k] > INT32_MAX) complain(option, text, "integers below 2^31");
    counts[k] = k < columns ? (int32_t)values[k] : 0;
  }
}

/* A kind of device, or "cuda:" and the GPUs of the ranks. */
static void device(train_options* o, const char* text) {
  static const char* const kinds[] = {"auto", "cpu", "cuda"};
  if (strncmp(text, "cuda:", 5) == 0) {
    int64_t numbers[16];
    o->device = GNNMG_DEVICE_CUDA;
    o->num_devices = list("device cuda:", text + 5, 0, numbers);
    for (int i = 0; i < o->num_devices; ++i) {
      if (numbers[i] > INT32_MAX) complain("device", text, "numbers of GPUs");
      o->devices[i] = (int32_t)numbers[i];
    }
    return;
  }
  o->num_devices = 0;
  for (o->device = 0; o->device < 3; ++o->device)
    if (strcmp(text, kinds[o->device]) == 0) return;
  complain("device", text, "auto, cpu, cuda, or GPUs like cuda:0,1");
}

static void fractions(train_options* o, const char* text) {
  char* end;
  o->train_fraction = strtod(text, &end);
  const char* second = *end == ',' ? end + 1 : end;
  o->validation_fraction = strtod(second, &end);
  if (end == second || *end || !(o->train_fraction > 0) || !(o->validation_fraction >= 0) ||
      !(o->train_fraction + o->validation_fraction <= 1))
    complain("random-split", text, "two fractions like 0.6,0.2 with a sum of at most 1");
}

static void split(train_options* o, char* text) {
  char* colon = strrchr(text, ':');
  if (colon) {
    *colon = 0;
    o->split_index = small("split NAME:INDEX with the index", colon + 1, 0);
  }
  o->split = *text ? text : NULL;
}

/* Options for some kinds of models only, or in combination with another option. */
static void check_applies(const train_options* o, const char* option) {
  enum {
    sage = 1 << GNNMG_MODEL_SAGE,
    gcn = 1 << GNNMG_MODEL_GCN,
    gats = 1 << GNNMG_MODEL_GAT | 1 << GNNMG_MODEL_GATV2,
    gine = 1 << GNNMG_MODEL_GINE,
    rgcn = 1 << GNNMG_MODEL_RGCN,
    transformer = 1 << GNNMG_MODEL_TRANSFORMER,
    pna = 1 << GNNMG_MODEL_PNA,
    graphconv = 1 << GNNMG_MODEL_GRAPHCONV,
    gin = 1 << GNNMG_MODEL_GIN,
    edge = 1 << GNNMG_MODEL_EDGE
  };
  static const struct {
    const char* option;
    int models;
  } limited[] = {{"heads", gats | transformer},
                 {"output-heads", gats | transformer},
                 {"edge-features", gats | transformer | pna | gine},
                 {"edge-categories", gats | transformer | pna | gine},
                 {"edge-weights", gcn | graphconv},
                 {"relations", rgcn},
                 {"bases", rgcn},
                 {"blocks", rgcn},
                 {"aggregation", sage | gin | gine | graphconv | rgcn | edge},
                 {"normalize", sage},
                 {"project", sage},
                 {"no-root", sage | rgcn | transformer},
                 {"train-eps", gin | gine}};
  for (size_t i = 0; i < sizeof limited / sizeof *limited; ++i)
    if (strcmp(option, limited[i].option) == 0 && !(limited[i].models >> o->model & 1)) {
      fprintf(stderr, "train: --%s is not an option of the model %s\n", option,
              train_option_word("model", o->model));
      exit(2);
    }
  const char* needed = NULL;
  if (strcmp(option, "sort-rows") == 0 && o->readout != GNNMG_READOUT_SORT)
    needed = "--readout sort";
  if (strcmp(option, "schedule-epochs") == 0 && o->schedule != GNNMG_SCHEDULE_STEP)
    needed = "--schedule step";
  if (needed) {
    fprintf(stderr, "train: --%s needs %s\n", option, needed);
    exit(2);
  }
}

/* Prints the help and ends the program. A data set may follow the option instead of a topic. */
static void help(const char* given, const char* operand) {
  if (given && !train_help_knows(given)) complain("help", given, "a topic of train --help");
  train_help_print(given ? given : operand && train_help_knows(operand) ? operand : NULL);
  exit(0);
}

void train_options_parse(train_options* o, int argc, char** argv) {
  enum { value = required_argument, flag = no_argument };
  static const struct option known[] = {{"split", value, 0, 0},
                                        {"random-split", value, 0, 0},
                                        {"normalize-rows", flag, 0, 0},
                                        {"no-edges", flag, 0, 0},
                                        {"balance-classes", flag, 0, 0},
                                        {"model", value, 0, 0},
                                        {"heads", value, 0, 0},
                                        {"output-heads", value, 0, 0},
                                        {"edge-features", flag, 0, 0},
                                        {"edge-weights", flag, 0, 0},
                                        {"node-categories", value, 0, 0},
                                        {"edge-categories", value, 0, 0},
                                        {"input", value, 0, 0},
                                        {"relations", value, 0, 0},
                                        {"bases", value, 0, 0},
                                        {"blocks", value, 0, 0},
                                        {"readout", value, 0, 0},
                                        {"sort-rows", value, 0, 0},
                                        {"jumping", value, 0, 0},
                                        {"layers", value, 0, 0},
                                        {"hidden", value, 0, 0},
                                        {"aggregation", value, 0, 0},
                                        {"activation", value, 0, 0},
                                        {"norm", value, 0, 0},
                                        {"skip", value, 0, 0},
                                        {"init", value, 0, 0},
                                        {"dropout", value, 0, 0},
                                        {"input-dropout", value, 0, 0},
                                        {"output-dropout", value, 0, 0},
                                        {"edge-dropout", value, 0, 0},
                                        {"node-dropout", value, 0, 0},
                                        {"normalize", flag, 0, 0},
                                        {"project", flag, 0, 0},
                                        {"no-root", flag, 0, 0},
                                        {"train-eps", flag, 0, 0},
                                        {"double", flag, 0, 0},
                                        {"fanouts", value, 0, 0},
                                        {"expansion", value, 0, 0},
                                        {"draw", value, 0, 0},
                                        {"replace", flag, 0, 0},
                                        {"epochs", value, 0, 0},
                                        {"batch-size", value, 0, 0},
                                        {"drop-last", flag, 0, 0},
                                        {"batch-nodes", value, 0, 0},
                                        {"batches-per-step", value, 0, 0},
                                        {"optimizer", value, 0, 0},
                                        {"lr", value, 0, 0},
                                        {"weight-decay", value, 0, 0},
                                        {"weight-decay-layers", value, 0, 0},
                                        {"schedule", value, 0, 0},
                                        {"schedule-epochs", value, 0, 0},
                                        {"clip", value, 0, 0},
                                        {"patience", value, 0, 0},
                                        {"metric", value, 0, 0},
                                        {"evaluation", value, 0, 0},
                                        {"evaluate-every", value, 0, 0},
                                        {"ranks", value, 0, 0},
                                        {"loader-threads", value, 0, 0},
                                        {"torch-threads", value, 0, 0},
                                        {"sync-batch-norm", flag, 0, 0},
                                        {"deterministic", flag, 0, 0},
                                        {"seed", value, 0, 0},
                                        {"runs", value, 0, 0},
                                        {"vary-split", flag, 0, 0},
                                        {"device", value, 0, 0},
                                        {"graph-placement", value, 0, 0},
                                        {"feature-placement", value, 0, 0},
                                        {"precision", value, 0, 0},
                                        {"feature-form", value, 0, 0},
                                        {"cache-mib", value, 0, 0},
                                        {"hotness", value, 0, 0},
                                        {"gather-multiprocessors", value, 0, 0},
                                        {"capture", value, 0, 0},
                                        {"processes", value, 0, 0},
                                        {"process", value, 0, 0},
                                        {"host", value, 0, 0},
                                        {"port", value, 0, 0},
                                        {"token-file", value, 0, 0},
                                        {"interface", value, 0, 0},
                                        {"deadline", value, 0, 0},
                                        {"partition", value, 0, 0},
                                        {"reading", value, 0, 0},
                                        {"server-patience", value, 0, 0},
                                        {"insecure", flag, 0, 0},
                                        {"tls-cert", value, 0, 0},
                                        {"tls-key", value, 0, 0},
                                        {"tls-ca", value, 0, 0},
                                        {"save", value, 0, 0},
                                        {"load", value, 0, 0},
                                        {"checkpoints", value, 0, 0},
                                        {"checkpoint-steps", value, 0, 0},
                                        {"checkpoint-keep", value, 0, 0},
                                        {"resume", flag, 0, 0},
                                        {"log", value, 0, 0},
                                        {"tensorboard", value, 0, 0},
                                        {"times", flag, 0, 0},
                                        {"plan", flag, 0, 0},
                                        {"gpu-memory", value, 0, 0},
                                        {"quiet", flag, 0, 0},
                                        {"help", optional_argument, 0, 'h'},
                                        {"version", flag, 0, 'v'},
                                        {0, 0, 0, 0}};
  *o = (train_options){.layers = 2,
                       .model = GNNMG_MODEL_SAGE,
                       .aggregation = GNNMG_AGGREGATION_DEFAULT,
                       .heads = 1,
                       .input = -1,   /* chosen by the data set */
                       .jumping = -1, /* depends on the readout */
                       .hidden = 64,
                       .dropout = 0.5,
                       .num_fanouts = 2,
                       .fanouts = {10, 10},
                       .epochs = 20,
                       .batch_size = 1024,
                       .learning_rate = 0.003,
                       .schedule_epochs = 50,
                       .evaluate_every = 1,
                       .host = "127.0.0.1",
                       .deadline_ms = 30000,
                       .checkpoint_keep = 3,
                       .loader_threads = 1,
                       .seed = 1,
                       .runs = 1};
  char given[sizeof known / sizeof *known] = {0};
  for (int index, code; (code = getopt_long(argc, argv, "h", known, &index)) != -1;) {
    if (code == '?') exit(2); /* getopt_long has printed the error */
    if (code == 'h') {
      help(optarg, argv[optind]);
    }
    if (code == 'v') {
      const int v = gnnmg_version();
      printf("train, libgnnmg %d.%d.%d\n", v / 10000, v / 100 % 100, v % 100);
      exit(0);
    }
    const char* name = known[index].name;
    given[index] = 1;
#define IS(text) (strcmp(name, text) == 0)
    if (IS("split"))
      split(o, optarg);
    else if (IS("random-split"))
      fractions(o, optarg);
    else if (IS("normalize-rows"))
      o->normalize_rows = 1;
    else if (IS("no-edges"))
      o->no_edges = 1;
    else if (IS("balance-classes"))
      o->balance_classes = 1;
    else if (IS("model"))
      o->model = choose(name, optarg);
    else if (IS("heads"))
      o->heads = small(name, optarg, 1);
    else if (IS("output-heads"))
      o->output_heads = small(name, optarg, 1);
    else if (IS("edge-features"))
      o->edge_features = 1;
    else if (IS("edge-weights"))
      o->edge_weights = 1;
    else if (IS("node-categories"))
      categories(name, optarg, o->node_categories);
    else if (IS("edge-categories"))
      categories(name, optarg, o->edge_categories);
    else if (IS("input"))
      o->input = choose(name, optarg);
    else if (IS("relations"))
      o->relations = integer(name, optarg, 1);
    else if (IS("bases"))
      o->bases = small(name, optarg, 0);
    else if (IS("blocks"))
      o->blocks = small(name, optarg, 0);
    else if (IS("readout"))
      o->readout = choose(name, optarg);
    else if (IS("sort-rows"))
      o->sort_rows = small(name, optarg, 1);
    else if (IS("jumping"))
      o->jumping = choose(name, optarg);
    else if (IS("layers"))
      o->layers = small(name, optarg, 1);
    else if (IS("hidden"))
      o->hidden = integer(name, optarg, 1);
    else if (IS("aggregation"))
      o->aggregation = choose(name, optarg);
    else if (IS("activation"))
      o->activation = choose(name, optarg);
    else if (IS("norm"))
      o->norm = choose(name, optarg);
    else if (IS("skip"))
      o->skip = choose(name, optarg);
    else if (IS("init"))
      o->init = choose(name, optarg);
    else if (IS("dropout"))
      o->dropout = number(name, optarg, 0, 1);
    else if (IS("input-dropout"))
      o->input_dropout = number(name, optarg, 0, 1);
    else if (IS("output-dropout"))
      o->output_dropout = number(name, optarg, 0, 1);
    else if (IS("edge-dropout"))
      o->edge_dropout = number(name, optarg, 0, 1);
    else if (IS("node-dropout"))
      o->node_dropout = number(name, optarg, 0, 1);
    else if (IS("normalize"))
      o->normalize = 1;
    else if (IS("project"))
      o->project = 1;
    else if (IS("no-root"))
      o->no_root = 1;
    else if (IS("train-eps"))
      o->train_eps = 1;
    else if (IS("double"))
      o->double_precision = 1;
    else if (IS("fanouts"))
      fanouts(o, optarg);
    else if (IS("expansion"))
      o->expansion = choose(name, optarg);
    else if (IS("draw"))
      o->draw = choose(name, optarg);
    else if (IS("replace"))
      o->replace = 1;
    else if (IS("epochs"))
      o->epochs = integer(name, optarg, 0);
    else if (IS("batch-size"))
      o->batch_size = strcmp(optarg, "all") ? integer(name, optarg, 1) : 0;
    else if (IS("drop-last"))
      o->drop_last = 1;
    else if (IS("batch-nodes"))
      o->batch_nodes = integer(name, optarg, 0);
    else if (IS("batches-per-step"))
      o->batches_per_step = integer(name, optarg, 1);
    else if (IS("optimizer"))
      o->optimizer = choose(name, optarg);
    else if (IS("lr"))
      o->learning_rate = number(name, optarg, 0, 1e6);
    else if (IS("weight-decay"))
      o->weight_decay = number(name, optarg, 0, 1e6);
    else if (IS("weight-decay-layers"))
      o->weight_decay_layers = small(name, optarg, 0);
    else if (IS("schedule"))
      o->schedule = choose(name, optarg);
    else if (IS("schedule-epochs"))
      o->schedule_epochs = integer(name, optarg, 1);
    else if (IS("clip"))
      o->clip = number(name, optarg, 0, 1e30);
    else if (IS("patience"))
      o->patience = integer(name, optarg, 0);
    else if (IS("metric"))
      o->metric = choose(name, optarg);
    else if (IS("evaluation"))
      o->evaluation = choose(name, optarg);
    else if (IS("evaluate-every"))
      o->evaluate_every = integer(name, optarg, 1);
    else if (IS("ranks"))
      o->ranks = small(name, optarg, 1);
    else if (IS("loader-threads"))
      o->loader_threads = small(name, optarg, 0);
    else if (IS("torch-threads"))
      o->torch_threads = small(name, optarg, 0);
    else if (IS("sync-batch-norm"))
      o->sync_batch_norm = 1;
    else if (IS("deterministic"))
      o->deterministic = 1;
    else if (IS("seed"))
      o->seed = (uint64_t)integer(name, optarg, 0);
    else if (IS("runs"))
      o->runs = small(name, optarg, 1);
    else if (IS("vary-split"))
      o->vary_split = 1;
    else if (IS("device"))
      device(o, optarg);
    else if (IS("graph-placement"))
      o->graph_placement = choose(name, optarg);
    else if (IS("feature-placement"))
      o->feature_placement = choose(name, optarg);
    else if (IS("precision"))
      o->precision = choose(name, optarg);
    else if (IS("feature-form"))
      o->feature_form = choose(name, optarg);
    else if (IS("cache-mib"))
      o->cache_mib = small(name, optarg, 0);
    else if (IS("hotness"))
      o->hotness = choose(name, optarg);
    else if (IS("capture"))
      o->capture = choose(name, optarg);
    else if (IS("gather-multiprocessors"))
      o->gather_multiprocessors = small(name, optarg, 0);
    else if (IS("processes"))
      o->processes = small(name, optarg, 1);
    else if (IS("process"))
      o->process = small(name, optarg, 0);
    else if (IS("host"))
      o->host = optarg;
    else if (IS("port"))
      o->port = small(name, optarg, 1);
    else if (IS("token-file"))
      o->token_file = optarg;
    else if (IS("interface"))
      o->interface_name = optarg;
    else if (IS("deadline"))
      o->deadline_ms = (int64_t)(1000 * number(name, optarg, 0.001, 1e6));
    else if (IS("partition"))
      o->partition = choose(name, optarg);
    else if (IS("reading"))
      o->reading = choose(name, optarg);
    else if (IS("server-patience"))
      o->server_patience_ms = (int64_t)(1000 * number(name, optarg, 0, 1e6));
    else if (IS("insecure"))
      o->insecure = 1;
    else if (IS("tls-cert"))
      o->tls_certificate = optarg;
    else if (IS("tls-key"))
      o->tls_key = optarg;
    else if (IS("tls-ca"))
      o->tls_authority = optarg;
    else if (IS("save"))
      o->save = optarg;
    else if (IS("load"))
      o->load = optarg;
    else if (IS("checkpoints"))
      o->checkpoints = optarg;
    else if (IS("checkpoint-steps"))
      o->checkpoint_steps = integer(name, optarg, 1);
    else if (IS("checkpoint-keep"))
      o->checkpoint_keep = small(name, optarg, 1);
    else if (IS("resume"))
      o->resume = 1;
    else if (IS("log"))
      o->log = optarg;
    else if (IS("tensorboard"))
      o->tensorboard = optarg;
    else if (IS("times"))
      o->times = 1;
    else if (IS("plan"))
      o->plan = 1;
    else if (IS("gpu-memory")) {
      o->gpu_memory = train_plan_size(optarg);
      if (!o->gpu_memory) complain("gpu-memory", optarg, "a size such as 80G, 40GiB or 512MB");
    } else if (IS("quiet"))
      o->quiet = 1;
#undef IS
  }
  if (optind + 1 != argc) {
    fprintf(stderr, optind == argc ? "train: which data set? (try --help)\n"
                                   : "train: one data set, please (try --help)\n");
    exit(2);
  }
  o->dataset = argv[optind];
  for (size_t i = 0; known[i].name; ++i)
    if (given[i]) check_applies(o, known[i].name);
  if (!o->checkpoints && (o->resume || o->checkpoint_steps)) {
    fprintf(stderr, "train: --%s needs --checkpoints\n", o->resume ? "resume" : "checkpoint-steps");
    exit(2);
  }
  if (o->checkpoints && o->runs > 1) {
    fprintf(stderr, "train: --checkpoints are of one run, not of %d\n", o->runs);
    exit(2);
  }
  if (!o->tls_certificate != !o->tls_key || !o->tls_key != !o->tls_authority) {
    fprintf(stderr, "train: --tls-cert, --tls-key and --tls-ca belong together\n");
    exit(2);
  }
  if (o->processes > 1 && !o->port) {
    fprintf(stderr, "train: --processes needs --port\n");
    exit(2);
  }
  if (o->jumping < 0) o->jumping = o->readout ? GNNMG_JUMPING_LAST : GNNMG_JUMPING_NONE;
  if (o->num_fanouts == 0)
    for (; o->num_fanouts < o->layers && o->num_fanouts < 16;) o->fanouts[o->num_fanouts++] = -1;
}
