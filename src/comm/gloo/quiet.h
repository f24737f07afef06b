// LibTorch's c10d writes to standard error when a rendezvous goes wrong. The library never prints,
// so it is silenced while one is under way, and what the host had set is put back.
#pragma once

#include <c10/util/Exception.h>

namespace gnnmg::comm::gloo {

// The level belongs to the whole process: the first guard sets it, the last one puts it back. Any
// thread.
class QuietLog {
 public:
  QuietLog();
  ~QuietLog();
  QuietLog(const QuietLog&) = delete;
  QuietLog& operator=(const QuietLog&) = delete;
};

// Swallows LibTorch's warnings on a thread; the default handler would print them.
struct QuietWarnings : c10::WarningHandler {
  void process(const c10::Warning&) override {}
};

}  // namespace gnnmg::comm::gloo
