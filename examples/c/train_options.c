/* The command line of `train`, on getopt_long. */
#include "train_options.h"

#include <ctype.h>
#include <errno.h>
#include <getopt.h>
#include <gnnmg.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "train_help.h"
#include "train_plan.h"
#include "train_settings.h"

/* Options of the program itself. Those without a field are read by take_own(). */
enum kind { FLAG, TEXT, INT, INT64, MILLISECONDS, SPECIAL };
#define FIELD(member) offsetof(train_options, member)
static const struct own {
  const char* name;
  enum kind kind;
  size_t field;
  long long least, most;
} owns[] = {{"split", SPECIAL, 0, 0, 0},
            {"random-split", SPECIAL, 0, 0, 0},
            {"normalize-rows", FLAG, FIELD(normalize_rows), 0, 0},
            {"no-edges", FLAG, FIELD(no_edges), 0, 0},
            {"balance-classes", FLAG, FIELD(balance_classes), 0, 0},
            {"device", SPECIAL, 0, 0, 0},
            {"cache-mib", SPECIAL, 0, 0, 0},
            {"seed", INT64, FIELD(seed), 0, INT64_MAX},
            {"runs", INT, FIELD(runs), 1, INT_MAX},
            {"vary-split", FLAG, FIELD(vary_split), 0, 0},
            {"processes", INT, FIELD(processes), 1, INT_MAX},
            {"process", INT, FIELD(process), 0, INT_MAX},
            {"host", TEXT, FIELD(host), 0, 0},
            {"port", INT, FIELD(port), 1, INT_MAX},
            {"token-file", TEXT, FIELD(token_file), 0, 0},
            {"interface", TEXT, FIELD(interface_name), 0, 0},
            {"deadline", MILLISECONDS, FIELD(deadline_ms), 1, 0},
            {"reading", SPECIAL, 0, 0, 0},
            {"server-patience", MILLISECONDS, FIELD(server_patience_ms), 0, 0},
            {"insecure", FLAG, FIELD(insecure), 0, 0},
            {"tls-cert", TEXT, FIELD(tls_certificate), 0, 0},
            {"tls-key", TEXT, FIELD(tls_key), 0, 0},
            {"tls-ca", TEXT, FIELD(tls_authority), 0, 0},
            {"save", TEXT, FIELD(save), 0, 0},
            {"load", TEXT, FIELD(load), 0, 0},
            {"checkpoints", TEXT, FIELD(checkpoints), 0, 0},
            {"checkpoint-steps", INT64, FIELD(checkpoint_steps), 1, INT64_MAX},
            {"checkpoint-keep", INT, FIELD(checkpoint_keep), 1, INT_MAX},
            {"resume", FLAG, FIELD(resume), 0, 0},
            {"log", TEXT, FIELD(log), 0, 0},
            {"tensorboard", TEXT, FIELD(tensorboard), 0, 0},
            {"confusion", FLAG, FIELD(confusion), 0, 0},
            {"times", FLAG, FIELD(times), 0, 0},
            {"plan", FLAG, FIELD(plan), 0, 0},
            {"gpu-memory", SPECIAL, 0, 0, 0},
            {"quiet", FLAG, FIELD(quiet), 0, 0}};
enum { NUM_OWN = sizeof owns / sizeof *owns };

/* Further names of settings; with a value, a flag that sets it. */
static const struct alias {
  const char *name, *subject, *setting, *value;
} aliases[] = {{"model", "model", "architecture", NULL},
               {"layers", "model", "num_layers", NULL},
               {"hidden", "model", "hidden_dim", NULL},
               {"relations", "model", "num_relations", NULL},
               {"bases", "model", "num_bases", NULL},
               {"blocks", "model", "num_blocks", NULL},
               {"init", "model", "weight_init", NULL},
               {"node-categories", "model", "node_vocabulary", NULL},
               {"edge-categories", "model", "edge_vocabulary", NULL},
               {"edge-features", "model", "edge_dim", "-1"},
               {"no-root", "model", "root_weight", "0"},
               {"double", "model", "dtype", "f64"},
               {"epochs", "trainer", "num_epochs", NULL},
               {"lr", "trainer", "learning_rate", NULL},
               {"clip", "trainer", "clip_norm", NULL},
               {"schedule-epochs", "trainer", "schedule_step_epochs", NULL},
               {"patience", "trainer", "early_stop_patience", NULL},
               {"metric", "trainer", "best_by", NULL},
               {"ranks", "trainer", "num_ranks", NULL},
               {"partition", "trainer", "plan", NULL}};
