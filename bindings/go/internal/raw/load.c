#define _GNU_SOURCE
#include "load.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "_cgo_export.h"

gnnmg_functions gnnmg_table;
_Atomic int gnnmg_loaded;

static char* format_version(int32_t library) {
  char* text = NULL;
  const int header = GNNMG_VERSION;
  if (asprintf(&text, "it is version %d.%d.%d, this package was made for the header of %d.%d.%d",
               library / 10000, library / 100 % 100, library % 100, header / 10000,
               header / 100 % 100, header % 100) < 0)
    return NULL;
  return text;
}

char* gnnmg_load(const char* path) {
  void* library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (library == NULL) return strdup(dlerror());
  int32_t (*version)(void) = (int32_t(*)(void))dlsym(library, "gnnmg_version");
  if (version == NULL) return strdup("it has no function gnnmg_version");
  if (version() / 100 != GNNMG_VERSION / 100) return format_version(version());
  gnnmg_functions table;
#define X(name)                                                           \
  table.name = (__typeof__(gnnmg_##name)*)dlsym(library, "gnnmg_" #name); \
  if (table.name == NULL)                                                 \
    return strdup(                                                        \
        "it is older than this package: it has no function "              \
        "gnnmg_" #name);
  GNNMG_FUNCTIONS(X)
#undef X
  gnnmg_table = table;
  gnnmg_loaded = 1;
  return NULL;
}

outcome gnnmg_finish(gnnmg_status status) {
  outcome r = {status, NULL};
  if (status >= 0) return r;
  failure* error = calloc(1, sizeof *error);
  if (error == NULL) return r;
  gnnmg_error_info info = {.struct_size = sizeof info};
  error->rank = -1;
  if (gnnmg_table.last_error_info(&info) == GNNMG_OK) {
    error->rank = info.rank;
    error->system_error = info.system_error;
  }
  error->text = strdup(gnnmg_table.last_error());
  r.error = error;
  return r;
}

outcome gnnmg_not_loaded(void) {
  outcome r = {GNNMG_ERR_DEPENDENCY, calloc(1, sizeof(failure))};
  if (r.error != NULL) {
    r.error->rank = -1;
    r.error->text = strdup("the library is not loaded: make a Runtime first");
  }
  return r;
}

static void release(void* user_data) { gnnmgGoRelease((uintptr_t)user_data); }

static int32_t on_layer(const gnnmg_layer_info* layer, const int64_t* targets, int64_t num_targets,
                        gnnmg_sink* sink, void* user_data) {
  return gnnmgGoLayer((void*)layer, (void*)targets, num_targets, (uintptr_t)sink,
                      (uintptr_t)user_data);
}

static int32_t on_epoch(const gnnmg_epoch_info* epoch, void* user_data) {
  return gnnmgGoEpoch((void*)epoch, (uintptr_t)user_data);
}

static int32_t on_loss(gnnmg_loss_batch* batch, void* user_data) {
  return gnnmgGoLoss(batch, (uintptr_t)user_data);
}

struct r_token shim_tensor_create(void* data, int32_t dtype, int32_t num_dims, const int64_t* shape,
                                  uintptr_t user_data) {
  struct r_token r = {0};
  gnnmg_tensor* tensor = NULL;
  r.outcome = GNNMG_CALL(tensor_create, data, dtype, num_dims, shape, user_data ? release : NULL,
                         (void*)user_data, &tensor);
  r.token = (uintptr_t)tensor;
  return r;
}

struct r_token shim_sampler_create_custom(uintptr_t graph, const char* settings,
                                          uintptr_t user_data) {
  struct r_token r = {0};
  gnnmg_sampler* sampler = NULL;
  r.outcome = GNNMG_CALL(sampler_create_custom, (const gnnmg_graph*)graph, NULL, settings, on_layer,
                         (void*)user_data, release, &sampler);
  r.token = (uintptr_t)sampler;
  return r;
}

outcome shim_trainer_start(uintptr_t trainer, uintptr_t user_data) {
  return GNNMG_CALL(trainer_start, (gnnmg_trainer*)trainer, user_data ? on_epoch : NULL,
                    (void*)user_data, user_data ? release : NULL);
}

outcome shim_trainer_run(uintptr_t trainer, uintptr_t user_data) {
  return GNNMG_CALL(trainer_run, (gnnmg_trainer*)trainer, user_data ? on_epoch : NULL,
                    (void*)user_data, user_data ? release : NULL);
}

outcome shim_trainer_set_loss(uintptr_t trainer, uintptr_t user_data) {
  return GNNMG_CALL(trainer_set_loss, (gnnmg_trainer*)trainer, user_data ? on_loss : NULL,
                    (void*)user_data, user_data ? release : NULL);
}

int32_t shim_version(void) { return gnnmg_loaded ? gnnmg_table.version() : 0; }

const char* shim_status_name(gnnmg_status status) {
  return gnnmg_loaded ? gnnmg_table.status_name(status) : "unknown";
}
