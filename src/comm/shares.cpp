#include "comm/shares.h"

#include <utility>

#include "comm/check.h"
#include "comm/join/control.h"
#include "comm/join/fields.h"

namespace gnnmg::comm {

namespace {

constexpr int kMostRanks = 1024;

// All processes find the same. Engines differ if only some processes have GPUs for their ranks.
void check_engines(const Control& control, const std::string& name,
                   const std::vector<std::string>& engines) {
  const auto say = [&](size_t p) {
    return base::text(control.process_text(static_cast<int>(p)),
                      engines[p] == kOnDevices ? " works on GPUs" : " works on the CPU");
  };
  for (size_t p = 1; p < engines.size(); ++p)
    if (engines[p] != engines[0])
      throw base::Error(base::Status::kMismatch,
                        base::text(name, ": ", say(p), ", but ", say(0),
                                   ": all processes of a job have GPUs for their ranks, or none "
                                   "has; give each its own, or set the device to the CPU on all"),
                        static_cast<int>(p));
}

}  // namespace

Shares exchange_shares(Processes& processes, const Share& share, const char* engine,
                       const std::string& words, const Wait& wait) {
  if (!share.obstacle) check_world(share.num_ranks);
  Control& control = *processes.control();
  FrameWriter own;
  own.u32(static_cast<uint32_t>(share.num_ranks));
  own.text(share.obstacle ? share.obstacle->what() : "");
  own.text(words);
  own.text(engine);
  write_fields(own, share.fields);
  Shares shares;
  shares.first_ranks.push_back(0);
  std::vector<std::vector<Field>> fields;
  std::vector<std::string> engines;
  std::optional<base::Error> obstacle = share.obstacle;
  for (const std::string& bytes :
       control.gather(share.name, own.fields(), wait, Ending::kForArrived, &shares.number)) {
    FrameReader reader(bytes);
    const auto process = static_cast<int>(fields.size());
    const uint32_t count = reader.u32();
    const std::string why = reader.text();
    shares.words.push_back(reader.text());
    engines.push_back(reader.text());
    fields.push_back(read_fields(reader));
    reader.finish();
    if (!why.empty() && !obstacle)
      obstacle.emplace(base::Status::kAborted, base::text(control.process_text(process), ": ", why),
                       process);
    if (!why.empty()) continue;
    if (count < 1 || count > kMostRanks)
      base::fail(base::Status::kProtocol, "a process with ", count, " ranks");
    shares.first_ranks.push_back(shares.first_ranks.back() + static_cast<int>(count));
  }
  if (obstacle) throw base::Error(*obstacle);
  check_engines(control, share.name, engines);
  check_fields(control, share.name, fields);
  if (shares.first_ranks.back() > kMostRanks)
    base::fail(base::Status::kInvalidArgument, "a world of ", shares.first_ranks.back(),
               " ranks: expected at most ", kMostRanks);
  return shares;
}

}  // namespace gnnmg::comm
