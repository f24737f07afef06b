// What the benchmark can be asked for: each task keeps what it needs between its askings and
// answers with members of a JSON object.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>

#include "bench/gpu/world.h"

namespace gnnmg::bench {

using Words = std::vector<std::string>;  // of a line, the task's name first
using Task = std::function<std::string(const Words&)>;
using Tasks = std::map<std::string, Task>;

// Members for a timing: "device", "wall", "steady".
std::string json_of(const Timing& timing);

// sample <device|pinned> <mini-batches at once> <plain|by_source>: "edges" and "nodes" beside the
// times of one mini-batch, without or with the lists by source that gradients read; same
// <mini-batches>: "same", how many of them are the CPU's, id for id.
void add_sampling_tasks(Tasks& tasks, const World& world);

// copy <device|pinned>: "bytes" that one timed copy moves; gather <device|pinned> <columns>
// <multiprocessors, 0: all>: "rows", "bytes" of the rows and "right", how many came as they are.
void add_row_tasks(Tasks& tasks, const World& world);

// mean <columns> <forward|backward> <layer>, first <columns>: the mean along a block of mini-batch
// 0, and beside that of the block next to the input, straight from the table of all rows, each
// target's own row: "edges", "targets", "sources", "error", the largest difference from a plain
// loop as a share of the largest.
void add_layer_tasks(Tasks& tasks, const World& world);

// epoch <device|pinned> <captured|eager|unpadded> <float32|tf32|bf16> <epochs>: "seconds" of each
// epoch, "steps", and of the last one "waits", "allocations" and "pageable" (Calls), "asked",
// "waitings", "waiting_seconds", "stalls" and "stalled_seconds" (Waits), "sample", "gather",
// "wait", "compute", "loss"; and in "shapes" how many mini-batches took which, empty where there is
// one.
void add_epoch_tasks(Tasks& tasks, const World& world);

}  // namespace gnnmg::bench
