#include "train/meet_while.h"

#include <thread>

namespace gnnmg::train {

void meet_while(comm::Collectives& comm, const std::function<comm::Wait()>& wait,
                const base::CancelToken& cancel, std::chrono::milliseconds slice,
                const std::function<bool()>& busy) {
  double any = 0;
  do {
    any = 0;
    if (busy) {
      const auto until = std::chrono::steady_clock::now() + slice;
      while (busy() && std::chrono::steady_clock::now() < until) {
        cancel.check("writing");
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
      }
      any = busy() ? 1 : 0;
    }
    comm.all_reduce({&any, base::DType::kF64, {1}}, comm::ReduceOp::kMax, wait());
  } while (any > 0);
}

}  // namespace gnnmg::train
