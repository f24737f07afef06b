#include "train/step/joint_norms.h"

#include <mutex>
#include <set>
#include <utility>

#include "base/error.h"

namespace gnnmg::train {
namespace {

struct Taken {
  std::mutex mutex;
  std::set<std::pair<const base::DeviceTable*, int>> devices;
};
Taken& taken() {
  static Taken& taken = *new Taken;  // trainers may outlive main
  return taken;
}

}  // namespace

JointNormsTurn::JointNormsTurn(const base::DeviceTable& table, const std::vector<int>& devices)
    : table_(table), devices_(devices) {
  const std::lock_guard lock(taken().mutex);
  for (const int device : devices_)
    if (taken().devices.contains({&table_, device}))
      base::fail(base::Status::kBusy,
                 "another trainer with synchronised batch norms is at work on ", "GPU ", device,
                 ": they take turns");
  for (const int device : devices_) taken().devices.emplace(&table_, device);
}

JointNormsTurn::~JointNormsTurn() {
  const std::lock_guard lock(taken().mutex);
  for (const int device : devices_) taken().devices.erase({&table_, device});
}

}  // namespace gnnmg::train
