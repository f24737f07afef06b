#include "comm/processes.h"

#include <algorithm>
#include <system_error>

#include "base/signals.h"
#include "comm/join/control.h"

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
  control_->abort(
      base::text(control_->process_text(process()), " has left the job without a shutdown"));
  control_->stop();
  // The last share may go while the control thread ends a communicator.
  if (thread_.get_id() == std::this_thread::get_id())
    thread_.detach();
  else
    thread_.join();
  control_->clear();
}

std::shared_ptr<Processes> Processes::join(const JoinConfig& config, const Wait& wait,
                                           const OpenBoard& board) {
  return std::shared_ptr<Processes>(new Processes(
      std::make_shared<Control>(join_processes(config, wait, board), config.heartbeat_ms)));
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
                                           const Wait& wait) {
  return control_->gather(name, bytes, wait);
}

void Processes::agree(const std::string& name, const std::vector<Field>& fields, const Wait& wait) {
  FrameWriter own;
  own.u32(static_cast<uint32_t>(fields.size()));
  for (const auto& [field, value] : fields) {
    own.text(field);
    own.text(value);
  }
  const std::string call = base::text("agree ", name);
  const std::vector<std::string> all = control_->gather(call, own.fields(), wait);
  std::vector<std::vector<Field>> values;
  for (const std::string& bytes : all) {
    FrameReader reader(bytes);
    auto& list = values.emplace_back();
    for (uint32_t n = reader.count(8); n > 0; --n) {
      std::string field = reader.text();
      list.emplace_back(std::move(field), reader.text());
    }
    reader.finish();
  }
  const auto find = [&](int process, const std::string& field) -> const std::string* {
    const auto found = std::ranges::find(values[process], field, &Field::first);
    return found == values[process].end() ? nullptr : &found->second;
  };
  const auto say = [&](int process, const std::string& field) {
    const std::string* value = find(process, field);
    return base::text(control_->process_text(process), " has ", value ? *value : "none");
  };
  // All look in the same order, that of the fields, so all find the same.
  for (int p = 1; p < num_processes(); ++p)
    for (const int side : {0, p})
      for (const auto& [field, value] : values[side]) {
        if (const std::string* other = find(side == 0 ? p : 0, field); !other || *other != value)
          throw base::Error(
              Status::kMismatch,
              base::text(name, ": ", field, " differs: ", say(p, field), ", ", say(0, field)), p);
      }
}

void Processes::shutdown(const Wait& wait) {
  control_->gather(std::string(kFinish), "", wait);
  control_->finish();
}

}  // namespace gnnmg::comm
