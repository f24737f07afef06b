// Parses faults from the environment's text.
#include <sstream>
#include <stdexcept>

#include "fake_nccl/fake_nccl.h"

namespace gnnmg::fake_nccl {
namespace {

Fault::Kind kind_of(const std::string& word) {
  if (word == "fails") return Fault::kFails;
  if (word == "poll_fails") return Fault::kPollFails;
  if (word == "hangs") return Fault::kHangs;
  if (word == "breaks") return Fault::kBreaks;
  if (word == "stuck") return Fault::kStuck;
  if (word == "later") return Fault::kLater;
  if (word == "kills") return Fault::kKills;
  if (word == "stops") return Fault::kStops;
  throw std::invalid_argument("no kind of fault: " + word);
}

int number_of(const std::string& word) {
  size_t end = 0;
  const int number = std::stoi(word, &end);
  if (end != word.size()) throw std::invalid_argument("no number: " + word);
  return number;
}

}  // namespace

std::vector<Fault> parse_faults(const std::string& text) {
  std::vector<Fault> faults;
  std::istringstream all(text);
  for (std::string one; std::getline(all, one, ';');) {
    Fault fault;
    std::istringstream parts(one);
    for (std::string part; std::getline(parts, part, ',');) {
      const size_t equals = part.find('=');
      const std::string name = part.substr(0, equals);
      const std::string value = equals == std::string::npos ? "" : part.substr(equals + 1);
      if (name == "rank")
        fault.rank = number_of(value);
      else if (name == "call")
        fault.call = number_of(value);
      else if (name == "kind")
        fault.kind = kind_of(value);
      else if (name == "result")
        fault.result = static_cast<comm::nccl::Result>(number_of(value));
      else
        throw std::invalid_argument("a fault has no " + name);
    }
    if (fault.call < 1) throw std::invalid_argument("a fault without its call: " + one);
    faults.push_back(fault);
  }
  return faults;
}

}  // namespace gnnmg::fake_nccl
