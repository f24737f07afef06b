/*
 * A process that saves models of two formats and two widths to a folder, one after the other, until
 * it is killed.
 *   save_child <folder>
 */
#include <gnnmg.h>
#include <stdio.h>
#include <stdlib.h>

#define CHECK(call)                                                       \
  do {                                                                    \
    const gnnmg_status status = (call);                                   \
    if (status != GNNMG_OK) {                                             \
      fprintf(stderr, "%s: %d: %s\n", #call, status, gnnmg_last_error()); \
      exit(1);                                                            \
    }                                                                     \
  } while (0)

int main(int argc, char** argv) {
  if (argc != 2) return 3;
  gnnmg_context* context;
  CHECK(gnnmg_context_create(GNNMG_VERSION, NULL, &context));
  gnnmg_model_config config = {.struct_size = sizeof config};
  config.input_dim = 6;
  config.output_dim = 2;
  gnnmg_model* models[2];
  for (int i = 0; i < 2; ++i) {
    config.hidden_dim = i == 0 ? 8 : 12;
    CHECK(gnnmg_model_create(context, NULL, &config, NULL, &models[i]));
  }
  for (int i = 0;; ++i) {
    const char* format = i / 2 % 2 == 0 ? "format=safetensors" : "format=pth";
    CHECK(gnnmg_model_save(models[i % 2], argv[1], format, -1));
  }
}
