/* The help of `train`: a first page with examples, and the options of each topic: those of the
 * program, then those that are settings of the library. */
#include "train_help.h"

#include <stdio.h>
#include <string.h>

#include "train_options.h"
#include "train_settings.h"

static const char first_page[] =
    "Usage: train [OPTION]... DATASET\n"
    "\n"
    "Trains a model for classes (or numbers) of nodes, or of graphs with --readout, on every\n"
    "format that libgnnmg reads, evaluates it on the test part of the split, and prints where\n"
    "the time went.\n"
    "\n"
    "Examples\n"
    "  train planted                                  on a generated graph\n"
    "  train --ranks 2 --epochs 10 planted:20000      with two ranks that share each step\n"
    "  train --model gcn --save gcn.safetensors cora  on the data set in the folder cora\n"
    "\n"
    "DATASET is a folder or file, or a graph that is generated in memory:\n"
    "  planted[:NODES]        ten classes, noisy features (50000 nodes)\n"
    "  products[:NODES]       shaped like a co-purchase network, planted labels (244903 nodes)\n"
    "or served:HOST:PORT,...  by programs gnnmg-server, which have its parts\n"
    "\n"
    "The options that most trainings need, with their defaults\n"
    "  --model M              sage, gcn, gat, gin and others (sage)\n"
    "  --layers N, --hidden N layers, hidden width (2, 64)\n"
    "  --fanouts A,B,...      neighbors per hop, nearest to the seeds first (10 a layer)\n"
    "  --epochs N             epochs (20)\n"
    "  --batch-size N         seeds a mini-batch (1024)\n"
    "  --lr X                 learning rate (0.003)\n"
    "  --ranks N              replicas, each in a thread of its own (one a GPU, or one)\n"
    "  --save FILE            weights, .safetensors or .pth\n"
    "\n"
    "All others, by topic: train --help=TOPIC\n";

static const struct {
  const char *name, *options, *subject;
} topics[] = {
    {"data",
     "Data\n"
     "  --split NAME[:INDEX]   split to use (default: the first of the data set)\n"
     "  --random-split T,V     draw a split instead: fractions for training and validation\n"
     "  --normalize-rows       divide each node's features by their sum\n"
     "  --no-edges             drop all edges, to measure the graph's benefit\n"
     "  --balance-classes      every class counts the same in the loss, however rare it is\n"
     "of a folder or file\n",
     "dataset"},
    {"model",
     "Model\n"
     "  --edge-features        --edge-dim -1: read the edges' features\n"
     "  --no-root              --root-weight 0: leave out a node's own row\n"
     "  --double               --dtype f64: double precision\n",
     "model"},
    {"sampling",
     "Sampling\n"
     "  --fanouts full         all neighbors\n",
     "sampler"},
    {"training",
     "Training\n"
     "  --epochs 0             evaluate the weights of --load\n"
     "  --batch-size all       one mini-batch an epoch\n"
     "  --seed N               of weights, order, samples, dropout and random split (1)\n"
     "  --runs N               train N times with seeds counting up; prints mean and error (1)\n"
     "  --vary-split           count the split's index up as well; where splits have no test "
     "part,\n"
     "                         as folds have none, the runs' validations are averaged epoch by\n"
     "                         epoch\n"
     "  --device D             auto, cpu, cuda, or the GPUs of the ranks: cuda:0,1 (auto)\n"
     "  --cache-mib N          memory of each GPU for cached features; 0: 30 % of the free memory "
     "(0)\n",
     "trainer"},
    {"processes",
     "Several processes: started by torchrun, srun or mpirun they find each other, or by hand "
     "with\n"
     "  --processes N          how many\n"
     "  --process R            which of them this one is, from 0\n"
     "  --host H               where process 0 is (127.0.0.1)\n"
     "  --port P               where it listens\n"
     "  --token-file FILE      secret of the job and of servers, needed beyond this machine\n"
     "                         (GNNMG_TOKEN_FILE)\n"
     "  --interface I          network interface to be reached at\n"
     "  --deadline S           seconds that ranks wait for a late one (30)\n",
     NULL},
    {"parts",
     "A folder of parts, in several processes: that all share, or with some parts in each\n"
     "  --partition parts      each mini-batch has seeds of one part\n"
     "  --reading R            of others' parts: auto, shared (from the folder), asked (auto)\n"
     "  --server-patience S    seconds to wait for parts whose servers are all away (0)\n"
     "  --insecure             processes and servers are asked without TLS beyond this machine\n"
     "  --tls-cert FILE, --tls-key FILE, --tls-ca FILE  or by certificates, PEM\n",
     NULL},
    {"output",
     "Output: of process 0 alone\n"
     "  --save FILE            weights, .safetensors or .pth\n"
     "  --load FILE            weights to start from\n"
     "  --checkpoints DIR      checkpoints after each epoch, and on an interrupt; a folder\n"
     "                         is of one training, which --resume goes on with\n"
     "  --checkpoint-steps N   after so many steps instead\n"
     "  --checkpoint-keep N    how many of the last stay, beside the best (3)\n"
     "  --resume               go on from the newest whole checkpoint in there, if there is one\n"
     "  --log FILE             one JSON object an epoch\n"
     "  --tensorboard DIR      event files\n"
     "  --confusion            precision, recall and F1 of each class\n"
     "  --times                where the time of the last epoch went, for each rank\n"
     "  --plan                 print the use of a GPU's memory, and train nothing\n"
     "  --gpu-memory SIZE      of a GPU that need not be there, as 80G or 40GiB (that of the "
     "first\n"
     "                         GPU, as far as it is free)\n"
     "  --quiet                only the closing table\n"
     "  --help[=TOPIC]         the options of a topic, or of all of them\n"
     "  --version\n",
     NULL},
};
enum { num_topics = sizeof topics / sizeof *topics };

