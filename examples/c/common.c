#include "common.h"

#include <stdio.h>
#include <stdlib.h>

void check(gnnmg_status status, const char* call, const char* file, int line) {
  if (status >= 0) return;
  fprintf(stderr, "%s:%d: %s\n  %s: %s\n", file, line, call, gnnmg_status_name(status),
          gnnmg_last_error());
  exit(1);
}

void give_up(const char* text) {
  fprintf(stderr, "%s\n", text);
  exit(1);
}

const void* data_of(const struct DLManagedTensorVersioned* tensor, int64_t* num_elements) {
  gnnmg_tensor_info info = {.struct_size = sizeof info};
  CHECK(gnnmg_tensor_get_info(tensor, &info));
  if (num_elements != NULL) *num_elements = info.num_elements;
  return info.data;
}
