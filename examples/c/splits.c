/*
 * Splits of a data set: drawn at random, with a number per class, or given as lists; listed,
 * selected, and read back. Trains a model on each of five random splits and prints the mean.
 */
#include <gnnmg.h>
#include <gnnmg_util.h>
#include <stdio.h>

enum { RANDOM_SPLITS = 5, CLASSES = 10, PER_CLASS = 20 };

/* Accuracy of a new model that is trained on the chosen split. */
static double train_small_model(const gnnmg_context* context, const gnnmg_dataset* data) {
  gnnmg_model* model;
  GNNMG_CHECK(gnnmg_model_create(context, data, NULL, "hidden_dim=32", &model));
  gnnmg_trainer* trainer;
  GNNMG_CHECK(gnnmg_trainer_create(model, data, NULL, NULL, NULL,
                                   "num_epochs=4 batch_size=256 keep_best=0", &trainer));
  GNNMG_CHECK(gnnmg_trainer_run(trainer, NULL, NULL, NULL));
  gnnmg_metrics metrics = {.struct_size = sizeof metrics};
  GNNMG_CHECK(gnnmg_trainer_evaluate(trainer, GNNMG_PART_TEST, &metrics, NULL, -1));
  gnnmg_trainer_free(trainer);
  gnnmg_model_free(model);
  return metrics.accuracy;
}

int main(void) {
  gnnmg_context* context;
  GNNMG_CHECK(gnnmg_context_create(GNNMG_VERSION, NULL, &context));
  gnnmg_check_context(context);
  gnnmg_dataset* data; /* has a split "random" */
  GNNMG_CHECK(gnnmg_dataset_generate(context, "planted", "num_nodes=3000", &data));

  /*! [random] */
  for (int i = 0; i < RANDOM_SPLITS; ++i) {
    char settings[80];
    snprintf(settings, sizeof settings, "train_fraction=0.6 validation_fraction=0.2 seed=%d", i);
    GNNMG_CHECK(gnnmg_dataset_add_random_split(data, "rand602020", settings));
  }
  /*! [random] */
  /* The number of labels is that of Planetoid's splits. */
  GNNMG_CHECK(gnnmg_dataset_add_random_split(data, "few labels",
                                             "train_per_class=20 validation_per_class=30"));
  /*! [given] */
  const int64_t train[] = {0, 1, 2, 3, 4, 5, 6, 7}, validation[] = {8, 9}, test[] = {10, 11, 12};
  GNNMG_CHECK(gnnmg_dataset_add_split(data, "by hand", train, 8, validation, 2, test, 3));
  /*! [given] */

  /*! [list] */
  const char* name;
  gnnmg_split_info info = {.struct_size = sizeof info};
  for (int64_t i = 0; gnnmg_dataset_get_split_info(data, i, &name, &info) == GNNMG_OK; ++i)
    printf("%s %d: %lld, %lld, %lld\n", name, (int)info.index, (long long)info.num_train,
           (long long)info.num_validation, (long long)info.num_test);
  /*! [list] */

  /*! [read] */
  gnnmg_dataset* few; /* shares the data */
  GNNMG_CHECK(gnnmg_dataset_select_split(data, "few labels", 0, &few));
  gnnmg_tensor* ids;
  GNNMG_CHECK(gnnmg_dataset_export_split(few, GNNMG_PART_TRAIN, &ids));
  int64_t num_train;
  const int64_t* nodes = gnnmg_tensor_data_i64(ids, &num_train);
  printf("few labels: trained on %lld nodes, the first is %lld\n", (long long)num_train,
         (long long)nodes[0]);
  gnnmg_tensor_free(ids);
  gnnmg_dataset_free(few);
  /*! [read] */

  double mean = 0;
  for (int i = 0; i < RANDOM_SPLITS; ++i) {
    gnnmg_dataset* selected;
    GNNMG_CHECK(gnnmg_dataset_select_split(data, "rand602020", i, &selected));
    const double accuracy = train_small_model(context, selected);
    gnnmg_dataset_free(selected);
    printf("split %d: test accuracy %.4f\n", i, accuracy);
    mean += accuracy / RANDOM_SPLITS;
  }
  printf("mean %.4f\n", mean);

  gnnmg_dataset_free(data);
  gnnmg_log_print(context, GNNMG_LOG_WARNING, stderr);
  gnnmg_context_free(context);
  return mean > 0.5 && num_train == PER_CLASS * CLASSES ? 0 : 1;
}
