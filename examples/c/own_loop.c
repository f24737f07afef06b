/*
 * A custom training loop over two ranks, with one thread each and, if there are two, one GPU each:
 * batches, forward, backward, one all-reduce, one update. It gives the same numbers as
 * gnnmg_trainer_run().
 */
#include <gnnmg.h>
#include <gnnmg_util.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { RANKS = 2, EPOCHS = 5 };

typedef struct {
  const gnnmg_dataset* data;
  const gnnmg_sampler* sampler;
  gnnmg_model* model; /* this rank's replica */
  gnnmg_comm* comm;   /* this rank's end */
  int32_t rank;
  int on_gpu;
} rank_work;

static void* train(void* argument) {
  const rank_work* work = argument;

  /*! [loader] */
  gnnmg_loader_config plan = {
      .struct_size = sizeof plan, .batch_size = 256, .rank = work->rank, .world_size = RANKS};
  if (work->on_gpu) { /* same as the model */
    plan.device = GNNMG_DEVICE_CUDA;
    plan.device_index = work->rank;
  }
  gnnmg_loader* loader;
  GNNMG_CHECK(gnnmg_loader_create(work->data, work->sampler, &plan, NULL, &loader));
  /*! [loader] */
  gnnmg_optimizer* optimizer;
  GNNMG_CHECK(gnnmg_optimizer_create(work->model, NULL, &optimizer));
  /*! [gradients] */
  gnnmg_tensor* gradients; /* all of them, one array */
  GNNMG_CHECK(gnnmg_model_export_gradients(work->model, &gradients));
  /*! [gradients] */

  for (int epoch = 0; epoch < EPOCHS; ++epoch) {
    double epoch_loss = 0;
    int64_t steps = 0;
    /*! [loop] */
    gnnmg_batch* batch;
    gnnmg_status status;
    while ((status = gnnmg_loader_next(loader, &batch, -1)) == GNNMG_OK) {
      double share; /* share of the step's loss */
      gnnmg_batch_info info = {.struct_size = sizeof info};
      GNNMG_CHECK(gnnmg_batch_get_info(batch, &info));
      GNNMG_CHECK(gnnmg_model_forward(work->model, batch, NULL));
      GNNMG_CHECK(gnnmg_model_backward(work->model, GNNMG_LOSS_AUTO, &share));
      gnnmg_batch_free(batch);
      epoch_loss += share;
      if (info.last_of_step) { /* every rank gets here once a step */
        GNNMG_CHECK(gnnmg_comm_all_reduce(work->comm, gradients, GNNMG_REDUCE_SUM, -1));
        GNNMG_CHECK(gnnmg_optimizer_step(optimizer));
        ++steps;
      }
    }
    GNNMG_CHECK(status); /* GNNMG_END, or an error */
    /*! [loop] */

    const int64_t shape[] = {1};
    gnnmg_tensor* sum;
    GNNMG_CHECK(gnnmg_tensor_create(&epoch_loss, GNNMG_DTYPE_F64, 1, shape, NULL, NULL, &sum));
    GNNMG_CHECK(gnnmg_comm_all_reduce(work->comm, sum, GNNMG_REDUCE_SUM, -1));
    gnnmg_tensor_free(sum);
    if (work->rank == 0)
      printf("epoch %d  mean loss of a step %.4f\n", epoch + 1, epoch_loss / (double)steps);
  }

  /*! [end] */
  GNNMG_CHECK(gnnmg_comm_shutdown(work->comm, -1));
  gnnmg_tensor_free(gradients);
  gnnmg_optimizer_free(optimizer);
  gnnmg_loader_free(loader);
  /*! [end] */
  return NULL;
}

int main(void) {
  gnnmg_context* context;
  gnnmg_graph* graph;
  gnnmg_sampler* sampler;
  GNNMG_CHECK(gnnmg_context_create(GNNMG_VERSION, NULL, &context));
  gnnmg_check_context(context);
  gnnmg_dataset* data;
  GNNMG_CHECK(gnnmg_dataset_generate(context, "planted", "num_nodes=5000", &data));
  GNNMG_CHECK(gnnmg_dataset_get_graph(data, 0, &graph));
  GNNMG_CHECK(gnnmg_sampler_create(graph, NULL, NULL, &sampler));
  int64_t num_gpus;
  GNNMG_CHECK(gnnmg_context_num_devices(context, &num_gpus, NULL));
  const int on_gpus = num_gpus >= RANKS;
  printf("%d ranks on %s\n", RANKS, on_gpus ? "GPUs" : "the CPU");

  /*! [comms] */
  gnnmg_comm* comms[RANKS];
  GNNMG_CHECK(gnnmg_comm_create_group(context, RANKS, NULL, comms));
  /*! [comms] */
  pthread_t threads[RANKS];
  rank_work works[RANKS];
  for (int32_t rank = 0; rank < RANKS; ++rank) {
    works[rank] = (rank_work){data, sampler, NULL, comms[rank], rank, on_gpus};
    /*! [replicas] */
    if (rank == 0) GNNMG_CHECK(gnnmg_model_create(context, data, NULL, NULL, &works[0].model));
    if (rank > 0) GNNMG_CHECK(gnnmg_model_create_copy(works[0].model, &works[rank].model));
    /*! [replicas] */
    /*! [device] */
    if (on_gpus) GNNMG_CHECK(gnnmg_model_set_device(works[rank].model, GNNMG_DEVICE_CUDA, rank, 0));
    /*! [device] */
  }
  for (int rank = 0; rank < RANKS; ++rank)
    if (pthread_create(&threads[rank], NULL, train, &works[rank]) != 0) abort(); /* no thread */
  for (int rank = 0; rank < RANKS; ++rank) pthread_join(threads[rank], NULL);

  /*! [evaluate] */
  gnnmg_metrics metrics = {.struct_size = sizeof metrics};
  GNNMG_CHECK(gnnmg_model_evaluate(works[0].model, data, GNNMG_PART_TEST, 0, &metrics, NULL, -1));
  printf("test accuracy %.4f\n", metrics.accuracy);
  /*! [evaluate] */
  for (int rank = 0; rank < RANKS; ++rank) {
    gnnmg_model_free(works[rank].model);
    gnnmg_comm_free(comms[rank]);
  }
  gnnmg_sampler_free(sampler);
  gnnmg_dataset_free(data);
  gnnmg_graph_free(graph);
  gnnmg_log_print(context, GNNMG_LOG_WARNING, stderr);
  gnnmg_context_free(context);
  return metrics.accuracy > 0.5 ? 0 : 1;
}
