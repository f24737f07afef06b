/*
 * Predictions while training goes on: threads answer the lines of standard input, each of which
 * lists ids of nodes, and another thread trains and hands over a snapshot after each epoch. A line
 * that has begun keeps the predictor it began with.
 */
#include <gnnmg.h>
#include <gnnmg_util.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WORKERS = 2, MOST_IDS = 64, MOST_TEXT = 1024 };

/* A predictor with a count of its users. */
typedef struct {
  gnnmg_predictor* predictor;
  int users; /* changed with the service's mutex held */
} version;

typedef struct {
  const gnnmg_dataset* data;
  gnnmg_trainer* trainer;
  pthread_mutex_t mutex;
  version* current;
  int num_snapshots;
  int64_t num_answers, num_failures;
} service;

static version* take(service* s) {
  pthread_mutex_lock(&s->mutex);
  version* v = s->current;
  ++v->users;
  pthread_mutex_unlock(&s->mutex);
  return v;
}

static void give_back(service* s, version* v) {
  pthread_mutex_lock(&s->mutex);
  const int left = --v->users;
  pthread_mutex_unlock(&s->mutex);
  if (left > 0) return;
  gnnmg_predictor_free(v->predictor);
  free(v);
}

/* Readers keep the old version until they are done. */
static void swap_in(service* s, gnnmg_predictor* next) {
  version* v = malloc(sizeof *v);
  if (v == NULL) abort();
  *v = (version){next, 1};
  pthread_mutex_lock(&s->mutex);
  version* old = s->current;
  s->current = v;
  pthread_mutex_unlock(&s->mutex);
  if (old != NULL) give_back(s, old);
}

/*! [publish] */
static int32_t publish(const gnnmg_epoch_info* epoch, void* user_data) { /* each epoch's end */
  service* s = user_data;
  (void)epoch;
  gnnmg_model* now;
  if (gnnmg_trainer_snapshot(s->trainer, &now) != GNNMG_OK) return 0; /* the old one goes on */
  gnnmg_predictor* next;
  if (gnnmg_predictor_create(now, s->data, "fanouts=10,10", &next) == GNNMG_OK) {
    swap_in(s, next);
    ++s->num_snapshots;
  }
  gnnmg_model_free(now); /* the predictor has a copy */
  return 0;
}
/*! [publish] */

static void* train(void* argument) {
  service* s = argument;
  GNNMG_CHECK(gnnmg_trainer_run(s->trainer, publish, s, NULL));
  return NULL;
}

/* Writes the answer to one line. */
static gnnmg_status answer(const gnnmg_predictor* predictor, char* line, char* text) {
  int64_t ids[MOST_IDS], classes[MOST_IDS];
  int64_t count = 0;
  char* rest = NULL;
  for (char* word = strtok_r(line, " \n", &rest); word != NULL && count < MOST_IDS;
       word = strtok_r(NULL, " \n", &rest))
    ids[count++] = strtoll(word, NULL, 10);
  /*! [answer] */
  const gnnmg_status status = gnnmg_predictor_run(predictor, ids, count, GNNMG_OUTPUT_CLASSES,
                                                  classes, sizeof classes, NULL);
  if (status < 0) return status; /* gnnmg_last_error() names an id that is no node */
  /*! [answer] */
  size_t used = 0;
  text[0] = 0;
  for (int64_t i = 0; i < count && used + 48 < MOST_TEXT; ++i)
    used += (size_t)snprintf(text + used, MOST_TEXT - used, "%s%lld: class %lld",
                             i == 0 ? "" : ", ", (long long)ids[i], (long long)classes[i]);
  return GNNMG_OK;
}

/* Threads take turns with standard input and with standard output, and predict side by side. */
static void* work(void* argument) {
  service* s = argument;
  char line[MOST_TEXT], text[MOST_TEXT];
  while (fgets(line, sizeof line, stdin) != NULL) {
    version* v = take(s);
    const gnnmg_status status = answer(v->predictor, line, text);
    if (status < 0) snprintf(text, sizeof text, "error: %s", gnnmg_last_error());
    give_back(s, v);
    puts(text);
    pthread_mutex_lock(&s->mutex);
    ++*(status < 0 ? &s->num_failures : &s->num_answers);
    pthread_mutex_unlock(&s->mutex);
  }
  return NULL;
}

int main(void) {
  gnnmg_context* context;
  GNNMG_CHECK(gnnmg_context_create(GNNMG_VERSION, NULL, &context));
  gnnmg_check_context(context);
  gnnmg_dataset* data;
  GNNMG_CHECK(gnnmg_dataset_generate(context, "planted", "num_nodes=3000", &data));
  gnnmg_model* model;
  GNNMG_CHECK(gnnmg_model_create(context, data, NULL, "hidden_dim=32", &model));
  service s = {.data = data, .mutex = PTHREAD_MUTEX_INITIALIZER};
  GNNMG_CHECK(gnnmg_trainer_create(model, data, NULL, NULL, NULL, "num_epochs=5 batch_size=256",
                                   &s.trainer));
  publish(NULL, &s); /* the untrained model, until there is a better one */
  if (s.current == NULL) {
    fprintf(stderr, "%s\n", gnnmg_last_error());
    return 1;
  }

  pthread_t trainer, workers[WORKERS];
  if (pthread_create(&trainer, NULL, train, &s) != 0) abort(); /* no thread */
  for (int i = 0; i < WORKERS; ++i)
    if (pthread_create(&workers[i], NULL, work, &s) != 0) abort();
  for (int i = 0; i < WORKERS; ++i) pthread_join(workers[i], NULL);
  pthread_join(trainer, NULL);
  printf("%lld answers, %lld failures, %d snapshots\n", (long long)s.num_answers,
         (long long)s.num_failures, s.num_snapshots);

  give_back(&s, s.current);
  gnnmg_trainer_free(s.trainer);
  gnnmg_model_free(model);
  gnnmg_dataset_free(data);
  gnnmg_log_print(context, GNNMG_LOG_WARNING, stderr);
  gnnmg_context_free(context);
  return 0;
}
