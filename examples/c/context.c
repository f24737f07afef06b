/*
 * Settings and information of a context: threads, a limit for its memory, options, errors, and
 * messages, which the library keeps for its host because it never prints.
 */
#include <gnnmg.h>
#include <gnnmg_util.h>
#include <stdio.h>
#include <stdlib.h>

/* A graph that does not fit is an ordinary error: the program continues. */
static int meets_the_limit(const gnnmg_context* context) {
  /*! [errors] */
  gnnmg_graph* graph;
  const gnnmg_status status =
      gnnmg_graph_generate(context, "log_normal", NULL, &graph); /* > 1 GiB */
  if (status != GNNMG_OK) {
    printf("%s: %s\n", gnnmg_status_name(status), gnnmg_last_error());
    gnnmg_error_info info = {.struct_size = sizeof info};
    GNNMG_CHECK(gnnmg_last_error_info(&info)); /* the same with numbers */
    if (info.rank >= 0) printf("rank %d has failed\n", (int)info.rank);
    if (info.system_error != 0) printf("errno is %d\n", (int)info.system_error);
    return info.status == GNNMG_ERR_NO_MEMORY;
  }
  /*! [errors] */
  gnnmg_graph_free(graph);
  return 0;
}

static void list_options(const gnnmg_context* context) {
  /*! [options] */
  gnnmg_setting_info option = {.struct_size = sizeof option};
  for (int64_t i = 0; gnnmg_setting_get_info("context", i, &option) == GNNMG_OK; ++i) {
    char value[64];
    size_t needed;
    GNNMG_CHECK(gnnmg_context_get_option(context, option.name, value, sizeof value, &needed));
    printf("%s = %s: %s\n", option.name, value, option.help);
  }
  /*! [options] */
}

/* Prints the messages in the queue and returns the number of warnings and errors among them. */
static int show_messages(gnnmg_context* context) {
  int warnings = 0;
  /*! [messages] */
  gnnmg_log_info info = {.struct_size = sizeof info};
  char* text = NULL;
  size_t capacity = 0, needed;
  while (gnnmg_log_next(context, &info, text, capacity, &needed) == GNNMG_OK) {
    if (needed > capacity) { /* the message is still in the queue */
      text = realloc(text, capacity = needed);
      if (text == NULL) abort();
      continue;
    }
    if (info.dropped_before > 0) printf("(%lld lost)\n", (long long)info.dropped_before);
    printf("level %d: %s\n", (int)info.level, text);
    warnings += info.level >= GNNMG_LOG_WARNING;
  }
  free(text);
  /*! [messages] */
  return warnings;
}

int main(void) {
  /*! [version] */
  const int32_t version = gnnmg_version();
  printf("libgnnmg %d.%d.%d, compiled with the header of %d\n", (int)(version / 10000),
         (int)(version / 100 % 100), (int)(version % 100), GNNMG_VERSION);
  /*! [version] */

  /*! [create] */
  const gnnmg_context_config config = {
      .struct_size = sizeof config,
      .num_threads = 1,
      .memory_limit = (size_t)64 << 20}; /* 64 MiB for graphs, mini-batches, rows of results */
  gnnmg_context* context;
  GNNMG_CHECK(gnnmg_context_create(GNNMG_VERSION, &config, &context));
  gnnmg_check_context(context);
  /*! [create] */
  list_options(context);
  /*! [set option] */
  GNNMG_CHECK(gnnmg_context_set_option(context, "log_level", "info"));
  /*! [set option] */

  const int refused = meets_the_limit(context);
  gnnmg_dataset* data; /* this one fits */
  GNNMG_CHECK(gnnmg_dataset_generate(context, "planted", "num_nodes=5000", &data));
  /*! [info] */
  gnnmg_context_info info = {.struct_size = sizeof info};
  GNNMG_CHECK(gnnmg_context_get_info(context, &info));
  printf("%d threads on %d cores, LibTorch %d, %.1f of %.0f MiB taken\n", (int)info.num_threads,
         (int)info.num_cores, (int)info.torch_version, (double)info.memory_used / (1 << 20),
         (double)info.memory_limit / (1 << 20));
  /*! [info] */
  const int fits = info.memory_used > 0 && info.memory_used <= info.memory_limit;

  GNNMG_CHECK(gnnmg_dataset_save(data, "planted", -1));
  gnnmg_dataset* again;
  GNNMG_CHECK(gnnmg_dataset_open(context, "planted", NULL, &again, -1)); /* says so in the log */
  const int warnings = show_messages(context);

  gnnmg_dataset_free(again);
  gnnmg_dataset_free(data);
  /*! [free] */
  gnnmg_context_free(context);
  /*! [free] */
  return refused && fits && warnings == 0 ? 0 : 1;
}
