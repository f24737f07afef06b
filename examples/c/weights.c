/*
 * A model's weights: listed by key, changed one by one, written to files that PyTorch reads, and
 * read back into another model, which then says the same. With the path of a file, the program
 * opens the model in it.
 */
#include <gnnmg.h>
#include <gnnmg_util.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Prints the tensors of a model and returns the number of learned values. */
static int64_t summary(const gnnmg_model* model) {
  /*! [summary] */
  gnnmg_model_info info = {.struct_size = sizeof info};
  GNNMG_CHECK(gnnmg_model_get_info(model, &info));
  const char* key;
  int32_t trained;
  for (int64_t i = 0; gnnmg_model_tensor_key(model, i, &key, &trained) == GNNMG_OK; ++i) {
    gnnmg_tensor* tensor;
    GNNMG_CHECK(gnnmg_model_export_tensor(model, key, &tensor));
    gnnmg_tensor_info of_tensor = {.struct_size = sizeof of_tensor};
    GNNMG_CHECK(gnnmg_tensor_get_info(tensor, &of_tensor));
    printf("%s", key);
    for (int32_t d = 0; d < of_tensor.num_dims; ++d)
      printf("%s%lld", d == 0 ? ": " : " x ", (long long)of_tensor.shape[d]);
    printf("%s\n", trained ? "" : " (not learned)");
    gnnmg_tensor_free(tensor);
  }
  printf("%lld numbers are learned\n", (long long)info.num_parameters);
  /*! [summary] */
  return info.num_parameters;
}

/* Returns true if two models hold the same bits. */
static int equal(const gnnmg_model* a, const gnnmg_model* b) {
  /*! [parameters] */
  gnnmg_tensor *of_a, *of_b; /* each in one array, shared with its model */
  GNNMG_CHECK(gnnmg_model_export_parameters(a, &of_a));
  GNNMG_CHECK(gnnmg_model_export_parameters(b, &of_b));
  /*! [parameters] */
  int64_t count, other;
  const float* left = gnnmg_tensor_data_f32(of_a, &count);
  const float* right = gnnmg_tensor_data_f32(of_b, &other);
  const int same = count == other && memcmp(left, right, (size_t)count * sizeof *left) == 0;
  gnnmg_tensor_free(of_a);
  gnnmg_tensor_free(of_b);
  return same;
}

/* Opens a file in a process that knows nothing else of the model. Returns true for 10 outputs. */
static int open_alone(const char* path) {
  gnnmg_context* context;
  GNNMG_CHECK(gnnmg_context_create(GNNMG_VERSION, NULL, &context));
  gnnmg_check_context(context);
  /*! [open] */
  gnnmg_model* model; /* architecture, widths and all other settings are in the file */
  GNNMG_CHECK(gnnmg_model_open(context, path, &model));
  /*! [open] */
  /*! [settings] */
  const char* settings; /* JSON, as in the file */
  GNNMG_CHECK(gnnmg_model_get_settings(model, &settings));
  printf("%s\n", settings);
  /*! [settings] */
  gnnmg_model_info info = {.struct_size = sizeof info};
  GNNMG_CHECK(gnnmg_model_get_info(model, &info));
  gnnmg_model_free(model);
  gnnmg_log_print(context, GNNMG_LOG_WARNING, stderr);
  gnnmg_context_free(context);
  return info.output_dim == 10;
}

int main(int argc, char** argv) {
  if (argc > 1) return open_alone(argv[1]) ? 0 : 1;
  gnnmg_context* context;
  GNNMG_CHECK(gnnmg_context_create(GNNMG_VERSION, NULL, &context));
  gnnmg_check_context(context);
  /*! [without data] */
  gnnmg_model_config config = {.struct_size = sizeof config,
                               .input_dim = 64, /* else those of a data set */
                               .hidden_dim = 32,
                               .output_dim = 10,
                               .norm = GNNMG_NORM_BATCH};
  gnnmg_model* model;
  GNNMG_CHECK(gnnmg_model_create(context, NULL, &config, NULL, &model));
  /*! [without data] */
  const int64_t num_parameters = summary(model);

  /*! [set tensor] */
  float bias[10] = {0}; /* a prior: class 3 is the common one */
  bias[3] = 1;
  const int64_t shape[] = {10};
  gnnmg_tensor* values;
  GNNMG_CHECK(gnnmg_tensor_create(bias, GNNMG_DTYPE_F32, 1, shape, NULL, NULL, &values));
  GNNMG_CHECK(gnnmg_model_set_tensor(model, "convs.1.lin_l.bias", values));
  gnnmg_tensor_free(values);
  /*! [set tensor] */

  /*! [save] */
  /* Equals torch.save(model.state_dict()). */
  GNNMG_CHECK(gnnmg_model_save(model, "model.pth", NULL, -1));
  /* With a format the path's ending does not matter. */
  GNNMG_CHECK(gnnmg_model_save(model, "model.weights", "format=safetensors", -1));
  GNNMG_CHECK(gnnmg_model_save(model, "sage/", NULL, -1)); /* model.safetensors and config.json */
  /*! [save] */
  char command[512];
  snprintf(command, sizeof command, "'%s' sage/ > settings.json", argv[0]);
  const int opened = system(command) == 0;

  /*! [config] */
  GNNMG_CHECK(gnnmg_model_get_config(model, &config)); /* the settings that are fields */
  config.seed = 1;                                     /* other initial weights */
  /*! [config] */
  gnnmg_model* other;
  GNNMG_CHECK(gnnmg_model_create(context, NULL, &config, NULL, &other));
  const int equal_before = equal(model, other);
  /*! [load] */
  GNNMG_CHECK(gnnmg_model_load(other, "model.pth", NULL, -1));
  /*! [load] */
  const int equal_after = equal(model, other);
  printf("equal before loading: %d, after: %d\n", equal_before, equal_after);

  config.hidden_dim = 16;
  gnnmg_model* narrow;
  GNNMG_CHECK(gnnmg_model_create(context, NULL, &config, NULL, &narrow));
  const gnnmg_status status = gnnmg_model_load(narrow, "model.weights", "format=safetensors", -1);
  printf("into a narrower one: %s: %.60s...\n", gnnmg_status_name(status), gnnmg_last_error());

  gnnmg_model_free(narrow);
  gnnmg_model_free(other);
  gnnmg_model_free(model);
  gnnmg_log_print(context, GNNMG_LOG_WARNING, stderr);
  gnnmg_context_free(context);
  const int counted = num_parameters == 2 * 64 * 32 + 32 + 2 * 32 + 2 * 32 * 10 + 10;
  return counted && opened && !equal_before && equal_after && status == GNNMG_ERR_MISMATCH ? 0 : 1;
}
