#include "train/job/meeting.h"

#include <algorithm>
#include <new>

#include "base/thread_room.h"
#include "comm/check.h"
#include "comm/join/frame.h"
#include "comm/nccl/thread_group.h"

namespace gnnmg::train {
namespace {

using base::Status;

comm::Wait wait_to_meet(const Job& job, const base::CancelToken& cancel) {
  comm::Wait wait;
  wait.deadline = base::Deadline::after_ms(job.environment.meet_timeout_ms);
  wait.cancel = cancel;
  wait.excused = [&host = job.environment.host] { return host.has_calls(); };
  wait.stall = base::Deadline::after_ms(job.config.stall_limit_ms);
  return wait;
}

// Communicator of the ranks of all processes, each on its device if there are devices.
std::shared_ptr<comm::ThreadGroup> make_group(const Job& job, const comm::Share& share,
                                              const comm::Wait& wait) {
  const Environment& environment = job.environment;
  const std::vector<int>& devices = job.config.devices;
  if (devices.empty()) return comm::make_group(environment.processes, share, wait);
  const device::Table& table = *environment.devices;
  return comm::nccl::make_group(environment.processes, share, *table.of<comm::nccl::Table>(), table,
                                devices, wait);
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

std::string own_name(const comm::Processes& processes) {
  return base::text("process ", processes.process(), " on host ",
                    processes.host(processes.process()));
}

std::shared_ptr<comm::ThreadGroup> meet(const Job& job, Training& training, const std::string& call,
                                        std::optional<base::Error> obstacle,
                                        const base::CancelToken& cancel) {
  comm::Share share{.num_ranks = job.config.num_ranks, .name = "trainer"};
  if (!obstacle)
    obstacle = report_of(job, [&] {
                 comm::check_world(job.config.num_ranks);
                 share.fields = agreed_fields(job, training.fingerprint(job));
                 share.fields.insert(share.fields.begin(), {"call", call});
                 return "";
               }).error;
  share.obstacle = std::move(obstacle);
  auto group = make_group(job, share, wait_to_meet(job, cancel));
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
  } catch (const std::system_error& error) {
    report.error = base::refused_resource(error);
  } catch (const std::exception& error) {
    const std::string text = error.what();
    report.error.emplace(Status::kInternal, text.substr(0, text.find('\n')));
  }
  return report;
}

std::vector<Report> exchange_reports(const Job& job, const std::string& call, const Report& own,
                                     const base::CancelToken& cancel, comm::Ending ending,
                                     int speaker) {
  const comm::Processes& processes = *job.environment.processes;
  std::vector<Report> reports;
  for (const std::string& bytes :
       job.environment.processes->gather(call, packed(own), wait_to_meet(job, cancel), ending))
    reports.push_back(unpacked(bytes));
  for (int p = 0; p < processes.num_processes(); ++p) {
    if (!reports[p].error) continue;
    const base::Error& error = *reports[p].error;
    job.environment.processes->drain();  // the host may end the program over it
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
