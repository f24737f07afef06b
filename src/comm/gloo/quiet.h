// LibTorch's c10d writes to standard error when a rendezvous goes wrong. The library never prints,
// so it is silenced while one is under way, and what the host had set is put back.
#pragma once

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

}  // namespace gnnmg::comm::gloo