enum { NUM_ALIASES = sizeof aliases / sizeof *aliases };

enum { MOST_OPTIONS = 400, FIRST = 1000 }; /* codes of getopt_long: FIRST and the index */
static struct option all[MOST_OPTIONS];
static train_setting* setting_of[MOST_OPTIONS]; /* NULL for options of the program */

const char* train_options_short(const char* subject, const char* name) {
  for (int i = 0; i < NUM_ALIASES; ++i)
    if (!aliases[i].value && strcmp(aliases[i].subject, subject) == 0 &&
        strcmp(aliases[i].setting, name) == 0)
      return aliases[i].name;
  return NULL;
}

int train_options_own(const char* option) {
  for (int i = 0; i < NUM_OWN; ++i)
    if (strcmp(owns[i].name, option) == 0) return 1;
  return 0;
}

static int64_t integer(const struct own* own, const char* text) {
  char expected[64];
  char* end;
  errno = 0;
  const long long value = strtoll(text, &end, 10);
  if (errno == 0 && end != text && !*end && value >= own->least && value <= own->most) return value;
  snprintf(expected, sizeof expected, "an integer, %lld to %lld", own->least, own->most);
  train_complain(own->name, text, expected);
  return 0;
}

static int64_t milliseconds(const struct own* own, const char* text) {
  char* end;
  const double value = strtod(text, &end);
  if (end == text || *end || !(1000 * value >= (double)own->least && value <= 1e6))
    train_complain(own->name, text, "seconds, up to 1e6");
  return (int64_t)(1000 * value);
}

/* A kind of device, or "cuda:" and the GPUs of the ranks. */
static void take_device(char* text) {
  if (strncmp(text, "cuda:", 5) == 0) {
    train_setting_set("trainer", "device", "cuda");
    train_setting_take(train_settings_find("trainer", "devices"), "device cuda:", text + 5);
    return;
  }
  if (strcmp(text, "auto") != 0 && strcmp(text, "cpu") != 0 && strcmp(text, "cuda") != 0)
    train_complain("device", text, "auto, cpu, cuda, or GPUs like cuda:0,1");
  train_setting_set("trainer", "device", text);
  train_setting_set("trainer", "devices", NULL);
}

static void take_fractions(train_options* o, const char* text) {
  char* end;
  o->train_fraction = strtod(text, &end);
  const char* second = *end == ',' ? end + 1 : end;
  o->validation_fraction = strtod(second, &end);
  if (end == second || *end || !(o->train_fraction > 0) || !(o->validation_fraction >= 0) ||
      !(o->train_fraction + o->validation_fraction <= 1))
    train_complain("random-split", text, "two fractions like 0.6,0.2 with a sum of at most 1");
}

static void take_split(train_options* o, char* text) {
  static const struct own index = {"split NAME:INDEX with the index", INT, 0, 0, INT_MAX};
  char* colon = strrchr(text, ':');
  if (colon) {
    *colon = 0;
    o->split_index = (int)integer(&index, colon + 1);
  }
  o->split = *text ? text : NULL;
}

static void take_special(train_options* o, const char* name, char* text) {
  static const struct own mib = {"cache-mib", INT64, 0, 0, 1000000000000};
  static char bytes[32];
  static const char* const readings[] = {"auto", "shared", "asked"};
  if (strcmp(name, "split") == 0) {
    take_split(o, text);
  } else if (strcmp(name, "random-split") == 0) {
    take_fractions(o, text);
  } else if (strcmp(name, "device") == 0) {
    take_device(text);
  } else if (strcmp(name, "cache-mib") == 0) {
    snprintf(bytes, sizeof bytes, "%lld", (long long)integer(&mib, text) << 20);
    train_setting_set("trainer", "cache_bytes", bytes);
  } else if (strcmp(name, "reading") == 0) {
    for (o->reading = 0; o->reading < 3; ++o->reading)
      if (strcmp(text, readings[o->reading]) == 0) return;
    train_complain(name, text, "one of auto, shared, asked");
  } else {
    o->gpu_memory = train_plan_size(text);
    if (!o->gpu_memory) train_complain(name, text, "a size such as 80G, 40GiB or 512MB");
  }
}

