// The context: threads, messages, options, and work that waits for the host's threads. Everything
// else keeps it alive.
#pragma once

#include <ATen/ThreadLocalState.h>
#include <c10/util/Exception.h>

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "base/cancel.h"
#include "base/host_queue.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/thread_pool.h"
#include "capi/devices.h"
#include "capi/job.h"
#include "capi/object.h"
#include "nn/torch/intraop.h"
#include "train/config.h"

namespace gnnmg::capi {

// LibTorch's warnings go to the log in place of standard error.
class LogWarnings : public c10::WarningHandler {
 public:
  explicit LogWarnings(base::Log& log) : log_(log) {}
  void process(const c10::Warning& warning) override;

 private:
  base::Log& log_;
};

struct Options {
  int32_t log_level = 0;
  int64_t max_file_bytes = int64_t{1} << 40;
  bool gpu_affinity = true;
  int64_t gpu_timeout_ms = 30'000;
  train::RowStorage evaluation_rows;
  // PEM files of this process, for the other processes of a job that ask it for parts of a graph.
  std::string tls_certificate, tls_key, tls_authority;
};

class Context : public Object {
 public:
  static constexpr Kind kKind = Kind::kContext;
  explicit Context(const gnnmg_context_config& config);

  void cancel_work() noexcept override;  // the handle was freed: lent threads come back

  const Devices devices;  // declared before every member that may use LibTorch
  const std::shared_ptr<base::Log> shared_log;
  base::Log& log = *shared_log;
  const std::shared_ptr<base::MemoryBudget> memory;
  base::ThreadPool pool;
  LogWarnings warnings;
  Pendings pendings;

  Options options() const;
  void change_options(const std::function<void(Options&)>& change);

  // Shared by all work that runs on the context itself; cancel() switches it and makes a new one.
  base::CancelToken work_token() const;
  void cancel() noexcept;
  bool freed() const noexcept { return freed_.load(std::memory_order_acquire); }

  // That LibTorch's loops have no threads.
  void tell_once_no_threads() noexcept;

  // A message pulled from the log for which the host's buffer was too small.
  std::mutex log_mutex;
  std::optional<base::LogRecord> kept_record;

 private:
  mutable std::mutex mutex_;
  Options options_;
  base::CancelToken work_token_;
  std::atomic<bool> freed_{false};
  std::atomic<bool> told_no_threads_{false};
};

// A scope for calls of LibTorch: its warnings go to the context's log while this lives, the thread
// is in none of the modes that the host may have set for it (inference mode, no_grad, autocast,
// hooks of saved tensors), and its loops have their threads, or do without where these are few or
// the system refuses them.
class TorchScope {
 public:
  explicit TorchScope(Context& context, nn::Loops loops = nn::Loops::kFew);

 private:
  at::ThreadLocalStateGuard modes_;
  c10::WarningUtils::WarningHandlerGuard guard_;
  nn::IntraopScope loops_;
};

// Starts a job on a thread of its own.
std::shared_ptr<Job> start_job(std::shared_ptr<Context> context, Job::Work work);
// Starts a job that computes with LibTorch.
std::shared_ptr<Job> start_torch_job(const std::shared_ptr<Context>& context, Job::Work work);

// Objects that work together must hang on one context.
void check_same_context(const Object& a, const Object& b);

}  // namespace gnnmg::capi
