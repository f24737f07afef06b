// Silences LibTorch's c10d, which writes to standard error when a rendezvous fails: the library
// never prints. The host's settings are restored afterwards.
#pragma once

#include <c10/util/Exception.h>

namespace gnnmg::comm::gloo {

// Sets the log level of the whole process: the first guard sets it, the last one restores it. Any
// thread.
class QuietLog {
 public:
  QuietLog();
  ~QuietLog();
  QuietLog(const QuietLog&) = delete;
  QuietLog& operator=(const QuietLog&) = delete;
};

// Discards LibTorch's warnings on a thread; the default handler would print them.
struct QuietWarnings : c10::WarningHandler {
  void process(const c10::Warning&) override {}
};

}  // namespace gnnmg::comm::gloo
