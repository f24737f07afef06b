#include "server/offers.h"

#include <algorithm>

#include "base/error.h"
#include "comm/join/frame.h"
#include "dist/part_dataset.h"
#include "io/bytes.h"

namespace gnnmg::server {
namespace {

using base::fail;
using base::Status;
using dist::parts_text;

constexpr uint64_t kRequest = 1;
constexpr size_t kMostName = 256;

bool has_all(const Offer& offer) {
  return offer.hello.parts.size() == static_cast<size_t>(offer.hello.num_parts);
}

// The first part that is not in the list, which is ascending.
int32_t first_missing(const std::vector<int32_t>& parts) {
  int32_t part = 0;
  while (static_cast<size_t>(part) < parts.size() && parts[part] == part) ++part;
  return part;
}

// All have the same data, and read them in the same way.
void check_same(const std::vector<Offer>& offers, const std::vector<std::string>& names) {
  for (size_t p = 1; p < offers.size(); ++p) {
    const std::string differs =
        dist::difference(offers[0].hello, names[0], offers[p].hello, names[p]);
    if (!differs.empty())
      fail(Status::kMismatch, "the processes have different data: ", differs,
           "; give all of them parts of one folder");
    if (offers[p].reading != offers[0].reading)
      fail(Status::kMismatch, "the setting 'reading' is ", reading_name(offers[0].reading), " at ",
           names[0], " and ", reading_name(offers[p].reading), " at ", names[p]);
  }
}

void check_shared(const std::vector<Offer>& offers, const std::vector<std::string>& names) {
  for (size_t p = 0; p < offers.size(); ++p)
    if (!has_all(offers[p]))
      fail(Status::kMismatch, "the setting 'reading' is shared, and ", names[p],
           " does not find part ", first_missing(offers[p].hello.parts), " of ",
           offers[p].hello.num_parts, ", only ", parts_text(offers[p].hello.parts));
}

// The share of process p: it divides its parts in turn with the processes that find the same.
std::vector<int32_t> share_of(const std::vector<Offer>& offers, size_t p) {
  const std::vector<int32_t>& found = offers[p].hello.parts;
  size_t number = 0, count = 0;
  for (size_t q = 0; q < offers.size(); ++q) {
    if (offers[q].hello.parts != found) continue;
    number += q < p;
    ++count;
  }
  std::vector<int32_t> share;
  for (size_t i = number; i < found.size(); i += count) share.push_back(found[i]);
  return share;
}

// The process of each part: of those that have it the one that is nearest to the fewest so far.
std::vector<int32_t> nearest(const Arrangement& made, int32_t num_parts) {
  std::vector<int32_t> nearest_to(made.parts.size()), process_of_part;
  for (int32_t part = 0; part < num_parts; ++part) {
    int32_t best = -1;
    for (size_t p = 0; p < made.parts.size(); ++p)
      if (std::ranges::binary_search(made.parts[p], part) &&
          (best < 0 || nearest_to[p] < nearest_to[best]))
        best = static_cast<int32_t>(p);
    process_of_part.push_back(best);
    if (best >= 0) ++nearest_to[best];
  }
  return process_of_part;
}

void check_found(const Arrangement& made, const std::vector<std::string>& names) {
  std::vector<int32_t> nowhere;
  for (size_t part = 0; part < made.process_of_part.size(); ++part)
    if (made.process_of_part[part] < 0) nowhere.push_back(static_cast<int32_t>(part));
  if (nowhere.empty()) return;
  std::string found;
  for (size_t p = 0; p < names.size(); ++p)
    found += base::text("; ", names[p], " has ", parts_text(made.parts[p]));
  fail(Status::kMismatch, parts_text(nowhere), " of ", made.process_of_part.size(),
       nowhere.size() == 1 ? " is" : " are", " at no process", found,
       "; copy the folders of the parts to one of them each");
}

}  // namespace

const char* reading_name(Reading reading) noexcept {
  switch (reading) {
    case Reading::kShared:
      return "shared";
    case Reading::kAsked:
      return "asked";
    default:
      return "auto";
  }
}

std::string pack_offer(const Offer& offer) {
  dist::Message hello;
  dist::write_hello(kRequest, offer.hello, hello);
  comm::FrameWriter out;
  out.text(io::as_text(hello.span()));
  out.u8(static_cast<uint8_t>(offer.reading));
  out.text(offer.name);
  return out.fields();
}

Offer unpack_offer(std::string_view bytes) {
  comm::FrameReader in(bytes);
  Offer offer;
  const std::string hello = in.text();
  const uint8_t reading = in.u8();
  offer.name = in.text(kMostName);
  in.finish();
  offer.hello = dist::read_hello(kRequest, io::as_bytes(hello));
  if (reading > static_cast<uint8_t>(Reading::kAsked))
    fail(Status::kProtocol, "an offer with reading ", reading);
  offer.reading = static_cast<Reading>(reading);
  return offer;
}

Arrangement arrange(const std::vector<Offer>& offers, const std::vector<std::string>& names) {
  check_same(offers, names);
  const int32_t num_parts = offers[0].hello.num_parts;
  const Reading reading = offers[0].reading;
  const bool everywhere = std::ranges::all_of(offers, has_all);
  if (reading == Reading::kShared) check_shared(offers, names);
  Arrangement made;
  made.shared = everywhere && reading != Reading::kAsked;
  const bool divided = everywhere || reading == Reading::kAsked;
  for (size_t p = 0; p < offers.size(); ++p)
    made.parts.push_back(divided ? share_of(offers, p) : offers[p].hello.parts);
  made.process_of_part = nearest(made, num_parts);
  check_found(made, names);
  return made;
}

}  // namespace gnnmg::server
