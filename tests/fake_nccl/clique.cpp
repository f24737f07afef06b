#include "fake_nccl/clique.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <filesystem>
#include <mutex>
#include <set>

namespace gnnmg::fake_nccl {
namespace {

// Files of this process that some rank has not opened yet: they are removed with the object.
class Files {
 public:
  ~Files() {
    for (const std::string& name : names_) unlink(name.c_str());
  }
  void add(const std::string& name) {
    const std::lock_guard lock(mutex_);
    names_.insert(name);
  }
  void remove(const std::string& name) {
    unlink(name.c_str());
    const std::lock_guard lock(mutex_);
    names_.erase(name);
  }

 private:
  std::mutex mutex_;
  std::set<std::string> names_;
};
Files& files() {
  static Files files;
  return files;
}

int64_t size_of_clique(int world) {
  return int64_t{world} * static_cast<int64_t>(sizeof(Place)) +
         int64_t{2} * world * world * static_cast<int64_t>(sizeof(Box));
}

}  // namespace

comm::nccl::Id Clique::make_id() {
  comm::nccl::Id id{};
  std::string folder = std::filesystem::temp_directory_path();
  if (folder.size() > 90) folder = "/tmp";
  const std::string name = folder + "/fake-nccl-XXXXXX";
  std::memcpy(id.bytes, name.data(), name.size());
  const int file = mkstemp(id.bytes);
  if (file < 0) return {};
  close(file);
  files().add(id.bytes);
  return id;
}

std::unique_ptr<Clique> Clique::join(const comm::nccl::Id& id, int world, int rank,
                                     const char* bus_id) {
  if (std::memchr(id.bytes, 0, sizeof id.bytes) == nullptr) return nullptr;
  const int file = open(id.bytes, O_RDWR | O_CLOEXEC);
  if (file < 0) return nullptr;
  const int64_t bytes = size_of_clique(world);
  void* memory = MAP_FAILED;
  // New bytes are zeros, and pages are allocated when they are written.
  if (ftruncate(file, bytes) == 0)
    memory = mmap(nullptr, static_cast<size_t>(bytes), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  close(file);
  if (memory == MAP_FAILED) return nullptr;
  std::unique_ptr<Clique> clique(new Clique(memory, bytes, world));
  Place& place = clique->place(rank);
  std::snprintf(place.bus_id, sizeof place.bus_id, "%s", bus_id);
  place.stage.store(Stage::kJoined);
  if (clique->all_at(Stage::kJoined)) files().remove(id.bytes);
  return clique;
}

Clique::Clique(void* memory, int64_t bytes, int world)
    : memory_(memory),
      bytes_(bytes),
      world_(world),
      places_(static_cast<Place*>(memory)),
      boxes_(reinterpret_cast<Box*>(places_ + world)) {}

Clique::~Clique() { munmap(memory_, static_cast<size_t>(bytes_)); }

Box& Clique::box(bool broadcast, int from, int to) const {
  return boxes_[(int64_t{broadcast ? 1 : 0} * world_ + from) * world_ + to];
}

bool Clique::all_at(Stage stage) const {
  for (int r = 0; r < world_; ++r) {
    const Stage now = places_[r].stage.load();
    if (now < stage || now == Stage::kAborted) return false;
  }
  return true;
}

bool Clique::broken() const {
  for (int r = 0; r < world_; ++r)
    if (places_[r].stage.load() == Stage::kAborted) return true;
  return false;
}

}  // namespace gnnmg::fake_nccl