static void take_own(train_options* o, const struct own* own, char* text) {
  void* field = (char*)o + own->field;
  switch (own->kind) {
    case FLAG:
      *(int*)field = 1;
      break;
    case TEXT:
      *(const char**)field = text;
      break;
    case INT:
      *(int*)field = (int)integer(own, text);
      break;
    case INT64:
      *(int64_t*)field = integer(own, text);
      break;
    case MILLISECONDS:
      *(int64_t*)field = milliseconds(own, text);
      break;
    case SPECIAL:
      take_special(o, own->name, text);
  }
}

static void take_setting(train_setting* setting, const char* option, char* text) {
  const char* name = setting->info.name;
  if (!text)
    setting->value = "1"; /* --normalize */
  else if (strcmp(name, "fanouts") == 0 && strcmp(text, "full") == 0)
    setting->value = text; /* one -1 a layer, once the layers are known */
  else if (strcmp(name, "batch_size") == 0 && strcmp(text, "all") == 0)
    setting->value = "9223372036854775807";
  else
    train_setting_take(setting, option, text);
}

/* All options: those of the program, further names of settings, and settings whose names are
 * free. */
static void list_options(void) {
  int count = 0;
  for (; count < NUM_OWN; ++count)
    all[count] = (struct option){owns[count].name,
                                 owns[count].kind == FLAG ? no_argument : required_argument, 0, 0};
  for (int i = 0; i < NUM_ALIASES; ++i) {
    setting_of[count] = train_settings_find(aliases[i].subject, aliases[i].setting);
    all[count++] =
        (struct option){aliases[i].name, aliases[i].value ? no_argument : required_argument, 0, 0};
  }
  for (int k = 0; train_settings_at(k); ++k) {
    train_setting* setting = train_settings_at(k);
    int taken = 0;
    for (int i = 0; i < count; ++i) taken = taken || strcmp(all[i].name, setting->option) == 0;
    if (taken) continue;
    if (count + 3 > MOST_OPTIONS) abort();
    setting_of[count] = setting;
    all[count++] = (struct option){
        setting->option,
        strcmp(setting->info.type, "flag") == 0 ? optional_argument : required_argument, 0, 0};
  }
  for (int i = 0; i < count; ++i) all[i].val = FIRST + i;
  all[count++] = (struct option){"help", optional_argument, 0, 'h'};
  all[count] = (struct option){"version", no_argument, 0, 'v'};
}

/* The number of letters to change, add or remove, whatever their case. */
static int distance(const char* a, const char* b) {
  int row[64];
  const int length = (int)strlen(b);
  if (length >= 64) return length;
  for (int j = 0; j <= length; ++j) row[j] = j;
  for (int i = 1; a[i - 1]; ++i) {
    int before = row[0];
    row[0] = i;
    for (int j = 1; j <= length; ++j) {
      int least = before + (tolower(a[i - 1]) != tolower(b[j - 1]));
      if (row[j] + 1 < least) least = row[j] + 1;
      if (row[j - 1] + 1 < least) least = row[j - 1] + 1;
      before = row[j];
      row[j] = least;
    }
  }
  return row[length];
}

/* The number of first letters that are the same. */
static int common_start(const char* a, const char* b) {
  int count = 0;
  while (a[count] && tolower(a[count]) == tolower(b[count])) ++count;
  return count;
}

/* Ends the program after getopt_long's text; names the option that may be meant. */
static void give_up(const char* argument) {
  char name[64];
  int best = -1, least = 3;
  snprintf(name, sizeof name, "%s", strncmp(argument, "--", 2) == 0 ? argument + 2 : "");
  name[strcspn(name, "=")] = 0;
  for (int i = 0; optopt == 0 && all[i].name; ++i) {
    if (strncmp(all[i].name, name, strlen(name)) == 0) exit(2); /* several have this beginning */
    const int d = distance(name, all[i].name);
    const int nearer =
        d < least || (best >= 0 && d == least &&
                      common_start(name, all[i].name) > common_start(name, all[best].name));
    if (nearer) best = i, least = d;
  }
  if (best >= 0) fprintf(stderr, "train: did you mean --%s?\n", all[best].name);
  exit(2);
}

