/*
 * A training that changes its framework: it begins with PyTorch Geometric's layers and Adam,
 * continues with a trainer of DGL's layers on two ranks, and returns. Weights and the optimizer's
 * state go through files as torch.save() writes them, so that either end may be in Python.
 */
#include <gnnmg.h>
#include <gnnmg_util.h>
#include <math.h>
#include <stdio.h>

enum { STEPS = 5 };

typedef struct {
  gnnmg_context* context;
  gnnmg_dataset* data;
  gnnmg_sampler* sampler;
} world;

static gnnmg_model* make_model(const world* w, gnnmg_framework framework) {
  gnnmg_model* model;
  const gnnmg_model_config layers = {.struct_size = sizeof layers,
                                     .framework = framework,
                                     .hidden_dim = 32,
                                     .dtype = GNNMG_DTYPE_F64};
  GNNMG_CHECK(gnnmg_model_create(w->context, w->data, &layers, NULL, &model));
  return model;
}

/* A trainer that uses all nodes in each step, so that the sampling does not matter. */
static gnnmg_trainer* make_trainer(const world* w, gnnmg_model* model, int32_t ranks) {
  gnnmg_trainer* trainer;
  const gnnmg_trainer_config training = {.struct_size = sizeof training,
                                         .num_ranks = ranks,
                                         .batch_size = 2000 / ranks,
                                         .num_epochs = 100};
  GNNMG_CHECK(gnnmg_trainer_create(model, w->data, w->sampler, NULL, &training, NULL, &trainer));
  return trainer;
}

/*! [optimizer] */
/* The state of the trainer's optimizer, as PyTorch's. */
static void save_state(const gnnmg_trainer* trainer, const char* settings) {
  gnnmg_optimizer* optimizer;
  GNNMG_CHECK(gnnmg_trainer_get_optimizer(trainer, &optimizer));
  GNNMG_CHECK(gnnmg_optimizer_save(optimizer, "optimizer.pth", settings, -1));
  gnnmg_optimizer_free(optimizer);
}
/*! [optimizer] */

static void load_state(const gnnmg_trainer* trainer, const char* settings) {
  gnnmg_optimizer* optimizer;
  GNNMG_CHECK(gnnmg_trainer_get_optimizer(trainer, &optimizer));
  GNNMG_CHECK(gnnmg_optimizer_load(optimizer, "optimizer.pth", settings, -1));
  gnnmg_optimizer_free(optimizer);
}

static void train(gnnmg_trainer* trainer, const char* name) {
  double loss = 0;
  for (int i = 0; i < STEPS; ++i) GNNMG_CHECK(gnnmg_trainer_step(trainer, &loss, -1));
  printf("%s: loss %.4f\n", name, loss);
}

static double largest_difference(const gnnmg_model* a, const gnnmg_model* b) {
  gnnmg_tensor *of_a, *of_b;
  GNNMG_CHECK(gnnmg_model_export_parameters(a, &of_a));
  GNNMG_CHECK(gnnmg_model_export_parameters(b, &of_b));
  int64_t count;
  const double* left = gnnmg_tensor_data_f64(of_a, &count);
  const double* right = gnnmg_tensor_data_f64(of_b, NULL);
  double largest = 0;
  for (int64_t i = 0; i < count; ++i) largest = fmax(largest, fabs(left[i] - right[i]));
  gnnmg_tensor_free(of_a);
  gnnmg_tensor_free(of_b);
  return largest;
}

int main(void) {
  world w;
  gnnmg_graph* graph;
  GNNMG_CHECK(gnnmg_context_create(GNNMG_VERSION, NULL, &w.context));
  gnnmg_check_context(w.context);
  GNNMG_CHECK(gnnmg_dataset_generate(w.context, "planted", "num_nodes=2000", &w.data));
  GNNMG_CHECK(gnnmg_dataset_get_graph(w.data, 0, &graph));
  GNNMG_CHECK(gnnmg_sampler_create(graph, NULL, "fanouts=-1,-1", &w.sampler)); /* all neighbors */

  gnnmg_model* model = make_model(&w, GNNMG_FRAMEWORK_PYG);
  gnnmg_trainer* trainer = make_trainer(&w, model, 1);
  train(trainer, "begun");
  GNNMG_CHECK(gnnmg_model_save(model, "model.pth", NULL, -1));
  save_state(trainer, NULL);

  /*! [move in] */
  gnnmg_model* moved = make_model(&w, GNNMG_FRAMEWORK_DGL);
  gnnmg_trainer* other = make_trainer(&w, moved, 2);
  /* The files have PyG's layers. */
  GNNMG_CHECK(gnnmg_model_load(moved, "model.pth", "other_framework=1", -1));
  load_state(other, "other_framework=1");
  /*! [move in] */
  train(trainer, "stayed");
  train(other, "moved");

  /*! [take back] */
  GNNMG_CHECK(gnnmg_model_save(moved, "model.pth", "other_framework=1", -1));
  save_state(other, "other_framework=1");
  /*! [take back] */
  gnnmg_model* back = make_model(&w, GNNMG_FRAMEWORK_PYG);
  gnnmg_trainer* third = make_trainer(&w, back, 1);
  GNNMG_CHECK(gnnmg_model_load(back, "model.pth", NULL, -1));
  load_state(third, NULL);
  train(trainer, "stayed");
  train(third, "back");
  const int same = largest_difference(model, back) < 1e-9;
  printf("%s\n", same ? "the same weights" : "other weights");

  gnnmg_trainer_free(trainer);
  gnnmg_trainer_free(other);
  gnnmg_trainer_free(third);
  gnnmg_model_free(model);
  gnnmg_model_free(moved);
  gnnmg_model_free(back);
  gnnmg_sampler_free(w.sampler);
  gnnmg_dataset_free(w.data);
  gnnmg_graph_free(graph);
  gnnmg_log_print(w.context, GNNMG_LOG_WARNING, stderr);
  gnnmg_context_free(w.context);
  return same ? 0 : 1;
}
