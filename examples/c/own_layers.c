/*
 * A custom model, layer by layer under the names of its modules in Python: a linear encoder, two
 * convolutions of different kinds with a norm between, a linear head. It is trained, saved as a
 * state dict, and loaded into an equal stack. A second one ends in a readout.
 */
#include <stdio.h>

#include "common.h"

static gnnmg_model* make_stack(const gnnmg_context* context, const gnnmg_dataset* data,
                               uint64_t seed) {
  /*! [layers] */
  gnnmg_model_config whole, conv;
  CHECK(gnnmg_model_config_init(&whole, sizeof whole));
  whole.architecture = GNNMG_MODEL_LAYERS; /* input_dim is the data set's */
  whole.seed = seed;
  gnnmg_model* model;
  CHECK(gnnmg_model_create(context, data, &whole, &model));

  CHECK(gnnmg_model_add_linear(model, "encoder", 48, 1));
  CHECK(gnnmg_model_add_activation(model, NULL, GNNMG_ACTIVATION_RELU));
  CHECK(gnnmg_model_config_init(&conv, sizeof conv));
  conv.architecture = GNNMG_MODEL_GATV2;
  conv.output_dim = 32; /* four heads of eight columns, concatenated */
  conv.heads = 4;
  CHECK(gnnmg_model_add_conv(model, "conv1", &conv));
  gnnmg_norm_config norm;
  CHECK(gnnmg_norm_config_init(&norm, sizeof norm));
  norm.epsilon = 1e-3;
  CHECK(gnnmg_model_add_norm(model, "bn1", GNNMG_NORM_BATCH, &norm)); /* NULL: as it begins */
  CHECK(gnnmg_model_add_activation(model, "act1", GNNMG_ACTIVATION_PRELU));
  CHECK(gnnmg_model_add_dropout(model, 0.2));
  CHECK(gnnmg_model_config_init(&conv, sizeof conv));
  conv.architecture = GNNMG_MODEL_SAGE;
  conv.output_dim = 32;
  CHECK(gnnmg_model_add_conv(model, "conv2", &conv));
  CHECK(gnnmg_model_add_activation(model, NULL, GNNMG_ACTIVATION_ELU));
  CHECK(gnnmg_model_add_linear(model, "head", 10, 1));
  /*! [layers] */
  return model;
}

static double test_accuracy(gnnmg_model* model, const gnnmg_dataset* data) {
  gnnmg_metrics metrics = {.struct_size = sizeof metrics};
  CHECK(gnnmg_model_evaluate(model, data, GNNMG_SPLIT_TEST, &metrics, -1));
  return metrics.accuracy;
}

/* A head for graphs, of which only the shape is looked at here. */
static gnnmg_model* make_graph_stack(const gnnmg_context* context) {
  gnnmg_model_config whole, conv;
  gnnmg_model* model;
  CHECK(gnnmg_model_config_init(&whole, sizeof whole));
  whole.architecture = GNNMG_MODEL_LAYERS;
  whole.input_dim = 7;
  CHECK(gnnmg_model_create(context, NULL, &whole, &model));
  CHECK(gnnmg_model_config_init(&conv, sizeof conv));
  conv.architecture = GNNMG_MODEL_GIN;
  conv.output_dim = 16;
  CHECK(gnnmg_model_add_conv(model, "conv", &conv));
  /*! [readout] */
  CHECK(gnnmg_model_add_readout(model, "pool", GNNMG_READOUT_SET2SET, 3)); /* 32 columns */
  CHECK(gnnmg_model_add_linear(model, "head", 2, 1));
  /*! [readout] */
  return model;
}

int main(void) {
  gnnmg_context* context;
  gnnmg_graph* graph;
  gnnmg_sampler* sampler;
  context = open_context();
  gnnmg_dataset* data = planted_data(context, 2000, &graph);
  CHECK(gnnmg_sampler_create(graph, NULL, &sampler)); /* two hops, as the stack has convolutions */

  gnnmg_model* model = make_stack(context, data, 1);
  gnnmg_trainer_config training;
  CHECK(gnnmg_trainer_config_init(&training, sizeof training));
  training.num_epochs = 8;
  training.batch_size = 256;
  gnnmg_trainer* trainer;
  CHECK(gnnmg_trainer_create(model, data, sampler, NULL, &training, &trainer));
  CHECK(gnnmg_trainer_run(trainer, NULL, NULL, NULL));
  CHECK(gnnmg_model_save(model, "stack.pth", NULL, -1));
  const char* key;
  int32_t learned;
  for (int64_t i = 0; gnnmg_model_tensor_key(model, i, &key, &learned) == GNNMG_OK; ++i)
    printf("%s%s", i ? ", " : "keys: ", key);
  printf("\n");

  gnnmg_model* other = make_stack(context, data, 2);
  CHECK(gnnmg_model_load(other, "stack.pth", NULL, -1));
  printf("test accuracy %.4f, of the one that was read %.4f\n", test_accuracy(model, data),
         test_accuracy(other, data));

  gnnmg_model* graphs = make_graph_stack(context);
  gnnmg_model_info info = {.struct_size = sizeof info};
  CHECK(gnnmg_model_get_info(graphs, &info));
  printf("of graphs: %d convolution, %lld results\n", info.num_layers, (long long)info.output_dim);
  /* A layer that does not match is named, and nothing is added. */
  gnnmg_model_config late;
  CHECK(gnnmg_model_config_init(&late, sizeof late));
  late.output_dim = 8;
  if (gnnmg_model_add_conv(graphs, "late", &late) != GNNMG_OK) printf("%s\n", gnnmg_last_error());

  gnnmg_model_free(graphs);
  gnnmg_model_free(other);
  gnnmg_trainer_free(trainer);
  gnnmg_model_free(model);
  gnnmg_sampler_free(sampler);
  gnnmg_dataset_free(data);
  gnnmg_graph_free(graph);
  close_context(context);
  return 0;
}
