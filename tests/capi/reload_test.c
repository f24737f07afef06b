/*
 * A host that opens the library at run time and closes it again, many times over, like a plug-in:
 * it works each time, and neither memory nor descriptors grow.
 *   reload_test <path of libgnnmg.so>
 */
#define _POSIX_C_SOURCE 200809L
#include <dirent.h>
#include <dlfcn.h>
#include <gnnmg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#ifndef GNNMG_TEST_GROWTH
#define GNNMG_TEST_GROWTH 1024 /* KiB */
#endif

typedef gnnmg_status (*create_fn)(int32_t, const gnnmg_context_config*, gnnmg_context**);
typedef void (*free_fn)(gnnmg_context*);

/* ISO C has no cast from an object to a function pointer; POSIX promises that the bits agree. */
static int find(void* library, const char* name, void* function) {
  void* symbol = dlsym(library, name);
  memcpy(function, &symbol, sizeof symbol);
  return symbol != NULL;
}

static long resident_kilobytes(void) {
  long pages = 0, unused;
  FILE* file = fopen("/proc/self/statm", "r");
  if (!file) return 0;
  if (fscanf(file, "%ld %ld", &unused, &pages) != 2) pages = 0;
  fclose(file);
  return pages * (sysconf(_SC_PAGESIZE) / 1024);
}

static int open_descriptors(void) {
  int count = 0;
  DIR* folder = opendir("/proc/self/fd");
  while (folder && readdir(folder)) ++count;
  if (folder) closedir(folder);
  return count;
}

int main(int argc, char** argv) {
  enum { rounds = 100, warm_up = 10 };
  long kilobytes = 0;
  int descriptors = 0;
  if (argc != 2) return 2;
  for (int round = 0; round < rounds; ++round) {
    create_fn create;
    free_fn release;
    gnnmg_context* context = NULL;
    gnnmg_context_config config = {
        .struct_size = sizeof config, .num_threads = 2, .log_capacity = 8};
    void* library = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
    if (!library) {
      printf("round %d: %s\n", round, dlerror());
      return 1;
    }
    if (!find(library, "gnnmg_context_create", &create) ||
        !find(library, "gnnmg_context_free", &release) ||
        create(GNNMG_VERSION, &config, &context) != GNNMG_OK) {
      printf("round %d: no context\n", round);
      return 1;
    }
    release(context);
    dlclose(library);
    if (round == warm_up) {
      kilobytes = resident_kilobytes();
      descriptors = open_descriptors();
    }
  }
  printf("%ld KiB more, %d descriptors more\n", resident_kilobytes() - kilobytes,
         open_descriptors() - descriptors);
  return resident_kilobytes() - kilobytes >= GNNMG_TEST_GROWTH || open_descriptors() > descriptors;
}
