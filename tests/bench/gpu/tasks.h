// The tasks of the benchmark: each task keeps its data between requests and answers with members of
// a JSON object.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>

#include "bench/gpu/world.h"

namespace gnnmg::bench {

using Words = std::vector<std::string>;  // words of a line, the task's name first
using Task = std::function<std::string(const Words&)>;
using Tasks = std::map<std::string, Task>;

// Returns members for a timing: "device", "wall", "steady".
std::string json_of(const Timing& timing);

// sample <device|pinned> <mini-batches at once> <plain|by_source>: "edges" and "nodes" with the
// times of one mini-batch, without or with the lists by source that gradients read; same
// <mini-batches>: "same", the number of them that equal the CPU's, id for id.
void add_sampling_tasks(Tasks& tasks, const World& world);

// copy <device|pinned>: "bytes" of one timed copy; gather <device|pinned> <columns>
// <multiprocessors, 0: all>: "rows", "bytes" of the rows and "right", the number of correct rows.
void add_row_tasks(Tasks& tasks, const World& world);

// mean <columns> <forward|backward> <layer>, first <columns>: the mean along a block of mini-batch
// 0, or the mean along the block next to the input with each target's own row, read directly from
// the table of all rows: "edges", "targets", "sources", "error", the largest difference from a
// plain loop relative to the largest number.
void add_layer_tasks(Tasks& tasks, const World& world);

// epoch <device|pinned> <captured|eager|unpadded> <float32|tf32|bf16> <epochs>: "seconds" of each
// epoch, "steps", and for the last one "waits", "allocations" and "pageable" (Calls), "asked",
// "waitings", "waiting_seconds", "stalls" and "stalled_seconds" (Waits), "sample", "gather",
// "wait", "compute", "loss"; and in "shapes" the number of mini-batches of each shape, empty if
// there is only one.
void add_epoch_tasks(Tasks& tasks, const World& world);

}  // namespace gnnmg::bench
