#include "comm/gloo/descriptors.h"

#include <dirent.h>
#include <sys/resource.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <memory>

#include "base/error.h"

namespace gnnmg::comm::gloo {
namespace {

constexpr int64_t kSpare = 16;  // reserve for the program's own use meanwhile

std::atomic<int64_t> claimed{0};

struct CloseListing {
  void operator()(DIR* folder) const { closedir(folder); }
};

// Counts open descriptors below the limit; others do not count for it. Returns `limit` if they
// cannot be listed.
int64_t count_open(int64_t limit) {
  const std::unique_ptr<DIR, CloseListing> folder(opendir("/proc/self/fd"));
  if (!folder) return errno == EMFILE ? limit : 0;
  int64_t open = -1;  // excludes the listing itself
  while (const dirent* entry = readdir(folder.get()))
    if (entry->d_name[0] != '.' && std::atoll(entry->d_name) < limit) ++open;
  return open;
}

// Rounds up to a limit that a user would set.
int64_t rounded_up(int64_t count) {
  int64_t limit = 1024;
  while (limit < count) limit *= 2;
  return limit;
}

}  // namespace

Descriptors count_descriptors() {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return {-1, 0};
  const auto most = static_cast<int64_t>(std::min<rlim_t>(limit.rlim_cur, int64_t{1} << 40));
  return {most, std::max<int64_t>(0, most - count_open(most) - claimed)};
}

void check_descriptors(const std::string& who, int64_t ranks, int64_t world,
                       const Descriptors& found) {
  const int64_t needed = descriptors_needed(ranks, world);
  if (found.limit < 0 || needed == 0 || needed + kSpare <= found.free) return;
  const int64_t wanted = rounded_up(found.limit - found.free + needed + kSpare);
  throw base::Error(
      base::Status::kUnavailable,
      base::text(who, " in a world of ", world, " need ", needed + kSpare,
                 " descriptors (open files) to connect, and ", found.free, " of ", found.limit,
                 " are free: expected a higher limit (ulimit -n ", wanted, ", LimitNOFILE=", wanted,
                 " of a service, or setrlimit(RLIMIT_NOFILE)), or fewer ranks in one process"),
      -1, EMFILE);
}

DescriptorClaim::DescriptorClaim(int64_t count) : count_(count) { claimed += count_; }

DescriptorClaim::~DescriptorClaim() { claimed -= count_; }

}  // namespace gnnmg::comm::gloo
