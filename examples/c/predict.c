/*
 * A trained model in use: the classes of a few nodes, with their probabilities. In a folder without
 * a file of weights the program trains a model, saves it, and starts itself again, so that a fresh
 * process predicts.
 */
#define _POSIX_C_SOURCE 200809L
#include <gnnmg.h>
#include <gnnmg_util.h>
#include <stdio.h>
#include <unistd.h>

enum { NUM_IDS = 3, NUM_CLASSES = 10 }; /* the generated data has 10 */

static const char* const weights = "sage.safetensors";

static void train_and_save(gnnmg_model* model, const gnnmg_dataset* data) {
  gnnmg_trainer* trainer;
  GNNMG_CHECK(
      gnnmg_trainer_create(model, data, NULL, NULL, NULL, "num_epochs=8 batch_size=256", &trainer));
  GNNMG_CHECK(gnnmg_trainer_run(trainer, NULL, NULL, NULL));
  GNNMG_CHECK(gnnmg_model_save(model, weights, NULL, -1));
  gnnmg_trainer_free(trainer);
}

static void predict(const gnnmg_model* model, const gnnmg_dataset* data) {
  /*! [predict] */
  gnnmg_predictor* predictor; /* a copy of the weights; it answers any number of threads */
  GNNMG_CHECK(gnnmg_predictor_create(model, data, "fanouts=10,10 seed=7", &predictor));
  const int64_t ids[NUM_IDS] = {7, 42, 1001};
  float probability[NUM_IDS][NUM_CLASSES];
  int64_t most_likely[NUM_IDS];
  GNNMG_CHECK(gnnmg_predictor_run(predictor, ids, NUM_IDS, GNNMG_OUTPUT_PROBABILITIES, probability,
                                  sizeof probability, NULL));
  GNNMG_CHECK(gnnmg_predictor_run(predictor, ids, NUM_IDS, GNNMG_OUTPUT_CLASSES, most_likely,
                                  sizeof most_likely, NULL));
  /*! [predict] */
  for (int i = 0; i < NUM_IDS; ++i)
    printf("node %lld: class %lld, probability %.2f\n", (long long)ids[i],
           (long long)most_likely[i], probability[i][most_likely[i]]);

  /*! [info] */
  gnnmg_predictor_info info = {.struct_size = sizeof info};
  GNNMG_CHECK(gnnmg_predictor_get_info(predictor, &info));
  printf("%lld calls over %lld nodes, %lld classes, rows of %lld numbers before the last layer\n",
         (long long)info.num_calls, (long long)info.num_ids, (long long)info.output_dim,
         (long long)info.embedding_dim);
  /*! [info] */
  /*! [free] */
  gnnmg_predictor_free(predictor);
  /*! [free] */
}

int main(int argc, char** argv) {
  gnnmg_context* context;
  GNNMG_CHECK(gnnmg_context_create(GNNMG_VERSION, NULL, &context));
  gnnmg_check_context(context);
  gnnmg_dataset* data;
  GNNMG_CHECK(gnnmg_dataset_generate(context, "planted", "num_nodes=3000", &data));
  gnnmg_model* model;
  const int trained = access(weights, R_OK) == 0;
  if (trained) {
    GNNMG_CHECK(gnnmg_model_open(context, weights, &model)); /* the file has settings and weights */
    predict(model, data);
  } else {
    GNNMG_CHECK(gnnmg_model_create(context, data, NULL, "hidden_dim=32", &model));
    train_and_save(model, data);
    printf("trained, and saved %s\n", weights);
  }
  gnnmg_model_free(model);
  gnnmg_dataset_free(data);
  gnnmg_log_print(context, GNNMG_LOG_WARNING, stderr);
  gnnmg_context_free(context);
  if (trained) return 0;
  fflush(stdout);
  execv(argc > 0 ? argv[0] : "", argv); /* returns only if it fails */
  perror("cannot start the program again");
  return 1;
}
