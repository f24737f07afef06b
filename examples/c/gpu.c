/*
 * GPUs: lists them, trains on all of them, and runs a pass on the first. Without a GPU it prints
 * the reason and does the same on the CPU.
 */
#include <gnnmg.h>
#include <gnnmg_util.h>
#include <stdio.h>
#include <stdlib.h>

static int32_t on_epoch(const gnnmg_epoch_info* epoch, void* user_data) {
  (void)user_data;
  printf("epoch %lld  validation accuracy %.4f\n", (long long)epoch->epoch + 1,
         epoch->validation->accuracy);
  return 0;
}

/* Prints the GPUs of this process, or why there are none. */
static int64_t list_devices(const gnnmg_context* context) {
  /*! [devices] */
  int64_t count;
  const char* why;
  GNNMG_CHECK(gnnmg_context_num_devices(context, &count, &why));
  if (count == 0) printf("no GPU: %s\n", why);
  for (int64_t i = 0; i < count; ++i) {
    gnnmg_device_info gpu = {.struct_size = sizeof gpu};
    GNNMG_CHECK(gnnmg_context_get_device_info(context, i, &gpu));
    printf("GPU %lld: %s (%s), %.1f of %.1f GiB free, %d multiprocessors, capability %d.%d\n",
           (long long)i, gpu.name, gpu.bus_id, (double)gpu.free_memory / (1 << 30),
           (double)gpu.total_memory / (1 << 30), (int)gpu.multiprocessors,
           (int)gpu.capability_major, (int)gpu.capability_minor);
  }
  /*! [devices] */
  return count;
}

/* Computes the model's result for the first mini-batch on `device` and prints it. */
static void print_results(const gnnmg_context* context, const gnnmg_dataset* data,
                          const gnnmg_sampler* sampler, gnnmg_model* model,
                          gnnmg_device_type device) {
  const gnnmg_loader_config plan = {.struct_size = sizeof plan, .device = device};
  gnnmg_loader* loader;
  GNNMG_CHECK(gnnmg_loader_create(data, sampler, &plan, "shuffle=0", &loader));
  GNNMG_CHECK(gnnmg_model_set_device(model, device, 0, 0));
  gnnmg_batch* batch;
  GNNMG_CHECK(gnnmg_loader_next(loader, &batch, -1));
  /*! [copy] */
  gnnmg_tensor *there, *here; /* [seeds, classes], f32 */
  GNNMG_CHECK(gnnmg_model_infer(model, batch, &there));
  gnnmg_tensor_info facts = {.struct_size = sizeof facts};
  GNNMG_CHECK(gnnmg_tensor_get_info(there, &facts));
  float* rows = malloc((size_t)facts.num_elements * sizeof(float));
  GNNMG_CHECK(
      gnnmg_tensor_create(rows, facts.dtype, facts.num_dims, facts.shape, NULL, NULL, &here));
  GNNMG_CHECK(gnnmg_tensor_copy(context, there, here));
  /*! [copy] */
  for (int64_t i = 0; i < facts.shape[1]; ++i) printf("%s%.2f", i ? " " : "scores ", rows[i]);
  printf("\n");
  gnnmg_tensor_free(there);
  gnnmg_tensor_free(here);
  free(rows);
  gnnmg_batch_free(batch);
  gnnmg_loader_free(loader);
}

int main(void) {
  gnnmg_context* context;
  GNNMG_CHECK(gnnmg_context_create(GNNMG_VERSION, NULL, &context));
  gnnmg_check_context(context);
  const int64_t num_gpus = list_devices(context);

  gnnmg_graph* graph;
  gnnmg_dataset* data;
  GNNMG_CHECK(gnnmg_dataset_generate(context, "planted", "num_nodes=5000", &data));
  GNNMG_CHECK(gnnmg_dataset_get_graph(data, 0, &graph));
  gnnmg_sampler* sampler;
  GNNMG_CHECK(gnnmg_sampler_create(graph, NULL, NULL, &sampler));
  gnnmg_model* model;
  GNNMG_CHECK(gnnmg_model_create(context, data, NULL, "hidden_dim=32", &model));

  /*! [train] */
  const gnnmg_trainer_config config = {.struct_size = sizeof config, /* a rank per GPU, or one */
                                       .num_epochs = 5,
                                       .batch_size = 256,
                                       .batches_per_step = 8}; /* the same on up to 8 GPUs */
  gnnmg_trainer* trainer;
  GNNMG_CHECK(gnnmg_trainer_create(model, data, sampler, NULL, &config,
                                   "graph_placement=device "   /* a copy on each GPU */
                                   "feature_placement=cached " /* hot rows on it, others pinned */
                                   "cache_bytes=67108864",
                                   &trainer));
  GNNMG_CHECK(gnnmg_trainer_run(trainer, on_epoch, NULL, NULL));
  /*! [train] */

  gnnmg_metrics metrics = {.struct_size = sizeof metrics};
  GNNMG_CHECK(gnnmg_trainer_evaluate(trainer, GNNMG_PART_TEST, &metrics, NULL, -1));
  printf("test accuracy %.4f\n", metrics.accuracy);

  gnnmg_trainer_free(trainer); /* works on the model's device */
  print_results(context, data, sampler, model, num_gpus ? GNNMG_DEVICE_CUDA : GNNMG_DEVICE_CPU);
  gnnmg_model_free(model);
  gnnmg_sampler_free(sampler);
  gnnmg_graph_free(graph);
  gnnmg_dataset_free(data);
  gnnmg_log_print(context, GNNMG_LOG_WARNING, stderr);
  gnnmg_context_free(context);
  return 0;
}
