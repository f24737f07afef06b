#include "capi/context.h"

#include <charconv>
#include <mutex>
#include <optional>
#include <system_error>
#include <thread>

#include "base/background.h"
#include "base/file.h"
#include "base/names.h"
#include "capi/arguments.h"
#include "capi/reaper.h"
#include "capi/settings.h"
#include "capi/torch_check.h"
#include "device/exit.h"
#include "io/bytes.h"
#include "train/ranks/exit.h"

namespace gnnmg::capi {

void LogWarnings::process(const c10::Warning& warning) {
  const std::string& text = warning.msg();
  log_.add(base::LogLevel::kWarning, text.substr(0, text.find('\n')));
}

namespace {

// LibTorch's state of a thread that nobody has changed anything for; where the system refuses the
// thread that it is taken from, that of this thread.
at::ThreadLocalState untouched_state() {
  static std::mutex mutex;
  static const at::ThreadLocalState* state = nullptr;  // used until the end of the process
  const std::lock_guard lock(mutex);
  if (state == nullptr) {
    try {
      base::start_thread([] { state = new at::ThreadLocalState; }).join();
    } catch (const std::system_error&) {
      return {};
    }
  }
  return *state;
}

}  // namespace

TorchScope::TorchScope(Context& context, nn::Loops loops)
    : modes_(untouched_state()), guard_(&context.warnings), loops_(loops) {
  if (loops_.refused()) context.tell_once_no_threads();
}

Context::Context(const gnnmg_context_config& config)
    : Object(kKind, nullptr, make_host_queue()),
      shared_log(std::make_shared<base::Log>(static_cast<size_t>(config.log_capacity))),
      memory(std::make_shared<base::MemoryBudget>(static_cast<int64_t>(config.memory_limit))),
      pool(config.num_threads),
      warnings(log) {
  const int asked = config.num_threads > 0 ? config.num_threads : base::available_cores();
  if (pool.num_threads() < asked)
    log.add(base::LogLevel::kWarning,
            base::text("the system has no threads left: the context works with ",
                       pool.num_threads(), " of ", asked,
                       "; raise the limit (ulimit -u, pids.max of the control group), or ask for "
                       "fewer (config.num_threads)"));
}

void Context::cancel_work() noexcept {
  freed_.store(true, std::memory_order_release);
  queue->notify();
}

void Context::tell_once_no_threads() noexcept {
  if (!told_no_threads_.exchange(true)) nn::IntraopScope::tell(log);
}

Options Context::options() const {
  std::lock_guard lock(mutex_);
  return options_;
}

void Context::change_options(const std::function<void(Options&)>& change) {
  std::lock_guard lock(mutex_);
  change(options_);
}

base::CancelToken Context::work_token() const {
  std::lock_guard lock(mutex_);
  return work_token_;
}

void Context::cancel() noexcept {
  try {
    base::CancelToken fresh;
    std::lock_guard lock(mutex_);
    work_token_.cancel();
    work_token_ = fresh;
  } catch (...) {  // no memory for a new token: the old one stays as it is
  }
  queue->notify();
}

std::shared_ptr<Job> start_job(std::shared_ptr<Context> context, Job::Work work) {
  auto job = std::make_shared<Job>(context->queue);
  // A job that waits for the callback that exits the program waits forever, which does no harm.
  auto exit_guard = std::make_shared<device::ExitGuard>(
      [c = context.get()] { c->cancel(); },
      [c = context.get()] { return base::HostQueue::inside_callback() && c->queue->has_calls(); });
  run_job([context = std::move(context), job, work = std::move(work),
           exit_guard = std::move(exit_guard)]() mutable {
    {
      const base::BudgetScope charged(context->memory);
      const c10::WarningUtils::WarningHandlerGuard told(&context->warnings);
      job->run(work);
    }
    work = nullptr;
    exit_guard.reset();
  });
  return job;
}

std::shared_ptr<Job> start_torch_job(const std::shared_ptr<Context>& context, Job::Work work) {
  train::watch_exit();
  return start_job(context, [c = context.get(), work = std::move(work)] {
    const TorchScope scope(*c, nn::Loops::kMany);
    return work();
  });
}

namespace {
const Context& context_of(const Object& object) {
  return object.context ? *object.context : static_cast<const Context&>(object);
}
}  // namespace

void visit(const Object& object) noexcept {
  if (object.kind == Kind::kTensor) return;
  const Context& context = context_of(object);
  visit_queue(object.queue);
  visit_log(context.shared_log);
  charge_call(context.memory);
}

void check_same_context(const Object& a, const Object& b) {
  if (&context_of(a) != &context_of(b))
    fail(Status::kInvalidArgument, "the ", kind_name(a.kind), " and the ", kind_name(b.kind),
         " belong to two contexts");
}

namespace {

constexpr const char* kLevels[] = {"debug", "info", "warning", "error"};

int64_t whole_from(int64_t least, const char* key, std::string_view value) {
  int64_t number = 0;
  const char* const end = value.data() + value.size();
  const auto [rest, error] = std::from_chars(value.data(), end, number);
  if (error != std::errc{} || rest != end || number < least)
    fail(Status::kInvalidArgument, "option '", key, "' is '", value,
         "', expected a whole number, at least ", least);
  return number;
}

std::string folder_or_none(const char* key, std::string_view value) {
  std::string path(value);
  if (!path.empty() && !base::is_directory(path))
    fail(Status::kInvalidArgument, "option '", key, "' is '", value,
         "', expected the path of a folder, or nothing");
  return path;
}

std::string file_or_none(const char* key, std::string_view value) {
  std::string path(value);
  if (!path.empty() && !base::is_present(path))
    fail(Status::kInvalidArgument, "option '", key, "' is '", value,
         "', expected the path of a file, or nothing");
  return path;
}

// One option: how it is listed, set and shown.
struct Option {
  const char* key;
  const char* type;
  const char* values;
  const char* help;
  void (*set)(Options&, std::string_view value);
  std::string (*get)(const Options&);
};

constexpr Option kOptions[] = {
    {"log_level", "choice", "debug, info, warning, error",
     "Lowest severity of the messages that gnnmg_log_next() returns.",
     [](Options& options, std::string_view value) {
       for (int32_t level = 0; level < 4; ++level)
         if (value == kLevels[level]) {
           options.log_level = level;
           return;
         }
       fail(Status::kInvalidArgument, "option 'log_level' is '", value,
            "', expected debug, info, warning or error");
     },
     [](const Options& options) { return std::string(kLevels[options.log_level]); }},
    {"max_file_bytes", "integer", "1 or more",
     "Bytes of the largest file or decompressed content that gnnmg_dataset_open() reads.",
     [](Options& options, std::string_view value) {
       options.max_file_bytes = whole_from(1, "max_file_bytes", value);
     },
     [](const Options& options) { return std::to_string(options.max_file_bytes); }},
    {"gpu_affinity", "choice", "off, on",
     "on: trainers that are made from now on keep the threads of each GPU on the cores next to it, "
     "among those that the process may use, if the system tells which they are.",
     [](Options& options, std::string_view value) {
       if (value != "on" && value != "off")
         fail(Status::kInvalidArgument, "option 'gpu_affinity' is '", value,
              "', expected on or off");
       options.gpu_affinity = value == "on";
     },
     [](const Options& options) { return std::string(options.gpu_affinity ? "on" : "off"); }},
    {"gpu_timeout_ms", "integer", "1 or more",
     "Time that a call of a custom loop waits for a GPU at once before it fails, milliseconds. "
     "Trainers have the setting deadline_ms.",
     [](Options& options, std::string_view value) {
       options.gpu_timeout_ms = whole_from(1, "gpu_timeout_ms", value);
     },
     [](const Options& options) { return std::to_string(options.gpu_timeout_ms); }},
    {"evaluation_bytes", "integer", "0 or more",
     "Memory for the rows of a layer, of all ranks of the process, that an exact evaluation or "
     "embedding over parts of a graph keeps for the next layer, bytes; the other rows are in a "
     "temporary file. 0: a quarter of the available memory.",
     [](Options& options, std::string_view value) {
       options.evaluation_rows.bytes = whole_from(0, "evaluation_bytes", value);
     },
     [](const Options& options) { return std::to_string(options.evaluation_rows.bytes); }},
    {"temporary_folder", "text", "path of a folder",
     "Folder of the temporary files of evaluation_bytes. Empty: the environment's TMPDIR, or "
     "/var/tmp.",
     [](Options& options, std::string_view value) {
       options.evaluation_rows.folder = folder_or_none("temporary_folder", value);
     },
     [](const Options& options) { return options.evaluation_rows.folder; }},
    {"tls_certificate", "text", "path of a file",
     "PEM file with the certificate of this process, for processes of a job that request parts of "
     "a graph from each other; it has the name of the machine. Empty: no TLS.",
     [](Options& options, std::string_view value) {
       options.tls_certificate = file_or_none("tls_certificate", value);
     },
     [](const Options& options) { return options.tls_certificate; }},
    {"tls_key", "text", "path of a file", "PEM file with the key of tls_certificate.",
     [](Options& options, std::string_view value) {
       options.tls_key = file_or_none("tls_key", value);
     },
     [](const Options& options) { return options.tls_key; }},
    {"tls_authority", "text", "path of a file",
     "PEM file with the certificate that signed the certificates of the other processes.",
     [](Options& options, std::string_view value) {
       options.tls_authority = file_or_none("tls_authority", value);
     },
     [](const Options& options) { return options.tls_authority; }},
};

const Option& find_option(std::string_view key) {
  for (const Option& option : kOptions)
    if (key == option.key) return option;
  std::vector<std::string_view> keys;
  for (const Option& option : kOptions) keys.emplace_back(option.key);
  fail(Status::kNotFound, "there is no option '", key, "'", base::known_names(key, keys));
}

}  // namespace

std::vector<SettingFacts> context_settings() {
  std::vector<SettingFacts> list;
  for (const Option& option : kOptions)
    list.push_back({option.key, option.type, option.get({}), option.values, option.help});
  return list;
}

}  // namespace gnnmg::capi

