/*
 * Mini-batches for another framework: seeds, nodes, features, labels and the edges of each layer
 * are exported as tensors without copying. Counts the contents of an epoch.
 */
#include <gnnmg.h>
#include <gnnmg_util.h>
#include <stdio.h>

enum { SEEDS = 600, BATCH = 256 };

/* The place of the framework's code; returns the number of edges of all layers. */
static int64_t look_into(const gnnmg_batch* batch) {
  /*! [batch] */
  gnnmg_batch_info info = {.struct_size = sizeof info};
  GNNMG_CHECK(gnnmg_batch_get_info(batch, &info));
  gnnmg_tensor *seeds, *node_ids, *features, *labels;
  GNNMG_CHECK(gnnmg_batch_export_seeds(batch, &seeds));
  GNNMG_CHECK(gnnmg_batch_export_node_ids(batch, 0, &node_ids)); /* seeds, then neighbors */
  GNNMG_CHECK(gnnmg_batch_export_features(batch, 0, &features)); /* a row for each of these */
  GNNMG_CHECK(gnnmg_batch_export_labels(batch, &labels));        /* the labels of the seeds */
  /*! [batch] */
  const int64_t* ids = gnnmg_tensor_data_i64(node_ids, NULL);
  const int64_t* classes = gnnmg_tensor_data_i64(labels, NULL);
  const float* rows = gnnmg_tensor_data_f32(features, NULL);
  printf("batch %lld of step %lld: %lld seeds, %lld nodes; node %lld is of class %lld, x[0] %.3f\n",
         (long long)info.number, (long long)info.step, (long long)info.num_seeds,
         (long long)info.num_nodes, (long long)ids[0], (long long)classes[0], rows[0]);
  gnnmg_tensor_free(seeds);
  gnnmg_tensor_free(node_ids);
  gnnmg_tensor_free(features);
  gnnmg_tensor_free(labels);

  /*! [blocks] */
  int64_t num_edges = 0;
  for (int32_t layer = 0; layer < info.num_layers; ++layer) {
    gnnmg_block_info block = {.struct_size = sizeof block};
    GNNMG_CHECK(gnnmg_batch_get_block_info(batch, layer, 0, &block));
    printf("  layer %d: %lld sources, %lld targets, %lld edges\n", (int)layer,
           (long long)block.num_sources, (long long)block.num_targets, (long long)block.num_edges);
    num_edges += block.num_edges;
  }
  /*! [blocks] */
  return num_edges;
}

int main(void) {
  gnnmg_context* context;
  gnnmg_graph* graph;
  gnnmg_sampler* sampler;
  gnnmg_loader* loader;
  gnnmg_batch* batch;
  gnnmg_status status;
  GNNMG_CHECK(gnnmg_context_create(GNNMG_VERSION, NULL, &context));
  gnnmg_check_context(context);
  gnnmg_dataset* data;
  GNNMG_CHECK(gnnmg_dataset_generate(context, "planted", "num_nodes=3000", &data));
  GNNMG_CHECK(gnnmg_dataset_get_graph(data, 0, &graph));
  GNNMG_CHECK(gnnmg_sampler_create(graph, NULL, NULL, &sampler));
  /*! [layers] */
  int32_t num_layers;
  GNNMG_CHECK(gnnmg_sampler_num_layers(sampler, &num_layers)); /* the number that a model needs */
  /*! [layers] */

  int64_t seeds[SEEDS]; /* any nodes; gnnmg_loader_create() takes those of the split */
  for (int64_t i = 0; i < SEEDS; ++i) seeds[i] = 5 * i;
  /*! [from seeds] */
  const gnnmg_loader_config config = {.struct_size = sizeof config, .batch_size = BATCH};
  GNNMG_CHECK(gnnmg_loader_create_from_seeds(data, sampler, 0, seeds, SEEDS, NULL, &config,
                                             "num_threads=2" /* that work ahead */, &loader));
  /*! [from seeds] */
  /*! [plan] */
  gnnmg_loader_info plan = {.struct_size = sizeof plan};
  GNNMG_CHECK(gnnmg_loader_get_info(loader, &plan));
  printf("epoch %lld: %lld mini-batches in %lld steps, %d layers\n", (long long)plan.epoch,
         (long long)plan.num_batches, (long long)plan.num_steps, (int)num_layers);
  /*! [plan] */

  int64_t batches = 0, edges = 0, again = 0;
  while ((status = gnnmg_loader_next(loader, &batch, -1)) == GNNMG_OK) {
    edges += look_into(batch);
    ++batches;
    gnnmg_batch_free(batch);
  }
  GNNMG_CHECK(status);

  /*! [start] */
  GNNMG_CHECK(gnnmg_loader_start(loader, 0, 1)); /* epoch 0 once more, from its second step */
  while ((status = gnnmg_loader_next(loader, &batch, -1)) == GNNMG_OK) {
    ++again;
    gnnmg_batch_free(batch);
  }
  GNNMG_CHECK(status);
  /*! [start] */
  /*! [cancel] */
  gnnmg_loader_cancel(loader); /* allowed on any thread: ends the loader */
  status = gnnmg_loader_next(loader, &batch, -1);
  printf("after the cancel: %s\n", gnnmg_status_name(status));
  /*! [cancel] */

  gnnmg_loader_free(loader);
  gnnmg_sampler_free(sampler);
  gnnmg_dataset_free(data);
  gnnmg_graph_free(graph);
  gnnmg_log_print(context, GNNMG_LOG_WARNING, stderr);
  gnnmg_context_free(context);
  return batches == 3 && again == 2 && edges > 0 && status == GNNMG_ERR_CANCELLED ? 0 : 1;
}
