#include "comm/join/causes.h"

#include "base/error.h"

namespace gnnmg::comm {

using base::Status;

void write_cause(FrameWriter& frame, const Cause& cause) {
  frame.i64(static_cast<int32_t>(cause.status));
  frame.i64(cause.rank);
  frame.u64(cause.operation);
  frame.list({cause.missing.begin(), cause.missing.end()});
  frame.text(cause.text);
}

Cause read_cause(FrameReader& reader) {
  Cause cause;
  cause.status = static_cast<Status>(reader.i64());
  cause.rank = static_cast<int>(reader.i64());
  cause.operation = reader.u64();
  for (const int64_t rank : reader.list()) cause.missing.push_back(static_cast<int>(rank));
  cause.text = reader.text(kTextLimit);
  reader.finish();
  if (cause.status >= Status::kOk || cause.status < Status::kInternal)
    base::fail(Status::kProtocol, "a cause with status ", static_cast<int>(cause.status));
  return cause;
}

std::string ended_frame(uint64_t group, const Cause& cause) {
  FrameWriter frame(FrameKind::kEnded);
  frame.u64(group);
  write_cause(frame, cause);
  return frame.finish();
}

std::string job_end_frame(uint64_t exchange, const Cause& cause) {
  FrameWriter frame(FrameKind::kJobEnded);
  frame.u64(exchange);
  write_cause(frame, cause);
  return frame.finish();
}

JobEnd read_job_end(const std::string& body) {
  FrameReader reader(body);
  JobEnd end;
  end.exchange = reader.u64();
  end.cause = read_cause(reader);
  return end;
}

}  // namespace gnnmg::comm
