// Evaluations and results of all nodes, as commands to one rank.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <string>

#include "train/eval/evaluation.h"
#include "train/ranks/loaders.h"
#include "train/ranks/replica.h"

namespace gnnmg::train {

// Use it on the rank's thread only, except cancel(). The functions on that thread are collective.
class RankEvaluation {
 public:
  // `copies`: between the device and the host; null for the CPU. The other arguments must outlive
  // the object.
  RankEvaluation(const Job& job, GroupShared& group, RankComm& comm, const Replica& replica,
                 const RankLoaders& loaders, std::unique_ptr<PinnedCopies> copies);

  // For the host: refuses a part that is empty or that differs from rank to rank.
  // `confusion`: with the confusion matrix, on all ranks if one asks for it.
  nn::Metrics evaluate(data::SplitPart part, bool confusion);
  // For training, where the part is known to be right.
  nn::Metrics measure(data::SplitPart part, bool confusion = false);
  // The model's result for all nodes, or graphs; see eval/evaluation.h.
  base::Tensor embed();
  void embed_to_file(const std::string& path);

  void cancel() noexcept;  // any thread

 private:
  // Checks that the part is the same on all processes; true if one asks for the confusion matrix.
  bool agree(data::SplitPart part, bool confusion);
  nn::Metrics measure_sampled(const Subject& subject, const Participant& participant);
  void set_loader(std::unique_ptr<loader::Loader> next);
  Participant participant();
  int64_t chunk() const;  // nodes or graphs at a time

  const Job& job_;
  GroupShared& group_;
  RankComm& comm_;
  const Replica& replica_;
  const RankLoaders& loaders_;
  const std::unique_ptr<PinnedCopies> copies_;
  const base::HostQueue::Count host_calls_ = std::make_shared<std::atomic<int>>(0);
  bool told_ = false;
  std::mutex mutex_;  // guards the pointer against cancel()
  std::unique_ptr<loader::Loader> loader_;
};

}  // namespace gnnmg::train
