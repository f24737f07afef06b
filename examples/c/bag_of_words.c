/*
 * Sparse features, as texts have them: the words of each page and how often. They stay sparse in
 * the graph and in a sample, whose first aggregation is then done by hand over the sample's edges.
 */
#include <gnnmg.h>
#include <gnnmg_util.h>
#include <stdio.h>

enum { PAGES = 6, WORDS = 1000, ENTRIES = 9, LINKS = 7 };

int main(void) {
  const int64_t from[LINKS] = {1, 2, 3, 0, 4, 5, 5}, to[LINKS] = {0, 0, 0, 1, 1, 2, 4};
  const int64_t start[PAGES + 1] = {0, 1, 3, 5, 6, 7, 9};
  const int32_t word[ENTRIES] = {7, 7, 42, 42, 999, 7, 0, 1, 2};
  const float times[ENTRIES] = {1, 2, 5, 1, 1, 4, 1, 1, 1};
  gnnmg_context* context;
  gnnmg_graph* graph;
  gnnmg_dataset* data;
  gnnmg_sampler* sampler;
  GNNMG_CHECK(gnnmg_context_create(GNNMG_VERSION, NULL, &context));
  gnnmg_check_context(context);
  GNNMG_CHECK(
      gnnmg_graph_create_from_coo(context, PAGES, from, to, GNNMG_DTYPE_I64, LINKS, &graph));
  /*! [set] */
  /* Page v has the entries start[v] to start[v+1] - 1, each a word and how often. */
  GNNMG_CHECK(gnnmg_graph_set_node_csr(graph, 0, "words", WORDS, start, word, times, ENTRIES));
  /*! [set] */
  /*! [get] */
  gnnmg_tensor *indptr, *indices, *values;
  int64_t num_columns, num_entries;
  GNNMG_CHECK(
      gnnmg_graph_export_node_csr(graph, 0, "words", &num_columns, &indptr, &indices, &values));
  (void)gnnmg_tensor_data_f32(values, &num_entries);
  printf("%lld entries are stored of %lld x %lld\n", (long long)num_entries, (long long)PAGES,
         (long long)num_columns);
  gnnmg_tensor_free(indptr);
  gnnmg_tensor_free(indices);
  gnnmg_tensor_free(values);
  /*! [get] */
  GNNMG_CHECK(gnnmg_dataset_create(graph, "words", NULL, GNNMG_TASK_NONE, 0, &data));

  /*! [sample] */
  /* One hop, all neighbors. */
  GNNMG_CHECK(gnnmg_sampler_create(graph, NULL, "fanouts=-1 edge_ids=1", &sampler));
  const int64_t seeds[] = {0, 4};
  gnnmg_batch* batch;
  GNNMG_CHECK(gnnmg_sampler_sample(sampler, data, seeds, 2, NULL, 1, 0, 0, &batch, -1));
  /*! [sample] */

  /*! [features] */
  gnnmg_tensor *row_starts, *row_words, *row_times; /* a row a node */
  GNNMG_CHECK(gnnmg_batch_export_sparse_features(batch, 0, &row_starts, &row_words, &row_times));
  /*! [features] */
  /*! [edges] */
  gnnmg_tensor *edge_starts, *edge_sources, *edge_ids;
  GNNMG_CHECK(gnnmg_batch_export_block(batch, 0, 0, &edge_starts, &edge_sources, &edge_ids));
  /*! [edges] */
  const int64_t* row_start = gnnmg_tensor_data_i64(row_starts, NULL);
  const int32_t* words = gnnmg_tensor_data_i32(row_words, NULL);
  const int32_t* edge_start = gnnmg_tensor_data_i32(edge_starts, NULL);
  const int32_t* source = gnnmg_tensor_data_i32(edge_sources, NULL);
  const float* counts = gnnmg_tensor_data_f32(row_times, NULL);
  double sums[2] = {0, 0};
  for (int target = 0; target < 2; ++target) {
    double of_word_7 = 0;
    for (int32_t e = edge_start[target]; e < edge_start[target + 1]; ++e)
      for (int64_t i = row_start[source[e]]; i < row_start[source[e] + 1]; ++i) {
        sums[target] += counts[i];
        if (words[i] == 7) of_word_7 += counts[i];
      }
    printf("pages that link to page %lld: %d, with %.0f words, %.0f times word 7\n",
           (long long)seeds[target], (int)(edge_start[target + 1] - edge_start[target]),
           sums[target], of_word_7);
  }
  gnnmg_tensor_free(row_starts);
  gnnmg_tensor_free(row_words);
  gnnmg_tensor_free(row_times);
  gnnmg_tensor_free(edge_starts);
  gnnmg_tensor_free(edge_sources);
  gnnmg_tensor_free(edge_ids);

  gnnmg_batch_free(batch);
  gnnmg_sampler_free(sampler);
  gnnmg_dataset_free(data);
  gnnmg_graph_free(graph);
  gnnmg_log_print(context, GNNMG_LOG_WARNING, stderr);
  gnnmg_context_free(context);
  return num_entries == ENTRIES && sums[0] == 2 + 5 + 1 + 1 + 4 && sums[1] == 1 + 1 ? 0 : 1;
}
