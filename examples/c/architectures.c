/*
 * The kinds of models side by side on one data set: GraphSAGE, GCN, GAT, GATv2 and GIN, with the
 * same sampler, split and seed. Prints parameters, accuracy and the seconds of an epoch.
 */
#include <gnnmg.h>
#include <gnnmg_util.h>
#include <stdio.h>

typedef struct {
  const char* name;
  gnnmg_architecture architecture;
  int32_t heads; /* models with attention only */
} kind;

static int32_t add_seconds(const gnnmg_epoch_info* epoch, void* user_data) {
  *(double*)user_data += epoch->times.total / (double)epoch->num_epochs;
  return 0;
}

int main(void) {
  const kind kinds[] = {{"GraphSAGE", GNNMG_ARCHITECTURE_SAGE, 1},
                        {"GCN", GNNMG_ARCHITECTURE_GCN, 1},
                        {"GAT", GNNMG_ARCHITECTURE_GAT, 4},
                        {"GATv2", GNNMG_ARCHITECTURE_GATV2, 4},
                        {"GIN", GNNMG_ARCHITECTURE_GIN, 1}};
  enum { KINDS = sizeof kinds / sizeof kinds[0] };
  gnnmg_context* context;
  GNNMG_CHECK(gnnmg_context_create(GNNMG_VERSION, NULL, &context));
  gnnmg_check_context(context);
  gnnmg_dataset* data;
  GNNMG_CHECK(gnnmg_dataset_generate(context, "planted", "num_nodes=4000", &data));

  int learned = 0;
  for (int k = 0; k < KINDS; ++k) {
    /*! [architecture] */
    const gnnmg_model_config layers = {.struct_size = sizeof layers,
                                       .architecture = kinds[k].architecture,
                                       .hidden_dim = 32,
                                       .heads = kinds[k].heads}; /* divides hidden_dim */
    gnnmg_model* model;
    GNNMG_CHECK(gnnmg_model_create(context, data, &layers, NULL, &model));
    /*! [architecture] */
    gnnmg_model_info info = {.struct_size = sizeof info};
    GNNMG_CHECK(gnnmg_model_get_info(model, &info));

    gnnmg_trainer* trainer;
    GNNMG_CHECK(gnnmg_trainer_create(model, data, NULL, NULL, NULL, "num_epochs=5 batch_size=256",
                                     &trainer));
    double seconds = 0;
    GNNMG_CHECK(gnnmg_trainer_run(trainer, add_seconds, &seconds, NULL));
    gnnmg_metrics metrics = {.struct_size = sizeof metrics};
    GNNMG_CHECK(gnnmg_trainer_evaluate(trainer, GNNMG_PART_TEST, &metrics, NULL, -1));
    printf("%-9s %6lld parameters, test accuracy %.4f, %.2f s an epoch\n", kinds[k].name,
           (long long)info.num_parameters, metrics.accuracy, seconds);
    learned += metrics.accuracy > 0.3; /* one in ten would be by chance */
    gnnmg_trainer_free(trainer);
    gnnmg_model_free(model);
  }

  gnnmg_dataset_free(data);
  gnnmg_log_print(context, GNNMG_LOG_WARNING, stderr);
  gnnmg_context_free(context);
  return learned == KINDS ? 0 : 1;
}