int train_help_knows(const char* topic) {
  for (int i = 0; i < num_topics; ++i)
    if (strcmp(topics[i].name, topic) == 0) return 1;
  return strcmp(topic, "all") == 0;
}

/* A setting: its names, its values, the default, and the lines of its help. */
static void print_setting(const train_setting* setting) {
  const gnnmg_setting_info* info = &setting->info;
  const char* shorter = train_options_short(setting->subject, info->name);
  const int own = train_options_own(setting->option);
  if (own && !shorter) return;
  printf("  ");
  if (shorter) printf("--%s%s", shorter, own ? "" : ", ");
  if (!own) printf("--%s", setting->option);
  const int listed = strcmp(info->type, "flag") == 0 || strcmp(info->type, "choice") == 0;
  printf("  %s%s%s", listed ? "" : info->type, listed || !*info->values ? "" : ", ", info->values);
  const char* value = setting->value ? setting->value : info->default_value;
  if (*value) printf(" (%s)", value);
  printf("\n");
  for (const char* line = info->help; *line;) { /* breaks lines at 90 columns */
    size_t length = strcspn(line, "\n");
    for (size_t fits = 90; length > 90 && fits > 0; --fits)
      if (line[fits] == ' ') length = fits;
    printf("      %.*s\n", (int)length, line);
    line += length + (line[length] != 0);
  }
}

void train_help_print(const char* topic) {
  if (!topic) {
    fputs(first_page, stdout);
    for (int i = 0; i < num_topics; ++i) printf("%s%s", i ? ", " : "  ", topics[i].name);
    printf(", all\n");
    return;
  }
  for (int i = 0; i < num_topics; ++i) {
    if (strcmp(topics[i].name, topic) != 0 && strcmp(topic, "all") != 0) continue;
    fputs(topics[i].options, stdout);
    for (int k = 0; topics[i].subject && train_settings_at(k); ++k)
      if (strcmp(train_settings_at(k)->subject, topics[i].subject) == 0)
        print_setting(train_settings_at(k));
  }
}