/* Prints the help and ends the program. A data set may follow the option instead of a topic. */
static void help(const char* given, const char* operand) {
  if (given && !train_help_knows(given)) train_complain("help", given, "a topic of train --help");
  train_help_print(given ? given : operand && train_help_knows(operand) ? operand : NULL);
  exit(0);
}

static void fail(const char* text) {
  fprintf(stderr, "train: %s\n", text);
  exit(2);
}

/* Options that need others. */
static void check_together(const train_options* o) {
  if (train_setting_given("model", "sort_rows") &&
      strcmp(train_setting_value("model", "readout"), "sort") != 0)
    fail("--sort-rows needs --readout sort");
  if (train_setting_given("trainer", "schedule_step_epochs") &&
      strcmp(train_setting_value("trainer", "schedule"), "step") != 0)
    fail("--schedule-epochs needs --schedule step");
  if (!o->checkpoints && o->resume) fail("--resume needs --checkpoints");
  if (!o->checkpoints && o->checkpoint_steps) fail("--checkpoint-steps needs --checkpoints");
  if (o->checkpoints && o->runs > 1) fail("--checkpoints are of one run");
  if (!o->tls_certificate != !o->tls_key || !o->tls_key != !o->tls_authority)
    fail("--tls-cert, --tls-key and --tls-ca belong together");
  if (o->processes > 1 && !o->port) fail("--processes needs --port");
}

/* Defaults that differ from the library's. */
static void set_defaults(void) {
  static const char* const defaults[][3] = {{"model", "hidden_dim", "64"},
                                            {"model", "dropout", "0.5"},
                                            {"trainer", "num_epochs", "20"},
                                            {"trainer", "learning_rate", "0.003"}};
  for (size_t i = 0; i < sizeof defaults / sizeof *defaults; ++i)
    train_setting_set(defaults[i][0], defaults[i][1], defaults[i][2]);
}

/* Values that follow from others. */
static void set_dependent(void) {
  static char fanouts[16 * 4];
  const char* given = train_setting_value("sampler", "fanouts");
  const int full = strcmp(given, "full") == 0;
  if (full || !train_setting_given("sampler", "fanouts")) { /* one a layer */
    *fanouts = 0;
    for (int i = 0; i < 16 && i < atoi(train_setting_value("model", "num_layers")); ++i)
      strcat(strcat(fanouts, i ? "," : ""), full ? "-1" : "10");
    train_setting_set("sampler", "fanouts", fanouts);
  }
  if (train_setting_given("model", "edge_vocabulary") && !train_setting_given("model", "edge_dim"))
    train_setting_set("model", "edge_dim", train_setting_value("model", "hidden_dim"));
  if (strcmp(train_setting_value("model", "readout"), "none") != 0 &&
      !train_setting_given("model", "jumping"))
    train_setting_set("model", "jumping", "last");
}

void train_options_parse(train_options* o, int argc, char** argv) {
  *o = (train_options){
      .host = "127.0.0.1", .deadline_ms = 30000, .checkpoint_keep = 3, .seed = 1, .runs = 1};
  train_settings_load();
  list_options();
  set_defaults();
  for (int code; (code = getopt_long(argc, argv, "h", all, NULL)) != -1;) {
    if (code == '?') give_up(argv[optind - 1]);
    if (code >= FIRST && all[code - FIRST].has_arg == optional_argument && !optarg &&
        argv[optind] && (strcmp(argv[optind], "0") == 0 || strcmp(argv[optind], "1") == 0))
      optarg = argv[optind++]; /* --relabel 1 */
    if (code == 'h') help(optarg, argv[optind]);
    if (code == 'v') {
      const int v = gnnmg_version();
      printf("train, libgnnmg %d.%d.%d\n", v / 10000, v / 100 % 100, v % 100);
      exit(0);
    }
    const int index = code - FIRST;
    if (index < NUM_OWN)
      take_own(o, &owns[index], optarg);
    else if (index < NUM_OWN + NUM_ALIASES && aliases[index - NUM_OWN].value)
      setting_of[index]->value = aliases[index - NUM_OWN].value;
    else
      take_setting(setting_of[index], all[index].name, optarg);
  }
  if (optind == argc) fail("which data set? (try --help)");
  if (optind + 1 != argc) {
    fprintf(stderr, "train: one data set, please, not %s and %s (try --help)\n", argv[optind],
            argv[optind + 1]);
    exit(2);
  }
  o->dataset = argv[optind];
  check_together(o);
  set_dependent();
}
