/*
 * A training that changes its framework: it begins with PyTorch Geometric's layers and Adam,
 * continues with a trainer of DGL's layers on two ranks, and returns. Weights and the optimizer's
 * state go through files as torch.save() writes them, so that either end may be in Python.
 */
#include <math.h>
#include <stdio.h>

#include "common.h"

enum { STEPS = 5 };

typedef struct {
  gnnmg_context* context;
  gnnmg_dataset* data;
  gnnmg_sampler* sampler;
} world;

static gnnmg_model* make_model(const world* w, gnnmg_framework framework) {
  gnnmg_model_config layers;
  gnnmg_model* model;
  CHECK(gnnmg_model_config_init(&layers, sizeof layers));
  layers.framework = framework;
  layers.hidden_dim = 32;
  layers.dtype = GNNMG_DTYPE_F64;
  CHECK(gnnmg_model_create(w->context, w->data, &layers, &model));
  return model;
}

/* A trainer that uses all nodes in each step, so that the sampling does not matter. */
static gnnmg_trainer* make_trainer(const world* w, gnnmg_model* model, int32_t ranks) {
  gnnmg_trainer_config training;
  gnnmg_trainer* trainer;
  CHECK(gnnmg_trainer_config_init(&training, sizeof training));
  training.num_ranks = ranks;
  training.batch_size = 2000 / ranks;
  training.num_epochs = 100;
  CHECK(gnnmg_trainer_create(model, w->data, w->sampler, NULL, &training, &trainer));
  return trainer;
}

static void train(gnnmg_trainer* trainer, const char* name) {
  double loss = 0;
  for (int i = 0; i < STEPS; ++i) CHECK(gnnmg_trainer_step(trainer, &loss, -1));
  printf("%s: loss %.4f\n", name, loss);
}

static double largest_difference(const gnnmg_model* a, const gnnmg_model* b) {
  struct DLManagedTensorVersioned *of_a, *of_b;
  CHECK(gnnmg_model_export_parameters(a, &of_a));
  CHECK(gnnmg_model_export_parameters(b, &of_b));
  int64_t count;
  const double *left = data_of(of_a, &count), *right = data_of(of_b, NULL);
  double largest = 0;
  for (int64_t i = 0; i < count; ++i) largest = fmax(largest, fabs(left[i] - right[i]));
  gnnmg_tensor_free(of_a);
  gnnmg_tensor_free(of_b);
  return largest;
}

int main(void) {
  world w;
  gnnmg_graph* graph;
  w.context = open_context();
  w.data = planted_data(w.context, 2000, &graph);
  gnnmg_sampler_config neighbours;
  CHECK(gnnmg_sampler_config_init(&neighbours, sizeof neighbours));
  neighbours.fanouts[0] = neighbours.fanouts[1] = -1; /* all of them */
  CHECK(gnnmg_sampler_create(graph, &neighbours, &w.sampler));

  gnnmg_model* model = make_model(&w, GNNMG_FRAMEWORK_PYG);
  gnnmg_trainer* trainer = make_trainer(&w, model, 1);
  train(trainer, "begun");
  CHECK(gnnmg_model_save(model, "model.pth", NULL, -1));
  CHECK(gnnmg_trainer_save_optimizer(trainer, "optimizer.pth", NULL, -1));

  /*! [move in] */
  gnnmg_model* moved = make_model(&w, GNNMG_FRAMEWORK_DGL);
  gnnmg_trainer* other = make_trainer(&w, moved, 2);
  gnnmg_model_file_config file;
  CHECK(gnnmg_model_file_config_init(&file, sizeof file));
  file.other_framework = 1; /* the files have PyG's layers */
  CHECK(gnnmg_model_load(moved, "model.pth", &file, -1));
  CHECK(gnnmg_trainer_load_optimizer(other, "optimizer.pth", &file, -1));
  /*! [move in] */
  train(trainer, "stayed");
  train(other, "moved");

  /*! [take back] */
  CHECK(gnnmg_model_save(moved, "model.pth", &file, -1));
  CHECK(gnnmg_trainer_save_optimizer(other, "optimizer.pth", &file, -1));
  /*! [take back] */
  gnnmg_model* back = make_model(&w, GNNMG_FRAMEWORK_PYG);
  gnnmg_trainer* third = make_trainer(&w, back, 1);
  CHECK(gnnmg_model_load(back, "model.pth", NULL, -1));
  CHECK(gnnmg_trainer_load_optimizer(third, "optimizer.pth", NULL, -1));
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
  close_context(w.context);
  return same ? 0 : 1;
}
