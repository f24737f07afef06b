/*
 * A custom model, layer by layer under the names of its modules in Python: a linear encoder, two
 * convolutions of different kinds with a norm between, a linear head. It is trained, saved as a
 * state dict, and loaded into an equal stack. A second one ends in a readout.
 */
#include <gnnmg.h>
#include <gnnmg_util.h>
#include <stdio.h>

static gnnmg_model* make_stack(const gnnmg_context* context, const gnnmg_dataset* data,
                               uint64_t seed) {
  /*! [layers] */
  const gnnmg_model_config whole = {
      .struct_size = sizeof whole, .architecture = GNNMG_ARCHITECTURE_LAYERS, .seed = seed};
  gnnmg_model* model; /* input_dim is the data set's */
  GNNMG_CHECK(gnnmg_model_create(context, data, &whole, NULL, &model));

  GNNMG_CHECK(gnnmg_model_add_linear(model, "encoder", 48, 1));
  GNNMG_CHECK(gnnmg_model_add_activation(model, NULL, GNNMG_ACTIVATION_RELU));
  /* Four heads of eight columns, concatenated. */
  GNNMG_CHECK(
      gnnmg_model_add_conv(model, "conv1", NULL, "architecture=gatv2 output_dim=32 heads=4"));
  GNNMG_CHECK(gnnmg_model_add_norm(model, "bn1", GNNMG_NORM_BATCH, "epsilon=1e-3"));
  GNNMG_CHECK(gnnmg_model_add_activation(model, "act1", GNNMG_ACTIVATION_PRELU));
  GNNMG_CHECK(gnnmg_model_add_dropout(model, 0.2));
  GNNMG_CHECK(gnnmg_model_add_conv(model, "conv2", NULL, "architecture=sage output_dim=32"));
  GNNMG_CHECK(gnnmg_model_add_activation(model, NULL, GNNMG_ACTIVATION_ELU));
  GNNMG_CHECK(gnnmg_model_add_linear(model, "head", 10, 1));
  /*! [layers] */
  return model;
}

static double test_accuracy(gnnmg_model* model, const gnnmg_dataset* data) {
  gnnmg_metrics metrics = {.struct_size = sizeof metrics};
  GNNMG_CHECK(gnnmg_model_evaluate(model, data, GNNMG_PART_TEST, 0, &metrics, NULL, -1));
  return metrics.accuracy;
}

/* A head for graphs, of which only the shape is looked at here. */
static gnnmg_model* make_graph_stack(const gnnmg_context* context) {
  gnnmg_model* model;
  GNNMG_CHECK(gnnmg_model_create(context, NULL, NULL, "architecture=layers input_dim=7", &model));
  GNNMG_CHECK(gnnmg_model_add_conv(model, "conv", NULL, "architecture=gin output_dim=16"));
  /*! [readout] */
  GNNMG_CHECK(gnnmg_model_add_readout(model, "pool", GNNMG_READOUT_SET2SET, 3)); /* 32 columns */
  GNNMG_CHECK(gnnmg_model_add_linear(model, "head", 2, 1));
  /*! [readout] */
  return model;
}

int main(void) {
  gnnmg_context* context;
  GNNMG_CHECK(gnnmg_context_create(GNNMG_VERSION, NULL, &context));
  gnnmg_check_context(context);
  gnnmg_dataset* data;
  GNNMG_CHECK(gnnmg_dataset_generate(context, "planted", "num_nodes=2000", &data));

  gnnmg_model* model = make_stack(context, data, 1);
  gnnmg_trainer* trainer; /* NULL for the sampler: a hop for each of the two convolutions */
  GNNMG_CHECK(
      gnnmg_trainer_create(model, data, NULL, NULL, NULL, "num_epochs=8 batch_size=256", &trainer));
  GNNMG_CHECK(gnnmg_trainer_run(trainer, NULL, NULL, NULL));
  GNNMG_CHECK(gnnmg_model_save(model, "stack.pth", NULL, -1));
  const char* key;
  int32_t learned;
  for (int64_t i = 0; gnnmg_model_tensor_key(model, i, &key, &learned) == GNNMG_OK; ++i)
    printf("%s%s", i ? ", " : "keys: ", key);
  printf("\n");

  gnnmg_model* other = make_stack(context, data, 2);
  GNNMG_CHECK(gnnmg_model_load(other, "stack.pth", NULL, -1));
  printf("test accuracy %.4f, of the one that was read %.4f\n", test_accuracy(model, data),
         test_accuracy(other, data));

  gnnmg_model* graphs = make_graph_stack(context);
  gnnmg_model_info info = {.struct_size = sizeof info};
  GNNMG_CHECK(gnnmg_model_get_info(graphs, &info));
  printf("of graphs: %d convolution, %lld results\n", info.num_layers, (long long)info.output_dim);
  /* A layer that does not match is named, and nothing is added. */
  if (gnnmg_model_add_conv(graphs, "late", NULL, "output_dim=8") != GNNMG_OK)
    printf("%s\n", gnnmg_last_error());

  gnnmg_model_free(graphs);
  gnnmg_model_free(other);
  gnnmg_trainer_free(trainer);
  gnnmg_model_free(model);
  gnnmg_dataset_free(data);
  gnnmg_log_print(context, GNNMG_LOG_WARNING, stderr);
  gnnmg_context_free(context);
  return 0;
}
