#include "train_plan.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

size_t train_plan_size(const char* text) {
  static const struct {
    const char* name;
    double bytes;
  } units[] = {{"", 1},
               {"K", 1e3},
               {"KB", 1e3},
               {"M", 1e6},
               {"MB", 1e6},
               {"G", 1e9},
               {"GB", 1e9},
               {"T", 1e12},
               {"TB", 1e12},
               {"KiB", 1024.0},
               {"MiB", 1048576.0},
               {"GiB", 1073741824.0},
               {"TiB", 1099511627776.0}};
  char* end;
  const double number = strtod(text, &end);
  if (end == text || !(number > 0) || number > 1e15) return 0;
  for (size_t i = 0; i < sizeof units / sizeof *units; ++i)
    if (strcmp(end, units[i].name) == 0 && number * units[i].bytes < 1e18)
      return (size_t)(number * units[i].bytes);
  return 0;
}

static void line(const char* part, size_t bytes, const char* remark) {
  printf("  %-24s %10.3f GB%s%s\n", part, (double)bytes * 1e-9, *remark ? "  " : "", remark);
}

void train_plan_print(const gnnmg_memory_info* plan) {
  static const char* graphs[] = {"", "", "in main memory, read from there",
                                 "in main memory, sampled there"};
  static const char* features[] = {
      "", "", "in main memory, read from there", "", "in main memory, gathered there", ""};
  char cached[64];
  snprintf(cached, sizeof cached, "%lld rows cached, all in main memory",
           (long long)plan->num_cached);
  printf("memory of a GPU, at most\n");
  line("graph", plan->graph_bytes, graphs[plan->graph_placement]);
  line("features", plan->feature_bytes,
       plan->feature_placement == GNNMG_FEATURE_PLACEMENT_CACHED ||
               plan->feature_placement == GNNMG_FEATURE_PLACEMENT_SPLIT
           ? cached
           : features[plan->feature_placement]);
  line("samplers", plan->sampler_bytes, "");
  line("gathered rows", plan->row_bytes, "");
  line("a step", plan->step_bytes,
       plan->bounded ? "" : "unknown: mini-batches are the custom sampler's");
  line("an evaluation", plan->evaluation_bytes, "between steps, in their place");
  line("weights and gradients", plan->parameter_bytes, "");
  line("optimizer", plan->optimizer_bytes, "");
  line("communication", plan->communication_bytes, "");
  line("padded steps", plan->capture_bytes, "");
  line("reserve", plan->reserve_bytes, "the driver, libraries");
  char verdict[64];
  snprintf(verdict, sizeof verdict, plan->fits ? "fits %.3f GB" : "does NOT fit %.3f GB",
           (double)plan->gpu_bytes * 1e-9);
  line("in all", plan->total_bytes, verdict);
  line("main memory, pinned", plan->pinned_bytes, "once a process");
}
