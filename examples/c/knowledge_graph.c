/*
 * Classes of the entities of a knowledge graph, which has no features: R-GCN, whose first layer has
 * a row of weights for each entity in every relation's matrix.
 *   knowledge_graph [<folder with triples.npy, labels.npy and split_NAME.npy>]
 * Without a folder it uses people, their papers, topics, and acquaintances; a class is a
 * person's department.
 */
#include <gnnmg.h>
#include <gnnmg_util.h>
#include <stdio.h>

enum { PEOPLE = 300, PAPERS = 1500, TOPICS = 30, DEPARTMENTS = 3 };
enum { ENTITIES = PEOPLE + PAPERS + TOPICS, WROTE = 0, ABOUT = 1, KNOWS = 2, RELATIONS = 3 };
enum { TRIPLES = 2 * PAPERS + PEOPLE };

static uint64_t state = 1;
static int64_t draw(int64_t below) {
  state = state * 6364136223846793005u + 1442695040888963407u;
  return (int64_t)((state >> 33) % (uint64_t)below);
}

static gnnmg_dataset* generated(const gnnmg_context* context) {
  static int64_t sources[2 * TRIPLES], targets[2 * TRIPLES], relations[2 * TRIPLES];
  static int64_t labels[ENTITIES];
  int64_t count = 0;
  for (int64_t i = 0; i < ENTITIES; ++i) labels[i] = i < PEOPLE ? draw(DEPARTMENTS) : -1;
  for (int64_t paper = 0; paper < PAPERS; ++paper) {
    const int64_t author = draw(PEOPLE);
    /* Mostly a topic of the department. */
    const int64_t field = draw(10) < 7 ? labels[author] : draw(DEPARTMENTS);
    const int64_t topic = DEPARTMENTS * draw(TOPICS / DEPARTMENTS) + field;
    sources[count] = author, relations[count] = WROTE, targets[count++] = PEOPLE + paper;
    sources[count] = PEOPLE + paper, relations[count] = ABOUT;
    targets[count++] = PEOPLE + PAPERS + topic;
  }
  for (int64_t i = 0; i < PEOPLE; ++i)
    sources[count] = i, relations[count] = KNOWS, targets[count++] = draw(PEOPLE);
  /* Adds the reverse of each triple as a separate relation, like the reader of folders.
   */
  for (int64_t e = 0; e < TRIPLES; ++e) {
    sources[TRIPLES + e] = targets[e];
    targets[TRIPLES + e] = sources[e];
    relations[TRIPLES + e] = RELATIONS + relations[e];
  }
  const int64_t nodes[] = {ENTITIES}, edges[] = {2 * TRIPLES};
  gnnmg_graph* graph;
  gnnmg_dataset* data;
  GNNMG_CHECK(gnnmg_graph_create_from_coo(context, ENTITIES, sources, targets, GNNMG_DTYPE_I64,
                                          2 * TRIPLES, &graph));
  GNNMG_CHECK(gnnmg_graph_set_node_tensor(graph, 0, "y", labels, GNNMG_DTYPE_I64, 1, nodes));
  GNNMG_CHECK(
      gnnmg_graph_set_edge_tensor(graph, 0, "edge_type", relations, GNNMG_DTYPE_I64, 1, edges));
  GNNMG_CHECK(gnnmg_dataset_create(graph, NULL, "y", GNNMG_TASK_MULTICLASS, DEPARTMENTS, &data));
  gnnmg_graph_free(graph);
  int64_t people[PEOPLE];
  for (int64_t i = 0; i < PEOPLE; ++i) people[i] = i;
  GNNMG_CHECK(gnnmg_dataset_add_split(data, "people", people, 200, NULL, 0, people + 200, 100));
  return data;
}

int main(int argc, char** argv) {
  gnnmg_context* context;
  gnnmg_dataset* data;
  GNNMG_CHECK(gnnmg_context_create(GNNMG_VERSION, NULL, &context));
  gnnmg_check_context(context);
  if (argc > 1)
    GNNMG_CHECK(gnnmg_dataset_open(context, argv[1], NULL, &data, -1));
  else
    data = generated(context);

  /*! [model] */
  const gnnmg_model_config layers = {
      .struct_size = sizeof layers, .architecture = GNNMG_ARCHITECTURE_RGCN, .hidden_dim = 16};
  gnnmg_model* model; /* other architectures take input=embedding */
  GNNMG_CHECK(gnnmg_model_create(context, data, &layers, "input=nodes", &model));
  /*! [model] */
  gnnmg_model_info facts = {.struct_size = sizeof facts};
  GNNMG_CHECK(gnnmg_model_get_info(model, &facts));
  printf("%lld entities, %lld parameters\n", (long long)facts.input_dim,
         (long long)facts.num_parameters);

  gnnmg_graph* graph;
  gnnmg_sampler* sampler;
  GNNMG_CHECK(gnnmg_dataset_get_graph(data, 0, &graph));
  GNNMG_CHECK(gnnmg_sampler_create(graph, NULL, "fanouts=-1,-1", &sampler));
  /* All nodes are in one mini-batch. Without decay people's own rows would learn their labels. */
  const gnnmg_trainer_config training = {.struct_size = sizeof training,
                                         .num_epochs = 50,
                                         .batch_size = INT64_MAX,
                                         .learning_rate = 0.03,
                                         .weight_decay = 5e-3};
  gnnmg_trainer* trainer;
  GNNMG_CHECK(gnnmg_trainer_create(model, data, sampler, NULL, &training, NULL, &trainer));
  GNNMG_CHECK(gnnmg_trainer_run(trainer, NULL, NULL, NULL));
  gnnmg_metrics metrics = {.struct_size = sizeof metrics};
  GNNMG_CHECK(gnnmg_trainer_evaluate(trainer, GNNMG_PART_TEST, &metrics, NULL, -1));
  printf("test accuracy %.4f (%lld of %lld)\n", metrics.accuracy, (long long)metrics.correct,
         (long long)metrics.count);

  gnnmg_trainer_free(trainer);
  gnnmg_sampler_free(sampler);
  gnnmg_graph_free(graph);
  gnnmg_model_free(model);
  gnnmg_dataset_free(data);
  gnnmg_log_print(context, GNNMG_LOG_WARNING, stderr);
  gnnmg_context_free(context);
  return 0;
}
