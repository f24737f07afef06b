/*
 * The model's result for every node, with full neighborhoods: by the model alone, by all ranks of
 * a trainer, and straight into files for NumPy. Then which nodes are most alike.
 */
#include <gnnmg.h>
#include <gnnmg_util.h>
#include <math.h>
#include <stdio.h>

enum { NODES = 3000, CLASSES = 10, QUERIES = 200 };

static double cosine(const float* a, const float* b) {
  double ab = 0, aa = 0, bb = 0;
  for (int i = 0; i < CLASSES; ++i) {
    ab += a[i] * b[i];
    aa += a[i] * a[i];
    bb += b[i] * b[i];
  }
  return ab / sqrt(aa * bb);
}

/* Bytes of a file, -1 when there is none. */
static long size_of(const char* path) {
  FILE* file = fopen(path, "rb");
  if (file == NULL) return -1;
  const long size = fseek(file, 0, SEEK_END) == 0 ? ftell(file) : -1;
  fclose(file);
  return size;
}

int main(void) {
  gnnmg_context* context;
  gnnmg_graph* graph;
  gnnmg_model* model;
  gnnmg_trainer* trainer;
  GNNMG_CHECK(gnnmg_context_create(GNNMG_VERSION, NULL, &context));
  gnnmg_check_context(context);
  gnnmg_dataset* data;
  GNNMG_CHECK(gnnmg_dataset_generate(context, "planted", "num_nodes=3000", &data));
  GNNMG_CHECK(gnnmg_dataset_get_graph(data, 0, &graph));
  GNNMG_CHECK(gnnmg_model_create(context, data, NULL, NULL, &model));
  GNNMG_CHECK(gnnmg_trainer_create(model, data, NULL, NULL, NULL,
                                   "num_ranks=2 num_epochs=5 batch_size=256", &trainer));
  GNNMG_CHECK(gnnmg_trainer_run(trainer, NULL, NULL, NULL));

  gnnmg_tensor *by_ranks, *rows;
  /*! [trainer] */
  GNNMG_CHECK(
      gnnmg_trainer_embed(trainer, 0, NULL, &by_ranks, -1)); /* each rank computes its share */
  GNNMG_CHECK(gnnmg_trainer_embed(trainer, 0, "by_ranks.npy", NULL, -1));
  /*! [trainer] */
  gnnmg_trainer_free(trainer);
  /*! [model] */
  /* Any model works, trained here or loaded. */
  GNNMG_CHECK(gnnmg_model_embed(model, data, 0, NULL, &rows, -1));
  GNNMG_CHECK(gnnmg_model_embed(model, data, 0, "rows.npy", NULL, -1)); /* never all in memory */
  /*! [model] */

  const float* row = gnnmg_tensor_data_f32(rows, NULL);
  const float* other = gnnmg_tensor_data_f32(by_ranks, NULL);
  double difference = 0;
  for (int i = 0; i < NODES * CLASSES; ++i)
    difference = fmax(difference, fabs((double)row[i] - other[i]));
  printf("largest difference between the two: %.2g\n", difference);
  printf("rows.npy has %ld bytes, by_ranks.npy %ld\n", size_of("rows.npy"),
         size_of("by_ranks.npy"));

  gnnmg_tensor* y;
  GNNMG_CHECK(gnnmg_graph_export_node_tensor(graph, 0, "y", &y));
  const int64_t* classes = gnnmg_tensor_data_i64(y, NULL);
  int alike = 0;
  for (int v = 0; v < QUERIES; ++v) {
    int nearest = -1;
    double most = -2;
    for (int u = 0; u < NODES; ++u) {
      const double like = u == v ? -2 : cosine(row + v * CLASSES, row + u * CLASSES);
      if (like > most) {
        most = like;
        nearest = u;
      }
    }
    alike += classes[nearest] == classes[v];
  }
  printf("%d of %d nodes are most like a node of their own class\n", alike, QUERIES);

  /*! [give up] */
  gnnmg_tensor* late = NULL;
  gnnmg_status status = gnnmg_model_embed(model, data, 0, NULL, &late, 0); /* no time at all */
  if (status == GNNMG_PENDING) {
    gnnmg_context_cancel(context); /* allowed on any thread */
    status =
        gnnmg_model_embed(model, data, 0, NULL, &late, -1); /* the result of the cancellation */
  }
  /*! [give up] */
  printf("in no time: %s\n", gnnmg_status_name(status));
  const int given_up = status == GNNMG_ERR_CANCELLED || status == GNNMG_OK;
  gnnmg_tensor_free(late);

  const long bytes = NODES * CLASSES * (long)sizeof(float); /* and a header */
  const int written = size_of("rows.npy") > bytes && size_of("by_ranks.npy") > bytes;

  gnnmg_tensor_free(y);
  gnnmg_tensor_free(rows);
  gnnmg_tensor_free(by_ranks);
  gnnmg_model_free(model);
  gnnmg_dataset_free(data);
  gnnmg_graph_free(graph);
  gnnmg_log_print(context, GNNMG_LOG_WARNING, stderr);
  gnnmg_context_free(context);
  return difference < 1e-4 && alike > QUERIES / 3 && given_up && written ? 0 : 1;
}
