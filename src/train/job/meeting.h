// Agreement between the processes of a training: equal settings before the first step, and the
// outcome of each collective call.
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

// Values that must be equal on all processes of a training: data, model, sampler, plan, rates.
// Numbers of ranks and threads may differ.
std::vector<comm::Field> agreed_fields(const Job& job, const data::Fingerprint& data);

// The subset that determines mini-batches for given data and weights (sampler and model), and the
// choice of the best weights.
std::vector<comm::Field> settings_fields(const Job& job);

// Collective among processes. Error(kMismatch) on all, naming process and field, unless the fields
// are equal; otherwise a communicator of all ranks. A process that cannot take part, because of
// `obstacle` or an own failure, reports this here; the others get it as Error(kAborted).
std::shared_ptr<comm::ThreadGroup> meet(const Job& job, Training& training, const std::string& call,
                                        std::optional<base::Error> obstacle,
                                        const base::CancelToken& cancel);

// "process 1 on host b"
std::string own_name(const comm::Processes& processes);

// Outcome of one process in a collective call.
struct Report {
  std::optional<base::Error> error;
  int32_t num_ranks = 0;
  std::string word;  // text for the other processes
};

// Collective. Returns the reports by process. If some have an error, all processes throw the first
// one, with its process named unless that is `speaker`, which acts for all. `ending`: the scope
// that ends when a process gives up.
std::vector<Report> exchange_reports(const Job& job, const std::string& call, const Report& own,
                                     const base::CancelToken& cancel, comm::Ending ending,
                                     int speaker = -1);
// Report with the result of `body`, or with the error that it throws.
Report report_of(const Job& job, const std::function<std::string()>& body);

// Number of ranks of all processes.
int world_size(const std::vector<Report>& reports);

}  // namespace gnnmg::train
