// Messages that tell other processes why a job or a communicator has ended.
#pragma once

#include <cstdint>
#include <string>

#include "comm/group_state.h"
#include "comm/join/frame.h"

namespace gnnmg::comm {

// A cause as the last part of a frame. read_cause() cuts the text to kTextLimit.
void write_cause(FrameWriter& frame, const Cause& cause);
Cause read_cause(FrameReader& reader);

// The frame that tells the other processes of a communicator its cause.
std::string ended_frame(uint64_t group, const Cause& cause);

// Cause of a job's end for all processes, and the exchange in which the job ended, or 0.
struct JobEnd {
  uint64_t exchange = 0;
  Cause cause;
};
std::string job_end_frame(uint64_t exchange, const Cause& cause);
JobEnd read_job_end(const std::string& body);

}  // namespace gnnmg::comm
