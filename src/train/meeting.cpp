#include "train/meeting.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <new>

#include "comm/check.h"
#include "comm/join/frame.h"

namespace gnnmg::train {
namespace {

using base::Status;
using comm::Field;

// The shortest digits that read back as the same number.
std::string exact(double value) {
  std::array<char, 32> digits;
  const auto [end, error] = std::to_chars(digits.data(), digits.data() + digits.size(), value);
  return {digits.data(), end};
}

const char* yes_or_no(bool value) { return value ? "yes" : "no"; }

template <typename E>
  requires std::is_enum_v<E>
std::string number_of(E value) {
  return std::to_string(static_cast<int64_t>(value));
}

void add_model(const nn::Model& model, std::vector<Field>& fields) {
  const nn::ModelConfig& c = model.config();
  const auto add = [&](const char* name, std::string value) {
    fields.emplace_back(base::text("model ", name), std::move(value));
  };
  add("architecture", number_of(c.architecture));
  add("framework", number_of(c.framework));
  add("mlp_layers", std::to_string(c.mlp_layers));
  add("input_dim", std::to_string(c.input_dim));
  add("hidden_dim", std::to_string(c.hidden_dim));
  add("output_dim", std::to_string(c.output_dim));
  add("num_layers", std::to_string(c.num_layers));
  add("aggregation", number_of(c.aggregation));
  add("activation", number_of(c.activation));
  add("norm", number_of(c.norm));
  add("norm_scale", exact(c.norm_scale));
  add("skip", number_of(c.skip));
  add("weight_init", number_of(c.init));
  add("bias", yes_or_no(c.bias));
  add("root_weight", yes_or_no(c.root_weight));
  add("normalize", yes_or_no(c.normalize));
  add("project", yes_or_no(c.project));
  add("jumping", number_of(c.jumping));
  add("heads", std::to_string(c.heads));
  add("concat", yes_or_no(c.concat));
  add("self_loops", yes_or_no(c.self_loops));
  add("residual", yes_or_no(c.residual));
  add("block_degrees", yes_or_no(c.block_degrees));
  add("train_eps", yes_or_no(c.train_eps));
  add("negative_slope", exact(c.slope));
  add("eps", exact(c.eps));
  add("act_first", yes_or_no(c.act_first));
  add("dropout", exact(c.dropout));
  add("input_dropout", exact(c.input_dropout));
  add("readout", number_of(c.readout));
  add("output_dropout", exact(c.output_dropout));
  add("dtype", base::dtype_name(c.dtype));
  add("seed", std::to_string(c.seed));
  for (const nn::NamedTensor& parameter : model.parameters()) {
    std::string shape;
    for (int64_t size : parameter.tensor.sizes())
      shape += base::text(shape.empty() ? "" : " x ", size);
    fields.emplace_back(base::text("parameter ", parameter.key), shape);
  }
}

void add_trainer(const TrainerConfig& c, std::vector<Field>& fields) {
  const auto add = [&](const char* name, std::string value) {
    fields.emplace_back(name, std::move(value));
  };
  add("seed", std::to_string(c.seed));
  add("batch_size", std::to_string(c.batch_size));
  add("batches_per_step", std::to_string(c.batches_per_step));
  add("partition", number_of(c.partition));
  add("shuffle", yes_or_no(c.shuffle));
  add("drop_last", yes_or_no(c.drop_last));
  add("loss", number_of(c.loss));
  add("loss_average", number_of(c.loss_average));
  add("sync_batch_norm", yes_or_no(c.sync_batch_norm));
  add("deterministic", yes_or_no(c.deterministic));
  add("num_epochs", std::to_string(c.num_epochs));
  add("optimizer", number_of(c.optimizer.kind));
  add("learning_rate", exact(c.optimizer.learning_rate));
  add("weight_decay", exact(c.optimizer.weight_decay));
  add("beta1", exact(c.optimizer.beta1));
  add("beta2", exact(c.optimizer.beta2));
  add("epsilon", exact(c.optimizer.epsilon));
  add("amsgrad", yes_or_no(c.optimizer.amsgrad));
  add("momentum", exact(c.optimizer.momentum));
  add("dampening", exact(c.optimizer.dampening));
  add("nesterov", yes_or_no(c.optimizer.nesterov));
  add("clip_norm", exact(c.clip_norm));
  add("schedule", number_of(c.schedule.kind));
  add("warmup_epochs", std::to_string(c.schedule.warmup_epochs));
  add("schedule_minimum", exact(c.schedule.minimum_factor));
  add("schedule_factor", exact(c.schedule.factor));
  add("schedule_step_epochs", std::to_string(c.schedule.step_epochs));
  add("schedule_patience", std::to_string(c.schedule.patience));
  add("evaluation", number_of(c.evaluation));
  add("evaluate_every", std::to_string(c.evaluate_every));
  add("eval_batch_size", std::to_string(c.eval_batch_size));
  add("best_by", number_of(c.best_by));
  add("keep_best", yes_or_no(c.keep_best));
  add("early_stop_patience", std::to_string(c.early_stop_patience));
}

comm::Wait wait_to_meet(const Job& job, const base::CancelToken& cancel) {
  comm::Wait wait;
  wait.deadline = base::Deadline::after_ms(job.environment.meet_timeout_ms);
  wait.cancel = cancel;
  wait.excused = [&host = job.environment.host] { return host.has_calls(); };
  wait.stall = base::Deadline::after_ms(job.config.stall_limit_ms);
  return wait;
}

std::string packed(const Report& report) {
  comm::FrameWriter out;
  out.u32(static_cast<uint32_t>(report.num_ranks));
  out.i64(report.error ? static_cast<int64_t>(report.error->status()) : 0);
  out.text(report.error ? report.error->what() : "");
  out.text(report.word);
  return out.fields();
}

Report unpacked(const std::string& bytes) {
  comm::FrameReader in(bytes);
  Report report;
  report.num_ranks = static_cast<int32_t>(in.u32());
  const int64_t status = in.i64();
  const std::string text = in.text();
  report.word = in.text();
  in.finish();
  if (status != 0) report.error.emplace(static_cast<Status>(status), text);
  return report;
}

}  // namespace

std::vector<Field> agreed_fields(const Job& job, const data::Fingerprint& data) {
  std::vector<Field> fields;
  for (const auto& [name, value] : data) fields.emplace_back(base::text("data set ", name), value);
  fields.emplace_back("sampler", job.sampler->describe());
  add_model(*job.model, fields);
  add_trainer(job.config, fields);
  return fields;
}

std::string own_name(const comm::Processes& processes) {
  return base::text("process ", processes.process(), " on host ",
                    processes.host(processes.process()));
}

std::shared_ptr<comm::ThreadGroup> meet(const Job& job, Training& training,
                                        const base::CancelToken& cancel) {
  const std::shared_ptr<comm::Processes>& processes = job.environment.processes;
  std::vector<Field> fields;
  try {
    comm::check_world(job.config.num_ranks);
    fields = agreed_fields(job, training.fingerprint(job));
  } catch (const std::exception& error) {
    processes->abort(base::text(own_name(*processes), ": ", error.what()));
    throw;
  }
  processes->agree("trainer", fields, wait_to_meet(job, cancel));
  auto group = comm::make_group(processes, job.config.num_ranks, wait_to_meet(job, cancel));
  training.set_world_size(job.config, group->world_size());
  return group;
}

Report report_of(const Job& job, const std::function<std::string()>& body) {
  Report report;
  report.num_ranks = job.config.num_ranks;
  try {
    report.word = body();
  } catch (const base::Error& error) {
    report.error = error;
  } catch (const std::bad_alloc&) {
    report.error.emplace(Status::kNoMemory, "out of memory");
  } catch (const std::exception& error) {
    const std::string text = error.what();
    report.error.emplace(Status::kInternal, text.substr(0, text.find('\n')));
  }
  return report;
}

std::vector<Report> exchange_reports(const Job& job, const std::string& call, const Report& own,
                                     const base::CancelToken& cancel, int speaker) {
  const comm::Processes& processes = *job.environment.processes;
  std::vector<Report> reports;
  for (const std::string& bytes :
       job.environment.processes->gather(call, packed(own), wait_to_meet(job, cancel)))
    reports.push_back(unpacked(bytes));
  for (int p = 0; p < processes.num_processes(); ++p) {
    if (!reports[p].error) continue;
    const base::Error& error = *reports[p].error;
    if (p == speaker || p == processes.process()) throw base::Error(error);
    throw base::Error(error.status(), base::text("process ", p, " on host ", processes.host(p),
                                                 ": ", error.what()));
  }
  return reports;
}

int world_size(const std::vector<Report>& reports) {
  int sum = 0;
  for (const Report& report : reports) sum += report.num_ranks;
  return sum;
}

}  // namespace gnnmg::train
