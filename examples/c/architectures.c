/*
 * The kinds of models side by side on one data set: GraphSAGE, GCN, GAT, GATv2 and GIN, with the
 * same sampler, split and seed. Prints parameters, accuracy and the seconds of an epoch.
 */
#include <stdio.h>

#include "common.h"

typedef struct {
  const char* name;
  gnnmg_architecture architecture;
  int32_t heads; /* models with attention only */
} kind;

static int32_t add_seconds(const gnnmg_epoch_info* epoch, void* user_data) {
  *(double*)user_data += epoch->seconds / (double)epoch->num_epochs;
  return 0;
}

int main(void) {
  const kind kinds[] = {{"GraphSAGE", GNNMG_MODEL_SAGE, 1},
                        {"GCN", GNNMG_MODEL_GCN, 1},
                        {"GAT", GNNMG_MODEL_GAT, 4},
                        {"GATv2", GNNMG_MODEL_GATV2, 4},
                        {"GIN", GNNMG_MODEL_GIN, 1}};
  enum { KINDS = sizeof kinds / sizeof kinds[0] };
  gnnmg_context* context;
  gnnmg_graph* graph;
  gnnmg_sampler* sampler;
  context = open_context();
  gnnmg_dataset* data = planted_data(context, 4000, &graph);
  CHECK(gnnmg_sampler_create(graph, NULL, &sampler));

  int learned = 0;
  for (int k = 0; k < KINDS; ++k) {
    /*! [architecture] */
    gnnmg_model_config layers;
    CHECK(gnnmg_model_config_init(&layers, sizeof layers));
    layers.architecture = kinds[k].architecture;
    layers.hidden_dim = 32;
    layers.heads = kinds[k].heads; /* divides hidden_dim */
    gnnmg_model* model;
    CHECK(gnnmg_model_create(context, data, &layers, &model));
    /*! [architecture] */
    gnnmg_model_info info = {.struct_size = sizeof info};
    CHECK(gnnmg_model_get_info(model, &info));

    gnnmg_trainer_config training;
    CHECK(gnnmg_trainer_config_init(&training, sizeof training));
    training.num_epochs = 5;
    training.batch_size = 256;
    gnnmg_trainer* trainer;
    CHECK(gnnmg_trainer_create(model, data, sampler, NULL, &training, &trainer));
    double seconds = 0;
    CHECK(gnnmg_trainer_run(trainer, add_seconds, &seconds, NULL));
    gnnmg_metrics metrics = {.struct_size = sizeof metrics};
    CHECK(gnnmg_trainer_evaluate(trainer, GNNMG_SPLIT_TEST, &metrics, -1));
    printf("%-9s %6lld parameters, test accuracy %.4f, %.2f s an epoch\n", kinds[k].name,
           (long long)info.num_parameters, metrics.accuracy, seconds);
    learned += metrics.accuracy > 0.3; /* one in ten would be by chance */
    gnnmg_trainer_free(trainer);
    gnnmg_model_free(model);
  }

  gnnmg_sampler_free(sampler);
  gnnmg_dataset_free(data);
  gnnmg_graph_free(graph);
  close_context(context);
  return learned == KINDS ? 0 : 1;
}
