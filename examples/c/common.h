/* What the examples share: giving up with the library's own words. */
#ifndef GNNMG_EXAMPLES_COMMON_H
#define GNNMG_EXAMPLES_COMMON_H

#include <gnnmg.h>

/* Ends the program with a line on standard error when a call has failed. */
#define CHECK(call) check((call), #call, __FILE__, __LINE__)
void check(gnnmg_status status, const char* call, const char* file, int line);

/* Ends the program with a line on standard error. */
void give_up(const char* text);

/* The numbers of a tensor; the tensor keeps them alive. */
const void* data_of(const struct DLManagedTensorVersioned* tensor, int64_t* num_elements);

#endif
