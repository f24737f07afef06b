/*
 * Mini-batches for another framework: seeds, nodes, features, labels and the edges of each layer
 * are exported as tensors without copying. Counts the contents of an epoch.
 */
#include <stdio.h>

#include "common.h"

enum { SEEDS = 600, BATCH = 256 };

/* The place of the framework's code; returns the number of edges of all layers. */
static int64_t look_into(const gnnmg_batch* batch) {
  /*! [batch] */
  gnnmg_batch_info info = {.struct_size = sizeof info};
  CHECK(gnnmg_batch_get_info(batch, &info));
  struct DLManagedTensorVersioned *seeds, *node_ids, *features, *labels;
  CHECK(gnnmg_batch_export_seeds(batch, &seeds));
  CHECK(gnnmg_batch_export_node_ids(batch, &node_ids)); /* the seeds, then their neighbors */
  CHECK(gnnmg_batch_export_features(batch, &features)); /* a row for each of these */
  CHECK(gnnmg_batch_export_labels(batch, &labels));     /* the seeds' labels */
  /*! [batch] */
  const int64_t *ids = data_of(node_ids, NULL), *classes = data_of(labels, NULL);
  const float* rows = data_of(features, NULL);
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
    CHECK(gnnmg_batch_get_block_info(batch, layer, &block));
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
  context = open_context();
  gnnmg_dataset* data = planted_data(context, 3000, &graph);
  CHECK(gnnmg_sampler_create(graph, NULL, &sampler));
  /*! [layers] */
  int32_t num_layers;
  CHECK(gnnmg_sampler_num_layers(sampler, &num_layers)); /* the number that a model needs */
  /*! [layers] */

  int64_t seeds[SEEDS]; /* any nodes; gnnmg_loader_create() takes those of the split */
  for (int64_t i = 0; i < SEEDS; ++i) seeds[i] = 5 * i;
  /*! [from seeds] */
  gnnmg_loader_config config;
  CHECK(gnnmg_loader_config_init(&config, sizeof config));
  config.batch_size = BATCH;
  config.num_threads = 2; /* make mini-batches ahead */
  CHECK(gnnmg_loader_create_from_seeds(sampler, data, seeds, SEEDS, &config, &loader));
  /*! [from seeds] */
  /*! [plan] */
  gnnmg_loader_info plan = {.struct_size = sizeof plan};
  CHECK(gnnmg_loader_get_info(loader, &plan));
  printf("epoch %lld: %lld mini-batches in %lld steps, %d layers\n", (long long)plan.epoch,
         (long long)plan.num_batches, (long long)plan.num_steps, (int)num_layers);
  /*! [plan] */

  int64_t batches = 0, edges = 0, again = 0;
  while ((status = gnnmg_loader_next(loader, &batch, -1)) == GNNMG_OK) {
    edges += look_into(batch);
    ++batches;
    gnnmg_batch_free(batch);
  }
  CHECK(status);

  /*! [start] */
  CHECK(gnnmg_loader_start(loader, 0, 1)); /* epoch 0 once more, from its second step */
  while ((status = gnnmg_loader_next(loader, &batch, -1)) == GNNMG_OK) {
    ++again;
    gnnmg_batch_free(batch);
  }
  CHECK(status);
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
  close_context(context);
  return batches == 3 && again == 2 && edges > 0 && status == GNNMG_ERR_CANCELLED ? 0 : 1;
}
