#include "comm/machine.h"

#include <fstream>

namespace gnnmg::comm {

std::string machine_id() {
  std::string id;
  std::ifstream("/proc/sys/kernel/random/boot_id") >> id;
  return id;
}

}  // namespace gnnmg::comm
