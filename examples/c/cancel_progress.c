/*
 * Training observed from outside: one thread waits for it, another one shows its progress and
 * cancels it after a while. The model keeps the weights learned so far.
 */
#include <gnnmg.h>
#include <gnnmg_util.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { SHOW = 5 };

static void* watch(void* argument) {
  gnnmg_trainer* trainer = argument;
  for (int shown = 0; shown < SHOW; ++shown) {
    const struct timespec pause = {0, 200 * 1000 * 1000};
    nanosleep(&pause, NULL);
    /*! [progress] */
    gnnmg_progress_info progress = {.struct_size = sizeof progress};
    GNNMG_CHECK(gnnmg_trainer_progress(trainer, &progress));
    printf("epoch %lld, step %lld of %lld, loss %.4f, %.0f seeds/s\n", (long long)progress.epoch,
           (long long)progress.step, (long long)progress.num_steps, progress.loss,
           progress.seeds_per_second);
    /*! [progress] */
  }
  /*! [cancel] */
  gnnmg_trainer_cancel(trainer); /* gnnmg_trainer_stop() would end it between two steps */
  /*! [cancel] */
  return NULL;
}

int main(void) {
  gnnmg_context* context;
  gnnmg_dataset* data;
  gnnmg_model* model;
  gnnmg_trainer* trainer;
  GNNMG_CHECK(gnnmg_context_create(GNNMG_VERSION, NULL, &context));
  gnnmg_check_context(context);
  GNNMG_CHECK(gnnmg_dataset_generate(context, "planted", NULL, &data));
  GNNMG_CHECK(gnnmg_model_create(context, data, NULL, NULL, &model));
  GNNMG_CHECK(gnnmg_trainer_create(model, data, NULL, NULL, NULL, "num_epochs=1000000", &trainer));

  /*! [start] */
  GNNMG_CHECK(gnnmg_trainer_start(trainer, NULL, NULL, NULL));
  /*! [start] */
  pthread_t watcher; /* started after the training, which it cancels */
  if (pthread_create(&watcher, NULL, watch, trainer) != 0) abort(); /* no thread */
  /*! [wait] */
  gnnmg_status status;
  while ((status = gnnmg_trainer_wait(trainer, 100)) == GNNMG_PENDING) {
    /* Here a program looks after its window, its signals, its other work. */
  }
  /*! [wait] */
  pthread_join(watcher, NULL);
  printf("%s: %s\n", gnnmg_status_name(status), gnnmg_last_error());

  gnnmg_metrics metrics = {.struct_size = sizeof metrics};
  GNNMG_CHECK(gnnmg_model_evaluate(model, data, GNNMG_PART_TEST, 0, &metrics, NULL, -1));
  printf("test accuracy so far %.4f\n", metrics.accuracy);

  gnnmg_trainer_free(trainer);
  gnnmg_model_free(model);
  gnnmg_dataset_free(data);
  gnnmg_log_print(context, GNNMG_LOG_WARNING, stderr);
  gnnmg_context_free(context);
  return status == GNNMG_ERR_CANCELLED ? 0 : 1;
}
