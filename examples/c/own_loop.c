/*
 * A custom training loop over two ranks, with one thread each and, if there are two, one GPU each:
 * batches, forward, backward, one all-reduce, one update. It gives the same numbers as
 * gnnmg_trainer_run().
 */
#include <pthread.h>
#include <stdio.h>

#include "common.h"

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
  gnnmg_loader_config plan;
  CHECK(gnnmg_loader_config_init(&plan, sizeof plan));
  plan.batch_size = 256;
  plan.rank = work->rank;
  plan.world_size = RANKS;
  if (work->on_gpu) { /* same as the model */
    plan.device = GNNMG_DEVICE_CUDA;
    plan.device_index = work->rank;
  }
  gnnmg_loader* loader;
  CHECK(gnnmg_loader_create(work->data, work->sampler, &plan, &loader));
  /*! [loader] */
  gnnmg_optimizer* optimizer;
  CHECK(gnnmg_optimizer_create(work->model, NULL, &optimizer));
  /*! [gradients] */
  struct DLManagedTensorVersioned* gradients; /* all of them, one array */
  CHECK(gnnmg_model_export_gradients(work->model, &gradients));
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
      CHECK(gnnmg_batch_get_info(batch, &info));
      CHECK(gnnmg_model_forward(work->model, batch, 1, NULL));
      CHECK(gnnmg_model_backward(work->model, GNNMG_LOSS_AUTO, &share));
      gnnmg_batch_free(batch);
      epoch_loss += share;
      if (info.last_of_step) { /* every rank gets here once a step */
        CHECK(gnnmg_comm_all_reduce(work->comm, gradients, GNNMG_REDUCE_SUM, -1));
        CHECK(gnnmg_optimizer_step(optimizer));
        ++steps;
      }
    }
    CHECK(status); /* GNNMG_END, or an error */
    /*! [loop] */

    const int64_t shape[] = {1};
    struct DLManagedTensorVersioned* sum;
    CHECK(gnnmg_tensor_create(&epoch_loss, GNNMG_DTYPE_F64, 1, shape, NULL, NULL, &sum));
    CHECK(gnnmg_comm_all_reduce(work->comm, sum, GNNMG_REDUCE_SUM, -1));
    gnnmg_tensor_free(sum);
    if (work->rank == 0)
      printf("epoch %d  mean loss of a step %.4f\n", epoch + 1, epoch_loss / (double)steps);
  }

  /*! [end] */
  CHECK(gnnmg_comm_shutdown(work->comm, -1));
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
  context = open_context();
  gnnmg_dataset* data = planted_data(context, 5000, &graph);
  CHECK(gnnmg_sampler_create(graph, NULL, &sampler));
  int64_t num_gpus;
  CHECK(gnnmg_context_num_devices(context, &num_gpus, NULL));
  const int on_gpus = num_gpus >= RANKS;
  printf("%d ranks on %s\n", RANKS, on_gpus ? "GPUs" : "the CPU");

  /*! [comms] */
  gnnmg_comm* comms[RANKS];
  CHECK(gnnmg_comm_create_group(context, RANKS, NULL, comms));
  /*! [comms] */
  pthread_t threads[RANKS];
  rank_work works[RANKS];
  for (int32_t rank = 0; rank < RANKS; ++rank) {
    works[rank] = (rank_work){data, sampler, NULL, comms[rank], rank, on_gpus};
    /*! [replicas] */
    if (rank == 0) CHECK(gnnmg_model_create(context, data, NULL, &works[0].model));
    if (rank > 0) CHECK(gnnmg_model_create_copy(works[0].model, &works[rank].model));
    /*! [replicas] */
    /*! [device] */
    if (on_gpus) CHECK(gnnmg_model_set_device(works[rank].model, GNNMG_DEVICE_CUDA, rank, 0));
    /*! [device] */
  }
  for (int rank = 0; rank < RANKS; ++rank)
    if (pthread_create(&threads[rank], NULL, train, &works[rank]) != 0) give_up("no thread");
  for (int rank = 0; rank < RANKS; ++rank) pthread_join(threads[rank], NULL);

  /*! [evaluate] */
  gnnmg_metrics metrics = {.struct_size = sizeof metrics};
  CHECK(gnnmg_model_evaluate(works[0].model, data, GNNMG_SPLIT_TEST, &metrics, -1));
  printf("test accuracy %.4f\n", metrics.accuracy);
  /*! [evaluate] */
  for (int rank = 0; rank < RANKS; ++rank) {
    gnnmg_model_free(works[rank].model);
    gnnmg_comm_free(comms[rank]);
  }
  gnnmg_sampler_free(sampler);
  gnnmg_dataset_free(data);
  gnnmg_graph_free(graph);
  close_context(context);
  return metrics.accuracy > 0.5 ? 0 : 1;
}
