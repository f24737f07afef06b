// The messages of the processes of a job before they share the parts of a graph, and their common
// conclusion. Values in, values or an error out; nothing here knows a socket or a file.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "dist/hello.h"

namespace gnnmg::server {

// The source of parts that a process does not have.
enum class Reading : int32_t {
  kAuto = 0,    // the folder if all processes find all parts in it, else their processes
  kShared = 1,  // the folder
  kAsked = 2,   // processes
};
const char* reading_name(Reading reading) noexcept;  // "shared"

struct Offer {
  dist::Hello hello;  // parts: found ones
  Reading reading = Reading::kAuto;
  std::string name;  // random; that of process 0 names the data set
};

std::string pack_offer(const Offer& offer);
// Error(kProtocol) for bytes that are no offer.
Offer unpack_offer(std::string_view bytes);

// The parts of each process, the same on all processes.
struct Arrangement {
  bool shared = false;                      // all parts are read from the folder
  std::vector<std::vector<int32_t>> parts;  // process by process; several may have a part
  std::vector<int32_t> process_of_part;     // the nearest process to each part
};

// `names`: of the processes, for errors. Where all processes find all parts, process p of P has the
// parts p, p + P, ...; else each has those that it finds, which, if they are to ask, it divides
// with the processes that find the same. Error(kMismatch) naming processes and parts where the data
// differ, a part is nowhere, or the readings cannot be had.
Arrangement arrange(const std::vector<Offer>& offers, const std::vector<std::string>& names);

}  // namespace gnnmg::server
