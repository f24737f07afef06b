/*
 * A custom loss: cross-entropy with smoothed labels, whose gradient with respect to the logits is
 * passed to the model. The optimizer is the library's, with a decreasing learning rate.
 */
#include <math.h>
#include <stdio.h>

#include "common.h"

enum { CLASSES = 10, EPOCHS = 6, BATCH = 256 };

/* Cross-entropy of `row` against 0.9 for the class and the rest for all; writes the gradient. */
static double smoothed(const float* row, int64_t class, double weight, float* gradient) {
  double largest = row[0], sum = 0, loss = 0;
  for (int c = 1; c < CLASSES; ++c) largest = fmax(largest, row[c]);
  for (int c = 0; c < CLASSES; ++c) sum += exp(row[c] - largest);
  for (int c = 0; c < CLASSES; ++c) {
    const double wanted = 0.1 / CLASSES + (c == class ? 0.9 : 0);
    const double log_share = row[c] - largest - log(sum);
    loss -= wanted * log_share;
    gradient[c] = (float)(weight * (exp(log_share) - wanted));
  }
  return loss;
}

/* Forward, loss, backward; returns the mini-batch's mean loss. */
static double backward(gnnmg_model* model, const gnnmg_batch* batch) {
  static float gradient[BATCH * CLASSES];
  double loss = 0;
  /*! [own loss] */
  struct DLManagedTensorVersioned *logits, *labels, *by_logits;
  CHECK(gnnmg_model_forward(model, batch, 1, &logits)); /* [seeds, classes] */
  CHECK(gnnmg_batch_export_labels(batch, &labels));
  int64_t seeds;
  const int64_t* classes = data_of(labels, &seeds);
  const float* rows = data_of(logits, NULL);
  for (int64_t i = 0; i < seeds; ++i)
    loss += smoothed(rows + i * CLASSES, classes[i], 1.0 / (double)seeds, gradient + i * CLASSES);
  const int64_t shape[] = {seeds, CLASSES};
  CHECK(gnnmg_tensor_create(gradient, GNNMG_DTYPE_F32, 2, shape, NULL, NULL, &by_logits));
  CHECK(gnnmg_model_backward_from(model, by_logits));
  /*! [own loss] */
  gnnmg_tensor_free(by_logits);
  gnnmg_tensor_free(labels);
  gnnmg_tensor_free(logits);
  return loss / (double)seeds;
}

static double gradient_norm(const gnnmg_model* model, const char* key) {
  double squares = 0;
  /*! [gradient] */
  struct DLManagedTensorVersioned* gradient;
  CHECK(gnnmg_model_export_gradient(model, key, &gradient));
  int64_t count;
  const float* entries = data_of(gradient, &count);
  for (int64_t i = 0; i < count; ++i) squares += entries[i] * entries[i];
  gnnmg_tensor_free(gradient);
  /*! [gradient] */
  return sqrt(squares);
}

int main(void) {
  gnnmg_context* context;
  gnnmg_graph* graph;
  gnnmg_sampler* sampler;
  gnnmg_loader* loader;
  gnnmg_model* model;
  context = open_context();
  gnnmg_dataset* data = planted_data(context, 4000, &graph);
  CHECK(gnnmg_sampler_create(graph, NULL, &sampler));
  gnnmg_model_config layers;
  CHECK(gnnmg_model_config_init(&layers, sizeof layers));
  layers.hidden_dim = 64;
  CHECK(gnnmg_model_create(context, data, &layers, &model));
  gnnmg_loader_config plan;
  CHECK(gnnmg_loader_config_init(&plan, sizeof plan));
  plan.batch_size = BATCH;
  CHECK(gnnmg_loader_create(data, sampler, &plan, &loader));
  /*! [optimizer] */
  gnnmg_optimizer_config rule;
  CHECK(gnnmg_optimizer_config_init(&rule, sizeof rule));
  rule.kind = GNNMG_OPTIMIZER_ADAMW;
  rule.learning_rate = 0.01;
  rule.weight_decay = 1e-4;
  gnnmg_optimizer* optimizer;
  CHECK(gnnmg_optimizer_create(model, &rule, &optimizer));
  /*! [optimizer] */

  double first = 0, last = 0, rate;
  for (int epoch = 0; epoch < EPOCHS; ++epoch) {
    double loss = 0, norm = 0, steps = 0;
    gnnmg_batch* batch;
    while (gnnmg_loader_next(loader, &batch, -1) == GNNMG_OK) {
      loss += backward(model, batch);
      gnnmg_batch_free(batch);
      norm = gradient_norm(model, "convs.0.lin_l.weight");
      CHECK(gnnmg_optimizer_step(optimizer)); /* the gradients are 0 again */
      steps += 1;
    }
    /*! [rate] */
    CHECK(gnnmg_optimizer_learning_rate(optimizer, &rate));
    CHECK(gnnmg_optimizer_set_learning_rate(optimizer, 0.7 * rate));
    /*! [rate] */
    last = loss / steps;
    if (epoch == 0) first = last;
    printf("epoch %d  rate %.4f  loss %.4f  |gradient| %.4f\n", epoch + 1, rate, last, norm);
  }
  /*! [state] */
  CHECK(gnnmg_optimizer_save(optimizer, "optimizer.pth", NULL, -1)); /* a dict of PyTorch's AdamW */
  CHECK(gnnmg_optimizer_load(optimizer, "optimizer.pth", NULL, -1));
  /*! [state] */
  gnnmg_metrics metrics = {.struct_size = sizeof metrics};
  CHECK(gnnmg_model_evaluate(model, data, GNNMG_SPLIT_TEST, &metrics, -1));
  printf("test accuracy %.4f\n", metrics.accuracy);
  gnnmg_optimizer_free(optimizer);
  gnnmg_loader_free(loader);
  gnnmg_model_free(model);
  gnnmg_sampler_free(sampler);
  gnnmg_dataset_free(data);
  gnnmg_graph_free(graph);
  close_context(context);
  return last < first && metrics.accuracy > 0.5 ? 0 : 1;
}
