#include "layer_cases.h"

#include <algorithm>
#include <map>
#include <new>

namespace gnnmg::cuda {
namespace {

const TestDevice* running = nullptr;
device::Queue* running_in = nullptr;

// On the host each array has its own memory, so that sanitizers detect accesses beyond its end.
bool is_twin() { return running == nullptr || running->name.starts_with("Twin"); }

// Pinned memory is slow to allocate: blocks of powers of two, which are reused.
std::map<size_t, std::vector<void*>> idle_pieces;
char* slab = nullptr;
size_t slab_left = 0;

// Keyed by test; one per call.
std::map<std::string, std::vector<size_t>> results;
size_t num_results = 0;

// Returns the test's name without its device's.
std::string test_name() {
  const testing::TestInfo& info = *testing::UnitTest::GetInstance()->current_test_info();
  const std::string name = info.name();
  return std::string(info.test_suite_name()) + "." + name.substr(0, name.find('/'));
}

}  // namespace

void Layers::SetUp() {
  OnDevices::SetUp();
  if (IsSkipped()) return;
  running = &GetParam();
  running_in = queue();
  num_results = 0;
}

void Layers::TearDown() {
  OnDevices::TearDown();
  running = nullptr;
}

device::Queue* running_queue() { return running_in; }
void wait() { running->table->synchronize(running_in); }

void* shared_memory(size_t bytes) {
  if (is_twin()) return ::operator new(bytes);
  size_t size = 256;
  while (size < bytes) size *= 2;
  std::vector<void*>& idle = idle_pieces[size];
  if (!idle.empty()) {
    void* piece = idle.back();
    idle.pop_back();
    return piece;
  }
  constexpr size_t kSlab = size_t{1} << 24;
  if (slab_left < size) {
    slab_left = std::max(kSlab, size);
    slab = static_cast<char*>(running->table->allocate(running->device, device::Placement::kPinned,
                                                       static_cast<int64_t>(slab_left)));
  }
  slab_left -= size;
  return slab + slab_left;
}

void give_back(void* memory, size_t bytes) noexcept {
  if (is_twin()) return ::operator delete(memory);
  size_t size = 256;
  while (size < bytes) size *= 2;
  idle_pieces[size].push_back(memory);
}

void expect_as_before(const void* data, size_t bytes) {
  const size_t hash = std::hash<std::string_view>()({static_cast<const char*>(data), bytes});
  std::vector<size_t>& of_test = results[test_name()];
  if (num_results == of_test.size())
    of_test.push_back(hash);
  else
    EXPECT_EQ(of_test[num_results], hash) << "other bits than on the device before";
  ++num_results;
}

Block random_block(Random& random, int kind) {
  // Targets, sources, targets of other layers, most entries of an ordinary list.
  constexpr int64_t kShapes[kBlockKinds][4] = {
      {9, 20, 4, 5}, {1, 1, 0, 1}, {0, 3, 2, 3}, {23, 40, 9, 11}};
  const auto [num_targets, num_sources, others, most] = kShapes[kind];
  Block block{num_targets, num_sources, {0}, {}, {0}, {}, {}};
  std::vector<std::vector<std::pair<int32_t, int32_t>>> by_source(num_sources);
  for (int64_t t = 0; t < num_targets + others; ++t) {
    int64_t entries = random() % (most + 1);
    if (kind == 3 && t == 5) entries = 75;
    if (kind == 3 && t == 0) entries = 0;
    for (int64_t k = 0; k < entries; ++k) {
      // Half of the edges come from source 2, or from the target itself.
      int64_t source = random() % num_sources;
      if (random() % 4 == 0) source = std::min<int64_t>(2, num_sources - 1);
      if (random() % 4 == 0) source = t % num_sources;
      const bool other = t >= num_targets;
      const auto position = static_cast<int32_t>(block.indices.size());
      by_source[source].push_back({static_cast<int32_t>(t), other ? 0 : position});
      if (!other) block.indices.push_back(static_cast<int32_t>(source));
    }
    if (t < num_targets) block.indptr.push_back(static_cast<int32_t>(block.indices.size()));
  }
  for (const auto& list : by_source) {
    for (const auto& [target, position] : list) {
      block.out_targets.push_back(target);
      block.positions.push_back(position);
    }
    block.out_indptr.push_back(static_cast<int32_t>(block.out_targets.size()));
  }
  return block;
}

kernels::Dropout some_dropout(double rate) { return kernels::make_dropout(rate, 5, 1, 2, 3); }

}  // namespace gnnmg::cuda
