#include "comm/gloo/quiet.h"

#include <c10/util/Logging.h>

#include <mutex>

namespace gnnmg::comm::gloo {
namespace {
std::mutex mutex;  // guards the three variables below
int guards = 0;
int previous = 0;
constexpr int kSilent = 4;  // above FATAL
}  // namespace

QuietLog::QuietLog() {
  std::lock_guard lock(mutex);
  if (guards++ == 0) {
    previous = FLAGS_caffe2_log_level;
    FLAGS_caffe2_log_level = kSilent;
  }
}

QuietLog::~QuietLog() {
  std::lock_guard lock(mutex);
  if (--guards == 0) FLAGS_caffe2_log_level = previous;
}

}  // namespace gnnmg::comm::gloo
