/* The help of `train`: a first page with examples, and the options of each topic. */
#include "train_help.h"

#include <stdio.h>
#include <string.h>

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
    "  --fanouts A,B,...      neighbors per hop, nearest to the seeds first (10,10)\n"
    "  --epochs N             epochs (20)\n"
    "  --batch-size N         seeds a mini-batch (1024)\n"
    "  --lr X                 learning rate (0.003)\n"
    "  --ranks N              replicas, each in a thread of its own (one a GPU, or one)\n"
    "  --save FILE            weights, .safetensors or .pth\n"
    "\n"
    "All others, by topic: train --help=TOPIC\n";

static const struct {
  const char *name, *options;
} topics[] = {
    {"data",
     "Data\n"
     "  --split NAME[:INDEX]   split to use (default: the first of the data set)\n"
     "  --random-split T,V     draw a split instead: fractions for training and validation\n"
     "  --normalize-rows       divide each node's features by their sum\n"
     "  --no-edges             drop all edges, to measure the graph's benefit\n"
     "  --balance-classes      every class counts the same in the loss, however rare it is\n"},
    {"model",
     "Model\n"
     "  --model M              sage, gcn, gat, gatv2, gin, gine, rgcn, transformer, pna, "
     "graphconv,\n"
     "                         edge (sage)\n"
     "  --heads N              of gat, gatv2, transformer, dividing the hidden width (1)\n"
     "  --output-heads N       of their last layer, which takes the mean (as --heads)\n"
     "  --edge-features        gat, gatv2, transformer, pna read the edges' features; gine always "
     "does\n"
     "  --edge-weights         gcn, graphconv read the edges' weights\n"
     "  --node-categories N,.. features are numbers of categories, so many a column: learned rows\n"
     "  --edge-categories N,.. the same of the edges' features\n"
     "  --input I              features, embedding (a learned row a node), nodes (rgcn: a row of\n"
     "                         weights for each node and relation) (features, if there are any,\n"
     "                         else nodes for rgcn and embedding for all others)\n"
     "  --relations N          of rgcn: types of edges (those of the data set)\n"
     "  --bases N, --blocks N  of rgcn: how the relations' matrices are made (0: each whole)\n"
     "  --readout R            results for graphs: sum, mean, max, attention, set2set, sort "
     "(none)\n"
     "  --sort-rows N          of the readout sort (30)\n"
     "  --jumping J            none, last, cat, max, lstm, scores (none; last with --readout)\n"
     "  --layers N             layers (2)\n"
     "  --hidden N             hidden width (64)\n"
     "  --aggregation A        of sage, gin, gine, graphconv, rgcn, edge: mean, max, sum,\n"
     "                         default (default: sum for gin, gine, graphconv, max for edge,\n"
     "                         else mean)\n"
     "  --activation A         relu, elu, leaky, gelu, tanh, prelu, silu, sigmoid,\n"
     "                         none (relu)\n"
     "  --norm N               none, batch, layer, graph (none)\n"
     "  --skip S               none, linear, residual (none)\n"
     "  --init I               pyg, glorot, dgl: law of the initial weights (pyg)\n"
     "  --dropout P            on hidden rows (0.5)\n"
     "  --input-dropout P      on features (0)\n"
     "  --output-dropout P     on the input of the last linear layer, or on each score (0)\n"
     "  --edge-dropout P       leave out edges, in training, of each layer (0)\n"
     "  --node-dropout P       leave out nodes, in training, with all their edges (0)\n"
     "  --normalize            scale each layer's rows to unit length\n"
     "  --project              a linear layer on the sources first\n"
     "  --no-root              leave out a node's own row\n"
     "  --train-eps            of gin, gine: learn how much a node's own row counts\n"
     "  --double               double precision\n"},
    {"sampling",
     "Sampling\n"
     "  --fanouts A,B,...      neighbors per hop, nearest to the seeds first; or \"full\" (10,10)\n"
     "  --expansion E          once, every-layer (once)\n"
     "  --draw D               draw of neighbors: uniform, labor, labor-once (uniform)\n"
     "  --replace              draw with replacement\n"},
    {"training",
     "Training\n"
     "  --epochs N             epochs (20); 0: evaluate the weights of --load\n"
     "  --batch-size N         seeds a mini-batch; \"all\": one mini-batch an epoch (1024)\n"
     "  --drop-last            leave out a last mini-batch that is short\n"
     "  --batch-nodes N        of graphs: nodes a mini-batch at most; 0: any number (0)\n"
     "  --batches-per-step N   mini-batches a step, all ranks together (number of ranks)\n"
     "  --optimizer O          adam, adamw, sgd (adam)\n"
     "  --lr X                 learning rate (0.003)\n"
     "  --weight-decay X       (0)\n"
     "  --weight-decay-layers N  of the first N layers alone (0: of all)\n"
     "  --schedule S           constant, cosine, step, plateau (constant)\n"
     "  --schedule-epochs N    epochs until step halves the rate (50)\n"
     "  --clip X               limit of the gradient's norm; 0: none (0)\n"
     "  --patience N           stop after N evaluations without a better one; 0: never (0)\n"
     "  --metric M             accuracy, auc, loss: choice of the best epoch (accuracy)\n"
     "  --evaluation E         full, sampled (full)\n"
     "  --evaluate-every N     epochs between validations (1)\n"
     "  --ranks N              replicas, each in a thread of its own (one a GPU, or one)\n"
     "  --loader-threads N     threads a rank that sample and gather (1)\n"
     "  --torch-threads N      threads a rank for dense products; 0: its share of the cores (0)\n"
     "  --precision P          of products: float32, tf32 (on GPUs), bf16 (float32)\n"
     "  --sync-batch-norm      batch norm over all ranks' mini-batches of a step together\n"
     "  --deterministic        the same bits for any number of ranks and threads\n"
     "  --seed N               of weights, order, samples, dropout and random split (1)\n"
     "  --runs N               train N times with seeds counting up; prints mean and error (1)\n"
     "  --vary-split           count the split's index up as well; where splits have no test part, "
     "as\n"
     "                         folds have none, the runs' validations are averaged epoch by "
     "epoch\n"},
    {"devices",
     "Devices\n"
     "  --device D             auto, cpu, cuda, or the GPUs of the ranks: cuda:0,1 (auto)\n"
     "  --graph-placement P    where GPUs read the graph: auto, device, pinned, host (auto)\n"
     "  --feature-placement P  and features: auto, device, pinned, cached, split, host (auto)\n"
     "  --feature-form F       how they are kept for GPUs: as-given, f16, bf16, int8 (as-given)\n"
     "  --cache-mib N          memory of each GPU for cached features; 0: 30 % of the free memory "
     "(0)\n"
     "  --hotness H            choice of cached rows: probability, degree, counting (probability)\n"
     "  --gather-multiprocessors N  of a GPU, for features in main memory; 0: an eighth (0)\n"
     "  --capture C            steps on GPUs as CUDA graphs: auto, off, on, unpadded (auto)\n"},
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
     "  --deadline S           seconds that ranks wait for a late one (30)\n"},
    {"parts",
     "A folder of parts, in several processes: that all share, or with some parts in each\n"
     "  --partition P          seeds of a mini-batch: global, parts (of one part) (global)\n"
     "  --reading R            of others' parts: auto, shared (from the folder), asked (auto)\n"
     "  --server-patience S    seconds to wait for parts whose servers are all away (0)\n"
     "  --insecure             processes and servers are asked without TLS beyond this machine\n"
     "  --tls-cert FILE, --tls-key FILE, --tls-ca FILE  or by certificates, PEM\n"},
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
     "  --times                where the time of the last epoch went, for each rank\n"
     "  --plan                 print the use of a GPU's memory, and train nothing\n"
     "  --gpu-memory SIZE      of a GPU that need not be there, as 80G or 40GiB (that of the "
     "first\n"
     "                         GPU, as far as it is free)\n"
     "  --quiet                only the closing table\n"
     "  --help[=TOPIC]         the options of a topic, or of all of them\n"
     "  --version\n"},
};
enum { num_topics = sizeof topics / sizeof *topics };

int train_help_knows(const char* topic) {
  for (int i = 0; i < num_topics; ++i)
    if (strcmp(topics[i].name, topic) == 0) return 1;
  return strcmp(topic, "all") == 0;
}

void train_help_print(const char* topic) {
  if (!topic) {
    fputs(first_page, stdout);
    for (int i = 0; i < num_topics; ++i) printf("%s%s", i ? ", " : "  ", topics[i].name);
    printf(", all\n");
    return;
  }
  for (int i = 0; i < num_topics; ++i)
    if (strcmp(topics[i].name, topic) == 0 || strcmp(topic, "all") == 0)
      fputs(topics[i].options, stdout);
}
