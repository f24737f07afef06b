// Why a job or a communicator has ended, as processes tell each other.
#pragma once

#include <cstdint>
#include <string>

#include "comm/group_state.h"
#include "comm/join/frame.h"

namespace gnnmg::comm {

// How a cause travels, at the end of a frame. Reading cuts its text to what an error may hold.
void write_cause(FrameWriter& frame, const Cause& cause);
Cause read_cause(FrameReader& reader);

// Tells the other processes of a communicator why it has ended.
std::string ended_frame(uint64_t group, const Cause& cause);

// Tells all processes why the job has ended, and the number of the exchange in which it did, or 0.
struct JobEnd {
  uint64_t exchange = 0;
  Cause cause;
};
std::string job_end_frame(uint64_t exchange, const Cause& cause);
JobEnd read_job_end(const std::string& body);

}  // namespace gnnmg::comm
