/*
 * The library as this package sees it: opened at run time, its functions in a table, each call
 * together with the text of its error. Apart from shims.gen.h, which follows from gnnmg.h.
 */
#ifndef GNNMG_GO_LOAD_H
#define GNNMG_GO_LOAD_H

#include <stddef.h>
#include <stdint.h>

#include "gnnmg.h"
#include "table.gen.h"

typedef struct gnnmg_functions {
#define X(name) __typeof__(gnnmg_##name)* name;
  GNNMG_FUNCTIONS(X)
#undef X
} gnnmg_functions;

/* What is known about a call that failed; `text` and the struct itself are from malloc(). */
typedef struct failure {
  int32_t rank;
  int32_t system_error;
  char* text;
} failure;

/* `error` is NULL unless `status` is below 0, and also then when there is no memory for it. */
typedef struct outcome {
  int32_t status;
  failure* error;
} outcome;

extern gnnmg_functions gnnmg_table;
extern _Atomic int gnnmg_loaded; /* 1 once the table is filled; it is never emptied */

/* Opens the library at `path`. NULL, or what is wrong, from malloc(). */
char* gnnmg_load(const char* path);

outcome gnnmg_finish(gnnmg_status status); /* on the thread that made the call */
outcome gnnmg_not_loaded(void);

#define GNNMG_CALL(name, ...) \
  (gnnmg_loaded ? gnnmg_finish(gnnmg_table.name(__VA_ARGS__)) : gnnmg_not_loaded())

struct r_token {
  outcome outcome;
  uintptr_t token;
};

/* The functions with callbacks: `user_data` is a handle of Go's, or 0: no callback, no release. */
struct r_token shim_tensor_create(void* data, int32_t dtype, int32_t num_dims, const int64_t* shape,
                                  uintptr_t user_data);
struct r_token shim_sampler_create_custom(uintptr_t graph, const char* settings,
                                          uintptr_t user_data);
outcome shim_trainer_start(uintptr_t trainer, uintptr_t user_data);
outcome shim_trainer_run(uintptr_t trainer, uintptr_t user_data);
outcome shim_trainer_set_loss(uintptr_t trainer, uintptr_t user_data);

int32_t shim_version(void);
const char* shim_status_name(gnnmg_status status);

#endif
