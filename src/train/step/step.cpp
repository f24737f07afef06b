#include "train/step/step.h"

#include "train/step/captured/step.h"
#include "train/step/joint_norm_step.h"

namespace gnnmg::train {

std::unique_ptr<EagerStep> make_eager_step(const StepContext& context) {
  if (JointNormStep::wanted(context.job)) return std::make_unique<JointNormStep>(context);
  return std::make_unique<EagerStep>(context);
}

std::unique_ptr<Step> choose_step(const StepContext& context, std::unique_ptr<EagerStep> eager) {
  const Job& job = context.job;
  const RankDevice* const device = context.replica.device();
  if (!device) return eager;
  std::string why = job.config.capture == Capture::kUnpadded
                        ? "capture is unpadded"
                        : CapturedPipeline::why_not(job, context.replica.model(),
                                                    *context.loaders.source(), context.comm.get());
  if (why.empty()) why = device->why_no_capture();
  if (!context.comm.agree(!why.empty()))
    return std::make_unique<CapturedStep>(context, std::move(eager));
  eager->replace_captured(std::move(why));
  return eager;
}

}  // namespace gnnmg::train
