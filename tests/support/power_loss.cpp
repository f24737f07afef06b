#include "support/power_loss.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <mutex>
#include <random>
#include <stdexcept>
#include <vector>

#include "support/temp_dir.h"

namespace gnnmg::test {
namespace {
namespace fs = std::filesystem;

struct Node;
using NodePtr = std::shared_ptr<Node>;
using Entries = std::map<std::string, NodePtr>;

// A file or folder: its contents, and the part of them that is durable.
struct Node {
  bool folder = false;
  std::string bytes, synced_bytes;
  Entries entries;
  std::vector<Entries> history;  // changes since the last sync, oldest first; history[0] is durable
};

struct World {
  std::string root;
  int64_t calls_left = 0;  // 0: no limit
  bool lost = false;
  NodePtr top;
  std::map<int, NodePtr> open;
  base::FileTable table;
  const base::FileTable* below = nullptr;
  std::mutex mutex;

  // Returns the folder that holds `path` and its name there; null if it is outside the root.
  std::pair<NodePtr, std::string> find_parent(const char* path) const {
    const fs::path relative = fs::path(path).lexically_normal().lexically_relative(root);
    if (relative.empty() || *relative.begin() == "..") return {};
    NodePtr at = top;
    for (const fs::path& part : relative.parent_path()) {
      const auto next = at->entries.find(part);
      if (next == at->entries.end() || !next->second->folder) return {};
      at = next->second;
    }
    return {at, relative.filename()};
  }
  NodePtr find(const char* path) const {
    const auto [parent, name] = find_parent(path);
    if (!parent) return nullptr;
    if (name == ".") return parent;
    const auto it = parent->entries.find(name);
    return it == parent->entries.end() ? nullptr : it->second;
  }
  // Called before any change; returns false and sets errno if there is no power.
  bool powered() {
    if (!lost && calls_left > 0 && --calls_left == 0) lost = true;
    if (lost) errno = EIO;
    return !lost;
  }
};

World* world = nullptr;

NodePtr scan(const fs::path& path) {
  auto node = std::make_shared<Node>();
  node->folder = fs::is_directory(path);
  if (node->folder) {
    for (const auto& entry : fs::directory_iterator(path))
      node->entries[entry.path().filename()] = scan(entry.path());
    node->history = {node->entries};
  } else {
    node->bytes = node->synced_bytes = slurp(path);
  }
  return node;
}

int watched_open(const char* path, int flags, mode_t mode) {
  const std::lock_guard lock(world->mutex);
  const bool makes = flags & O_CREAT;
  if ((makes || (flags & O_TRUNC)) ? !world->powered() : world->lost) {
    errno = EIO;
    return -1;
  }
  const int fd = world->below->open(path, flags, mode);
  if (fd < 0) return fd;
  const auto [parent, name] = world->find_parent(path);
  if (!parent) return fd;
  NodePtr node = world->find(path);
  if (!node) {
    node = std::make_shared<Node>();
    parent->entries[name] = node;
    parent->history.push_back(parent->entries);
  }
  if (flags & O_TRUNC) node->bytes.clear();
  world->open[fd] = node;
  return fd;
}

int watched_close(int fd) {
  const std::lock_guard lock(world->mutex);
  world->open.erase(fd);
  return world->below->close(fd);
}

ssize_t watched_write(int fd, const void* buffer, size_t size) {
  const std::lock_guard lock(world->mutex);
  if (!world->powered()) return -1;
  const ssize_t put = world->below->write(fd, buffer, size);
  if (const auto it = world->open.find(fd); put > 0 && it != world->open.end())
    it->second->bytes.append(static_cast<const char*>(buffer), put);
  return put;
}

int watched_sync(int fd) {
  const std::lock_guard lock(world->mutex);
  if (!world->powered()) return -1;
  if (const auto it = world->open.find(fd); it != world->open.end()) {
    Node& node = *it->second;
    node.synced_bytes = node.bytes;
    node.history = {node.entries};
  }
  return 0;  // a real sync would only cost time
}

int watched_rename(const char* from, const char* to) {
  const std::lock_guard lock(world->mutex);
  if (!world->powered()) return -1;
  const int result = world->below->rename(from, to);
  const auto [from_parent, from_name] = world->find_parent(from);
  const auto [to_parent, to_name] = world->find_parent(to);
  if (result < 0 || !from_parent || !to_parent) return result;
  const NodePtr node = from_parent->entries.at(from_name);
  from_parent->entries.erase(from_name);
  to_parent->entries[to_name] = node;
  to_parent->history.push_back(to_parent->entries);
  if (from_parent != to_parent) from_parent->history.push_back(from_parent->entries);
  return result;
}

int watched_unlink(const char* path) {
  const std::lock_guard lock(world->mutex);
  if (!world->powered()) return -1;
  const int result = world->below->unlink(path);
  if (const auto [parent, name] = world->find_parent(path); result == 0 && parent) {
    parent->entries.erase(name);
    parent->history.push_back(parent->entries);
  }
  return result;
}

int watched_mkdir(const char* path, mode_t mode) {
  const std::lock_guard lock(world->mutex);
  if (!world->powered()) return -1;
  const int result = world->below->mkdir(path, mode);
  if (const auto [parent, name] = world->find_parent(path); result == 0 && parent) {
    auto node = std::make_shared<Node>();
    node->folder = true;
    node->history = {{}};
    parent->entries[name] = node;
    parent->history.push_back(parent->entries);
  }
  return result;
}

// Returns a file's contents after a restart: its synced bytes, and a part of later ones, with the
// rest cut off or zero.
std::string surviving_bytes(const Node& node, uint64_t seed, std::mt19937_64& random) {
  if (seed == 0 || node.bytes == node.synced_bytes) return node.synced_bytes;
  if (seed == 1) return node.bytes;
  const size_t sure = std::min(node.bytes.size(), node.synced_bytes.size());
  const size_t kept = sure + random() % (node.bytes.size() - sure + 1);
  std::string bytes = node.bytes.substr(0, kept);
  if (random() % 2) bytes.resize(node.bytes.size(), '\0');
  return bytes;
}

void lay_out(const Node& node, const fs::path& path, uint64_t seed, std::mt19937_64& random) {
  if (!node.folder) {
    std::ofstream out(path, std::ios::binary);
    const std::string bytes = surviving_bytes(node, seed, random);
    out.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    if (!out.flush()) throw std::runtime_error("cannot write " + path.string());
    return;
  }
  fs::create_directories(path);
  const size_t states = node.history.size();
  const Entries& entries = node.history[seed == 0 ? 0 : seed == 1 ? states - 1 : random() % states];
  for (const auto& [name, child] : entries) lay_out(*child, path / name, seed, random);
}

}  // namespace

PowerLoss::PowerLoss(const std::string& root, int64_t calls) {
  if (world) throw std::logic_error("one PowerLoss at a time");
  world = new World;
  world->root = root;
  world->calls_left = calls;
  world->top = scan(root);
  world->below = &base::files();
  world->table = *world->below;
  world->table.open = watched_open;
  world->table.close = watched_close;
  world->table.write = watched_write;
  world->table.fsync = watched_sync;
  world->table.rename = watched_rename;
  world->table.unlink = watched_unlink;
  world->table.mkdir = watched_mkdir;
  previous_ = base::set_file_table(&world->table);
}

PowerLoss::~PowerLoss() {
  base::set_file_table(previous_);
  delete world;
  world = nullptr;
}

bool PowerLoss::lost() const { return world->lost; }

void PowerLoss::restart(uint64_t seed, const std::string& target) const {
  std::mt19937_64 random(seed);
  lay_out(*world->top, target, seed, random);
}

}  // namespace gnnmg::test
