/* A training's use of a GPU's memory, as `train --plan` prints it. */
#ifndef GNNMG_EXAMPLES_TRAIN_PLAN_H
#define GNNMG_EXAMPLES_TRAIN_PLAN_H

#include <gnnmg.h>

/* Reads "80G", "512MB", "40GiB" or a number of bytes, G and GB being 10^9; 0: it is no size. */
size_t train_plan_size(const char* text);

/* Prints the parts. */
void train_plan_print(const gnnmg_memory_info* plan);

#endif