using namespace gnnmg::capi;

extern "C" {

gnnmg_status gnnmg_context_create(int32_t header_version, const gnnmg_context_config* config,
                                  gnnmg_context** context) {
  return guard(outs(Out{context, "context"}), [&] {
    if (header_version / 100 != GNNMG_VERSION / 100)
      fail(Status::kVersion, "the header is of version ", header_version / 10000, ".",
           header_version / 100 % 100, ", the library of ", GNNMG_VERSION_MAJOR, ".",
           GNNMG_VERSION_MINOR);
    gnnmg_context_config settings = read_config(config);
    check_choice(settings.num_threads, 0, 4096, "config.num_threads");
    check_least(settings.log_capacity, 0, "config.log_capacity");
    if (settings.log_capacity == 0) settings.log_capacity = 1024;
    if (settings.memory_limit > INT64_MAX)
      fail(Status::kInvalidArgument, "config.memory_limit is ", settings.memory_limit,
           ", expected at most ", INT64_MAX);
    check_torch(find_torch_and_missing());
    watch_for_fork();
    *context = new_handle<gnnmg_context>(std::make_shared<Context>(settings));
  });
}

void gnnmg_context_free(gnnmg_context* context) { free_handle(context, Kind::kContext); }

void gnnmg_context_close(gnnmg_context* context) {
  if (context == nullptr || forked()) return;
  in_call([context] {
    const std::shared_ptr<Object> closed = remove_handle(context, Kind::kContext);
    if (closed == nullptr) return;
    for (auto& object : remove_handles_of(static_cast<const Context*>(closed.get())))
      let_go(std::move(object));
    let_go(closed);
  });
}

gnnmg_status gnnmg_context_get_info(const gnnmg_context* context, gnnmg_context_info* info) {
  return guard(outs(Out{info, "info"}), [&] {
    const auto c = find<Context>(context, "context");
    gnnmg_context_info facts{};
    facts.num_threads = c->pool.num_threads();
    facts.num_cores = gnnmg::base::available_cores();
    facts.torch_version = torch_version(find_torch());
    facts.memory_limit = static_cast<size_t>(c->memory->limit());
    facts.memory_used = static_cast<size_t>(c->memory->used());
    give(info, facts);
  });
}

gnnmg_status gnnmg_context_set_option(gnnmg_context* context, const char* key, const char* value) {
  return guard([&] {
    const auto c = find<Context>(context, "context");
    const Option& option = find_option(read_name(key, "key"));
    const std::string_view text = read_text(value, "value");
    c->change_options([&](Options& options) { option.set(options, text); });
  });
}

gnnmg_status gnnmg_context_get_option(const gnnmg_context* context, const char* key, char* text,
                                      size_t capacity, size_t* needed) {
  return guard(outs(Out{needed, "needed"}), [&] {
    const auto c = find<Context>(context, "context");
    const Option& option = find_option(read_name(key, "key"));
    give_text(option.get(c->options()), text, capacity, needed);
  });
}

gnnmg_status gnnmg_context_lend(gnnmg_context* context, int64_t timeout_ms) {
  return guard([&]() -> gnnmg_status {
    check_timeout(timeout_ms);
    const auto c = find<Context>(context, "context");
    const gnnmg::base::CancelToken token = c->work_token();
    const bool called_back =
        wait_on_host(*c->queue, [&] { return c->freed() || token.cancelled(); }, timeout_ms);
    if (!called_back) return GNNMG_OK;
    if (c->freed()) return GNNMG_END;
    fail(Status::kCancelled, "the lent thread was called back");
  });
}

void gnnmg_context_cancel(gnnmg_context* context) {
  if (forked()) return;
  in_call([context] {
    if (const auto object = find_handle(context, Kind::kContext))
      static_cast<Context&>(*object).cancel();
  });
}

gnnmg_status gnnmg_log_next(gnnmg_context* context, gnnmg_log_info* info, char* text,
                            size_t capacity, size_t* needed) {
  return guard(outs(Out{info, "info"}, Out{needed, "needed"}), [&]() -> gnnmg_status {
    const auto c = find<Context>(context, "context");
    const int32_t least = c->options().log_level;
    std::lock_guard lock(c->log_mutex);
    std::optional<gnnmg::base::LogRecord>& record = c->kept_record;
    while (!record || static_cast<int32_t>(record->level) < least) {
      record = c->log.next();
      if (!record) return GNNMG_END;
      record->text = gnnmg::io::one_line(record->text);
    }
    give_text(record->text, text, capacity, needed);
    gnnmg_log_info facts{};
    facts.level = static_cast<int32_t>(record->level);
    facts.unix_time_ns = record->unix_time_ns;
    facts.dropped_before = record->dropped_before;
    give(info, facts);
    if (*needed <= capacity) record.reset();
    return GNNMG_OK;
  });
}

}  // extern "C"
