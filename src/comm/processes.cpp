#include "comm/processes.h"

#include <algorithm>
#include <new>
#include <system_error>

#include "base/background.h"
#include "comm/join/control.h"
#include "comm/join/fields.h"

namespace gnnmg::comm {

using base::Status;

Processes::Processes(std::shared_ptr<Control> control) : control_(std::move(control)) {
  try {
    thread_ = base::start_thread([control = control_] { control->run(); });
  } catch (const std::system_error& e) {
    base::fail(Status::kNoMemory, "cannot start a thread for the control connections: ", e.what());
  }
}

Processes::~Processes() {
  leave();
  control_->stop();
  // The control thread may drop the last share while it ends a communicator.
  if (thread_.get_id() == std::this_thread::get_id())
    thread_.detach();
  else
    thread_.join();
  control_->clear();
}

std::shared_ptr<Processes> Processes::join(const JoinConfig& config, const Wait& wait,
                                           const OpenBoard& board) {
  return std::shared_ptr<Processes>(
      new Processes(std::make_shared<Control>(join_processes(config, wait, board))));
}

int Processes::process() const { return control_->process(); }
int Processes::num_processes() const { return control_->num_processes(); }
const std::string& Processes::host(int process) const { return control_->host(process); }
const std::string& Processes::address() const { return control_->address(); }
void Processes::abort(const std::string& why) noexcept { control_->abort(why); }
bool Processes::spent() const noexcept { return control_->spent(); }
void Processes::set_excuse(std::function<bool()> excuse) {
  control_->set_excuse(std::move(excuse));
}

std::vector<std::string> Processes::gather(const std::string& name, const std::string& bytes,
                                           const Wait& wait, Ending ending) {
  return control_->gather(name, bytes, wait, ending);
}

void Processes::set_leave_reason(const std::string& why) {
  std::lock_guard lock(reason_mutex_);
  leave_reason_ = base::text(": ", why);
}

void Processes::agree(const std::string& name, const std::vector<Field>& fields, const Wait& wait) {
  FrameWriter own;
  write_fields(own, fields);
  std::vector<std::vector<Field>> all;
  for (const std::string& bytes :
       control_->gather(base::text("agree ", name), own.fields(), wait)) {
    FrameReader reader(bytes);
    all.push_back(read_fields(reader));
    reader.finish();
  }
  check_fields(*control_, name, all);
}

void Processes::leave() noexcept {
  std::string why;
  try {
    std::lock_guard lock(reason_mutex_);
    why = base::text(control_->process_text(process()), " has left the job without a shutdown",
                     leave_reason_);
  } catch (const std::bad_alloc&) {  // out of memory for the error text
  }
  control_->abort(why);
}

void Processes::drain() noexcept { control_->drain(); }

void Processes::shutdown(const Wait& wait) {
  control_->gather(std::string(kFinish), "", wait, Ending::kForAll);
  control_->finish(wait);
}

}  // namespace gnnmg::comm
