/*
 * A host that has another LibTorch, as a Python with its own: the library is loaded beside it, and
 * the first call returns an error.
 *   other_torch_test <path of libgnnmg.so> <path of a libtorch_cpu.so> <part of the error's text>
 */
#define _POSIX_C_SOURCE 200809L
#include <dlfcn.h>
#include <gnnmg.h>
#include <stdio.h>
#include <string.h>

typedef gnnmg_status (*create_fn)(int32_t, const gnnmg_context_config*, gnnmg_context**);
typedef const char* (*text_fn)(void);

/* ISO C has no cast from an object to a function pointer; POSIX promises that the bits agree. */
static int find(void* library, const char* name, void* function) {
  void* symbol = dlsym(library, name);
  memcpy(function, &symbol, sizeof symbol);
  return symbol != NULL;
}

int main(int argc, char** argv) {
  create_fn create;
  text_fn last_error;
  gnnmg_context* context = NULL;
  void* library;
  gnnmg_status status;
  if (argc != 4) return 2;
  if (!dlopen(argv[2], RTLD_NOW | RTLD_GLOBAL) || !(library = dlopen(argv[1], RTLD_NOW))) {
    printf("%s\n", dlerror());
    return 1;
  }
  if (!find(library, "gnnmg_context_create", &create) ||
      !find(library, "gnnmg_last_error", &last_error))
    return 1;
  status = create(GNNMG_VERSION, NULL, &context);
  printf("%d %s\n", (int)status, last_error());
  if (status != GNNMG_ERR_DEPENDENCY || context != NULL) return 1;
  return strstr(last_error(), argv[3]) == NULL || strstr(last_error(), argv[2]) == NULL;
}
