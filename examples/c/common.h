/* Common parts of the examples: error handling with the library's messages, and data. */
#ifndef GNNMG_EXAMPLES_COMMON_H
#define GNNMG_EXAMPLES_COMMON_H

#include <gnnmg.h>

/* Ends the program with a line on standard error when a call has failed. */
#define CHECK(call) check((call), #call, __FILE__, __LINE__)
void check(gnnmg_status status, const char* call, const char* file, int line);

/* Ends the program with a line on standard error. */
void give_up(const char* text);

/* A context whose warnings the program prints on standard error, with print_warnings(): before it
 * gives up, and when it closes the context. A program has one of them at a time. */
gnnmg_context* open_context(void);
void print_warnings(gnnmg_context* context);
void close_context(gnnmg_context* context);

/* The numbers of a tensor; the tensor keeps them alive. */
const void* data_of(const struct DLManagedTensorVersioned* tensor, int64_t* num_elements);

/* A generated graph of that many nodes with features, labels and a random split, for the examples
 * that are about something else. `graph` may be NULL. */
gnnmg_dataset* planted_data(const gnnmg_context* context, int64_t num_nodes, gnnmg_graph** graph);

/* GraphSAGE of two layers, 32 wide, for `data`. */
gnnmg_model* small_model(const gnnmg_context* context, const gnnmg_dataset* data);

/* Trains a small model on the data set's current split; returns its accuracy on the test part. */
gnnmg_metrics train_small_model(const gnnmg_context* context, const gnnmg_dataset* data,
                                const gnnmg_sampler* sampler, int64_t num_epochs);

#endif
