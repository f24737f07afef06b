/*
 * Preloaded into an unchanged program that links the library: prints the library's log when the
 * program reads it, or else before the program frees the context.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <gnnmg.h>
#include <stdio.h>
#include <stdlib.h>

static void* next(const char* name) {
  void* found = dlsym(RTLD_NEXT, name);
  if (found == NULL) abort();
  return found;
}

gnnmg_status gnnmg_log_next(gnnmg_context* context, gnnmg_log_info* info, char* text,
                            size_t capacity, size_t* needed) {
  gnnmg_status (*const real)(gnnmg_context*, gnnmg_log_info*, char*, size_t, size_t*) =
      next("gnnmg_log_next");
  const gnnmg_status status = real(context, info, text, capacity, needed);
  if (status == GNNMG_OK) {
    printf("log: %s\n", text);
    fflush(stdout);
  }
  return status;
}

void gnnmg_context_free(gnnmg_context* context) {
  void (*const real)(gnnmg_context*) = next("gnnmg_context_free");
  static char text[1 << 16];
  gnnmg_log_info info = {.struct_size = sizeof info};
  size_t needed;
  while (context != NULL && gnnmg_log_next(context, &info, text, sizeof text, &needed) == GNNMG_OK)
    continue;
  real(context);
}
