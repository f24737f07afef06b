#include "comm/gloo/control_store.h"

namespace gnnmg::comm::gloo {

using base::Status;

c10::intrusive_ptr<c10d::Store> ControlStore::clone() {
  return c10::make_intrusive<ControlStore>(control_, group_, state_, deadline_);
}

void ControlStore::set(const std::string& key, const std::vector<uint8_t>& value) {
  control_->put(group_, key, std::string(value.begin(), value.end()));
}

std::vector<uint8_t> ControlStore::get(const std::string& key) {
  const auto value =
      control_->get(group_, key, [&] { return state_->ended() || deadline_.passed(); });
  if (!value) base::fail(Status::kTimeout, "rendezvous: no rank has told ", key);
  return {value->begin(), value->end()};
}

bool ControlStore::check(const std::vector<std::string>& keys) {
  for (const std::string& key : keys)
    if (!control_->has(group_, key)) return false;
  return true;
}

void ControlStore::wait(const std::vector<std::string>& keys) {
  for (const std::string& key : keys) get(key);
}

void ControlStore::wait(const std::vector<std::string>& keys, const std::chrono::milliseconds&) {
  wait(keys);
}

int64_t ControlStore::add(const std::string&, int64_t) {
  base::fail(Status::kInternal, "the rendezvous counts in its store");
}

bool ControlStore::deleteKey(const std::string&) {
  base::fail(Status::kInternal, "the rendezvous deletes from its store");
}

int64_t ControlStore::getNumKeys() {
  base::fail(Status::kInternal, "the rendezvous asks for the size of its store");
}

}  // namespace gnnmg::comm::gloo
