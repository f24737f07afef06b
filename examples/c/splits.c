/*
 * Splits of a data set: drawn at random, with a number per class, or given as lists; listed,
 * chosen, and read back. Trains a model on each of five random splits and prints the mean.
 */
#include <stdio.h>

#include "common.h"

enum { RANDOM_SPLITS = 5, CLASSES = 10, PER_CLASS = 20, EPOCHS = 4 };

int main(void) {
  gnnmg_context* context = open_context();
  gnnmg_dataset* data = planted_data(context, 3000, NULL); /* has a split "random" */

  /*! [random] */
  for (int i = 0; i < RANDOM_SPLITS; ++i) {
    gnnmg_split_config split;
    CHECK(gnnmg_split_config_init(&split, sizeof split));
    split.train_fraction = 0.6;
    split.validation_fraction = 0.2;
    split.seed = (uint64_t)i;
    CHECK(gnnmg_dataset_add_random_split(data, "rand602020", &split));
  }
  /*! [random] */
  gnnmg_split_config few;
  CHECK(gnnmg_split_config_init(&few, sizeof few));
  few.train_per_class = PER_CLASS; /* the sizes of Planetoid's splits */
  few.validation_per_class = 30;
  CHECK(gnnmg_dataset_add_random_split(data, "few labels", &few));
  /*! [given] */
  const int64_t train[] = {0, 1, 2, 3, 4, 5, 6, 7}, validation[] = {8, 9}, test[] = {10, 11, 12};
  CHECK(gnnmg_dataset_add_split(data, "by hand", train, 8, validation, 2, test, 3));
  /*! [given] */

  /*! [list] */
  const char* name;
  gnnmg_split_info info = {.struct_size = sizeof info};
  for (int64_t i = 0; gnnmg_dataset_get_split_info(data, i, &name, &info) == GNNMG_OK; ++i)
    printf("%s %d: %lld, %lld, %lld\n", name, (int)info.index, (long long)info.num_train,
           (long long)info.num_validation, (long long)info.num_test);
  /*! [list] */

  /*! [read] */
  CHECK(gnnmg_dataset_set_split(data, "few labels", 0));
  struct DLManagedTensorVersioned* ids;
  CHECK(gnnmg_dataset_export_split(data, GNNMG_SPLIT_TRAIN, &ids));
  int64_t num_train;
  const int64_t* nodes = data_of(ids, &num_train);
  printf("few labels: trained on %lld nodes, the first is %lld\n", (long long)num_train,
         (long long)nodes[0]);
  gnnmg_tensor_free(ids);
  /*! [read] */

  gnnmg_graph* graph;
  gnnmg_sampler* sampler;
  CHECK(gnnmg_dataset_get_graph(data, 0, &graph));
  CHECK(gnnmg_sampler_create(graph, NULL, &sampler));
  double mean = 0;
  for (int i = 0; i < RANDOM_SPLITS; ++i) {
    CHECK(gnnmg_dataset_set_split(data, "rand602020", i));
    const double accuracy = train_small_model(context, data, sampler, EPOCHS).accuracy;
    printf("split %d: test accuracy %.4f\n", i, accuracy);
    mean += accuracy / RANDOM_SPLITS;
  }
  printf("mean %.4f\n", mean);

  gnnmg_sampler_free(sampler);
  gnnmg_graph_free(graph);
  gnnmg_dataset_free(data);
  close_context(context);
  return mean > 0.5 && num_train == PER_CLASS * CLASSES ? 0 : 1;
}
