// Answers about one part: bytes in, bytes out. It keeps nothing of a question, so any server of the
// part may answer any question, again or in another's place, and the answer is the same.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "dist/part.h"
#include "dist/pool.h"
#include "dist/wire.h"

namespace gnnmg::dist {

class Server {
 public:
  // `stamp`: the first 8 bytes of the data set's fingerprint, which every question repeats.
  Server(std::shared_ptr<const Part> part, uint64_t stamp);
  // Writes the answer to a message: a refusal where its question cannot be answered. Throws the
  // errors of read_question() for bytes that are no question. Any thread, several at a time.
  void answer(std::span<const uint8_t> message, Message& out) const;
  // The same for a message that was read already.
  void answer(const Asked& asked, Message& out) const;

 private:
  struct Scratch {
    PickScratch pick;
    Picks picks;
    feature::SparseRows sparse;
    base::PageVector<int64_t> ids, rows;
  };
  void answer(const Question& question, Scratch& scratch, Message& out) const;

  std::shared_ptr<const Part> part_;
  uint64_t stamp_;
  mutable Pool<Scratch> scratch_;
};

}  // namespace gnnmg::dist
