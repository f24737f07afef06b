/*
 * A graph with types: people follow people and rate films. Its edges come as lists and as
 * compressed columns, with tensors on nodes and edges; then it is read back as a stranger would.
 */
#include <gnnmg.h>
#include <gnnmg_util.h>
#include <stdio.h>

enum { PEOPLE = 4, FILMS = 3, FOLLOWS = 5, RATINGS = 6 };

static gnnmg_graph* build(const gnnmg_context* context) {
  /*! [build] */
  gnnmg_graph* graph;
  int32_t people, films, follows, rates;
  GNNMG_CHECK(gnnmg_graph_create(context, &graph));
  GNNMG_CHECK(gnnmg_graph_add_node_type(graph, "person", PEOPLE, &people));
  GNNMG_CHECK(gnnmg_graph_add_node_type(graph, "film", FILMS, &films));
  GNNMG_CHECK(gnnmg_graph_add_edge_type(graph, people, "follows", people, &follows));
  GNNMG_CHECK(gnnmg_graph_add_edge_type(graph, people, "rates", films, &rates));
  /*! [build] */

  /*! [lists] */
  const int32_t from[FOLLOWS] = {0, 1, 2, 3, 0}, to[FOLLOWS] = {1, 2, 3, 0, 2};
  GNNMG_CHECK(gnnmg_graph_set_coo(graph, follows, from, to, GNNMG_DTYPE_I32, FOLLOWS));
  /*! [lists] */
  /*! [columns] */
  const int64_t indptr[FILMS + 1] = {0, 3, 5, 6};     /* film 0 has the entries 0 to 2 */
  const int32_t raters[RATINGS] = {0, 1, 3, 1, 2, 0}; /* the raters */
  const int32_t ids[RATINGS] = {0, 2, 5, 3, 4, 1};    /* the rating's row in edge tensors */
  GNNMG_CHECK(gnnmg_graph_set_csc(graph, rates, indptr, raters, ids, GNNMG_DTYPE_I32, RATINGS));
  /*! [columns] */

  /*! [tensors] */
  const float age[PEOPLE] = {31, 45, 27, 60}, stars[RATINGS] = {5, 3, 4, 2, 1, 4};
  const int64_t rows_of_people[] = {PEOPLE}, rows_of_ratings[] = {RATINGS};
  GNNMG_CHECK(
      gnnmg_graph_set_node_tensor(graph, people, "age", age, GNNMG_DTYPE_F32, 1, rows_of_people));
  GNNMG_CHECK(gnnmg_graph_set_edge_tensor(graph, rates, "stars", stars, GNNMG_DTYPE_F32, 1,
                                          rows_of_ratings));
  /*! [tensors] */
  return graph;
}

static void describe(const gnnmg_graph* graph) {
  /*! [describe] */
  const char* name;
  int32_t num_node_types, num_edge_types, sparse;
  GNNMG_CHECK(gnnmg_graph_num_node_types(graph, &num_node_types));
  GNNMG_CHECK(gnnmg_graph_num_edge_types(graph, &num_edge_types));
  for (int32_t type = 0; type < num_node_types; ++type) {
    int64_t num_nodes;
    GNNMG_CHECK(gnnmg_graph_num_nodes(graph, type, &num_nodes));
    GNNMG_CHECK(gnnmg_graph_node_type_name(graph, type, &name));
    printf("%s: %lld nodes", name, (long long)num_nodes);
    for (int64_t i = 0; gnnmg_graph_node_tensor_name(graph, type, i, &name, &sparse) == GNNMG_OK;
         ++i)
      printf(", %s%s", name, sparse ? " (sparse)" : "");
    printf("\n");
  }
  for (int32_t type = 0; type < num_edge_types; ++type) {
    int32_t source_type, target_type;
    int64_t num_edges;
    const char *source, *target;
    GNNMG_CHECK(gnnmg_graph_num_edges(graph, type, &num_edges));
    GNNMG_CHECK(gnnmg_graph_edge_type_name(graph, type, &source_type, &name, &target_type));
    GNNMG_CHECK(gnnmg_graph_node_type_name(graph, source_type, &source));
    GNNMG_CHECK(gnnmg_graph_node_type_name(graph, target_type, &target));
    printf("%s %s %s: %lld edges", source, name, target, (long long)num_edges);
    for (int64_t i = 0; gnnmg_graph_edge_tensor_name(graph, type, i, &name) == GNNMG_OK; ++i)
      printf(", %s", name);
    printf("\n");
  }
  /*! [describe] */
}

int main(void) {
  gnnmg_context* context;
  GNNMG_CHECK(gnnmg_context_create(GNNMG_VERSION, NULL, &context));
  gnnmg_check_context(context);
  gnnmg_graph* graph = build(context);
  describe(graph);

  /*! [neighbours] */
  gnnmg_tensor* tensor;
  GNNMG_CHECK(gnnmg_graph_export_edge_tensor(graph, 1, "stars", &tensor)); /* rows by edge id */
  const float* stars = gnnmg_tensor_data_f32(tensor, NULL);
  double sum = 0;
  int64_t people[PEOPLE], ratings[PEOPLE], count;
  /* The edges into film 0. */
  GNNMG_CHECK(gnnmg_graph_get_in_edges(graph, 1, 0, people, ratings, PEOPLE, &count));
  for (int64_t i = 0; i < count; ++i) {
    printf("person %lld gives film 0 %.0f stars\n", (long long)people[i], stars[ratings[i]]);
    sum += stars[ratings[i]];
  }
  gnnmg_tensor_free(tensor);
  /*! [neighbours] */
  printf("film 0: %.2f stars from %lld people\n", sum / (double)count, (long long)count);

  gnnmg_graph_free(graph);
  gnnmg_log_print(context, GNNMG_LOG_WARNING, stderr);
  gnnmg_context_free(context);
  return count == 3 && sum == 13 ? 0 : 1; /* 5 + 4 + 4: the ratings 0, 2 and 5 */
}
