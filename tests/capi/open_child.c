/*
 * A process that knows nothing of a model but its file: opens each model that a list names, and
 * writes its results for all nodes of a data set, one after the other.
 *   open_child <data set> <list of files> <results>
 */
#include <gnnmg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHECK(call)                                                       \
  do {                                                                    \
    const gnnmg_status status = (call);                                   \
    if (status != GNNMG_OK) {                                             \
      fprintf(stderr, "%s: %d: %s\n", #call, status, gnnmg_last_error()); \
      exit(1);                                                            \
    }                                                                     \
  } while (0)

static void write_results(gnnmg_context* context, const gnnmg_dataset* data, const char* path,
                          FILE* out) {
  gnnmg_model* model;
  CHECK(gnnmg_model_open(context, path, &model));
  gnnmg_tensor* rows;
  CHECK(gnnmg_model_embed(model, data, 0, NULL, &rows, -1));
  gnnmg_tensor_info info;
  memset(&info, 0, sizeof info);
  info.struct_size = sizeof info;
  CHECK(gnnmg_tensor_get_info(rows, &info));
  const size_t count = (size_t)info.num_elements;
  const size_t size = info.dtype == GNNMG_DTYPE_F64 ? sizeof(double) : sizeof(float);
  if (fwrite(info.data, size, count, out) != count) exit(2);
  gnnmg_tensor_free(rows);
  gnnmg_model_free(model);
}

int main(int argc, char** argv) {
  if (argc != 4) return 3;
  gnnmg_context* context;
  CHECK(gnnmg_context_create(GNNMG_VERSION, NULL, &context));
  gnnmg_dataset* data;
  CHECK(gnnmg_dataset_open(context, argv[1], NULL, &data, -1));
  FILE* list = fopen(argv[2], "r");
  FILE* out = fopen(argv[3], "wb");
  if (list == NULL || out == NULL) return 4;
  char path[4096];
  while (fgets(path, sizeof path, list) != NULL) {
    path[strcspn(path, "\n")] = '\0';
    write_results(context, data, path, out);
  }
  fclose(list);
  gnnmg_dataset_free(data);
  gnnmg_context_free(context);
  return fclose(out) == 0 ? 0 : 5;
}
