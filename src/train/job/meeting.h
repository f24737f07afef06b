// What the processes of a training say to each other between steps: that they are of one mind
// before the first, and how a call that all of them make has ended everywhere.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/cancel.h"
#include "comm/processes.h"
#include "data/fingerprint.h"
#include "train/job/job.h"

namespace gnnmg::train {

// All that must be equal on every process for their ranks to work on one training: data, model,
// sampler, plan, rates. How many ranks and threads a process has is its own business.
std::vector<comm::Field> agreed_fields(const Job& job, const data::Fingerprint& data);

// Of these, what a mini-batch of the plan comes to depends on beside data and weights: sampler and
// model; and what the best weights are the best by.
std::vector<comm::Field> settings_fields(const Job& job);

// Collective, by the job's processes: Error(kMismatch) on all naming process and field unless the
// fields are equal, then a communicator of all ranks. A process that cannot take part, because of
// `obstacle` or of what it finds here, comes and says so: the others get that as Error(kAborted).
std::shared_ptr<comm::ThreadGroup> meet(const Job& job, Training& training, const std::string& call,
                                        std::optional<base::Error> obstacle,
                                        const base::CancelToken& cancel);

// "process 1 on host b"
std::string own_name(const comm::Processes& processes);

// What one process reports of its part in a call.
struct Report {
  std::optional<base::Error> error;
  int32_t num_ranks = 0;
  std::string word;  // for the others
};

// Collective: everyone's reports, by process. Throws, on all alike, the error of the first process
// that has one, with that process named unless it is `speaker`, whose failure is everyone's.
// `ending`: for whom it is over when a process gives it up.
std::vector<Report> exchange_reports(const Job& job, const std::string& call, const Report& own,
                                     const base::CancelToken& cancel, comm::Ending ending,
                                     int speaker = -1);
// Runs `body`, or catches what it throws, for such a report.
Report report_of(const Job& job, const std::function<std::string()>& body);

// The number of ranks of all processes, from their reports.
int world_size(const std::vector<Report>& reports);

}  // namespace gnnmg::train
