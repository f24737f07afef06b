/*
 * A custom loss: cross-entropy with smoothed labels, whose gradient with respect to the logits is
 * passed to the model. The optimizer is the library's, with a decreasing learning rate.
 */
#include <gnnmg.h>
#include <gnnmg_util.h>
#include <math.h>
#include <stdio.h>

enum { CLASSES = 10, EPOCHS = 6, BATCH = 256 };

/* Cross-entropy of `row` against 0.9 for the class and the rest for all; writes the gradient. */
static double smoothed(const float* row, int64_t class, double weight, float* gradient) {
  double shares[CLASSES], loss = 0;

  gnnmg_softmax_f32(row, CLASSES, shares);
  for (int c = 0; c < CLASSES; ++c) {
    const double wanted = 0.1 / CLASSES + (c == class ? 0.9 : 0);
    loss -= wanted * log(shares[c]);
    gradient[c] = (float)(weight * (shares[c] - wanted));
  }
  return loss;
}

/* Forward, loss, backward; returns the mini-batch's mean loss. */
static double backward(gnnmg_model* model, const gnnmg_batch* batch) {
  static float gradient[BATCH * CLASSES];
  double loss = 0;
  /*! [own loss] */
  gnnmg_tensor *logits, *labels, *by_logits;
  GNNMG_CHECK(gnnmg_model_forward(model, batch, &logits)); /* [seeds, classes] */
  GNNMG_CHECK(gnnmg_batch_export_labels(batch, &labels));
  int64_t seeds;
  const int64_t* classes = gnnmg_tensor_data_i64(labels, &seeds);
  const float* rows = gnnmg_tensor_data_f32(logits, NULL);
  for (int64_t i = 0; i < seeds; ++i)
    loss += smoothed(rows + i * CLASSES, classes[i], 1.0 / (double)seeds, gradient + i * CLASSES);
  const int64_t shape[] = {seeds, CLASSES};
  GNNMG_CHECK(gnnmg_tensor_create(gradient, GNNMG_DTYPE_F32, 2, shape, NULL, NULL, &by_logits));
  GNNMG_CHECK(gnnmg_model_backward_from(model, by_logits));
  /*! [own loss] */
  gnnmg_tensor_free(by_logits);
  gnnmg_tensor_free(labels);
  gnnmg_tensor_free(logits);
  return loss / (double)seeds;
}

static double gradient_norm(const gnnmg_model* model, const char* key) {
  double squares = 0;
  /*! [gradient] */
  gnnmg_tensor* gradient;
  GNNMG_CHECK(gnnmg_model_export_gradient(model, key, &gradient));
  int64_t count;
  const float* entries = gnnmg_tensor_data_f32(gradient, &count);
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
  GNNMG_CHECK(gnnmg_context_create(GNNMG_VERSION, NULL, &context));
  gnnmg_check_context(context);
  gnnmg_dataset* data;
  GNNMG_CHECK(gnnmg_dataset_generate(context, "planted", "num_nodes=4000", &data));
  GNNMG_CHECK(gnnmg_dataset_get_graph(data, 0, &graph));
  GNNMG_CHECK(gnnmg_sampler_create(graph, NULL, NULL, &sampler));
  GNNMG_CHECK(gnnmg_model_create(context, data, NULL, "hidden_dim=64", &model));
  const gnnmg_loader_config plan = {.struct_size = sizeof plan, .batch_size = BATCH};
  GNNMG_CHECK(gnnmg_loader_create(data, sampler, &plan, NULL, &loader));
  /*! [optimizer] */
  gnnmg_optimizer* optimizer;
  GNNMG_CHECK(gnnmg_optimizer_create(model, "optimizer=adamw learning_rate=0.01 weight_decay=1e-4",
                                     &optimizer));
  /*! [optimizer] */

  double first = 0, last = 0, rate;
  for (int epoch = 0; epoch < EPOCHS; ++epoch) {
    double loss = 0, norm = 0, steps = 0;
    gnnmg_batch* batch;
    while (gnnmg_loader_next(loader, &batch, -1) == GNNMG_OK) {
      loss += backward(model, batch);
      gnnmg_batch_free(batch);
      norm = gradient_norm(model, "convs.0.lin_l.weight");
      GNNMG_CHECK(gnnmg_optimizer_step(optimizer)); /* the gradients are 0 again */
      steps += 1;
    }
    /*! [rate] */
    GNNMG_CHECK(gnnmg_optimizer_learning_rate(optimizer, &rate));
    GNNMG_CHECK(gnnmg_optimizer_set_learning_rate(optimizer, 0.7 * rate));
    /*! [rate] */
    last = loss / steps;
    if (epoch == 0) first = last;
    printf("epoch %d  rate %.4f  loss %.4f  |gradient| %.4f\n", epoch + 1, rate, last, norm);
  }
  /*! [state] */
  /* A dict of PyTorch's AdamW. */
  GNNMG_CHECK(gnnmg_optimizer_save(optimizer, "optimizer.pth", NULL, -1));
  GNNMG_CHECK(gnnmg_optimizer_load(optimizer, "optimizer.pth", NULL, -1));
  /*! [state] */
  gnnmg_metrics metrics = {.struct_size = sizeof metrics};
  GNNMG_CHECK(gnnmg_model_evaluate(model, data, GNNMG_PART_TEST, 0, &metrics, NULL, -1));
  printf("test accuracy %.4f\n", metrics.accuracy);
  gnnmg_optimizer_free(optimizer);
  gnnmg_loader_free(loader);
  gnnmg_model_free(model);
  gnnmg_sampler_free(sampler);
  gnnmg_dataset_free(data);
  gnnmg_graph_free(graph);
  gnnmg_log_print(context, GNNMG_LOG_WARNING, stderr);
  gnnmg_context_free(context);
  return last < first && metrics.accuracy > 0.5 ? 0 : 1;
}
