// The topology in memory that kernels read: copied to the device, or pinned in host memory, each
// array once per process.
#pragma once

#include <algorithm>
#include <cstring>
#include <map>
#include <mutex>
#include <type_traits>

#include "cuda/grid/buffer.h"
#include "cuda/sample/hop.h"
#include "sample/device.h"

namespace gnnmg::cuda {

// Host arrays that kernels read in place, with use counts. Any thread.
class PinnedArrays {
 public:
  static PinnedArrays& instance() {
    // Graphs may be closed after static objects are destroyed.
    static PinnedArrays& arrays = *new PinnedArrays;
    return arrays;
  }
  // Returns the address for kernels. Small or partly pinned arrays are copied.
  const void* open(PinnedMemory& memory, const void* array, int64_t bytes) {
    const std::lock_guard lock(mutex_);
    const auto found = arrays_.find({array, bytes});
    if (found != arrays_.end()) {
      ++found->second.uses;
      return found->second.address;
    }
    // The entry first, so that no pinned array is without one.
    const auto added = arrays_.emplace(Name{array, bytes}, Pinned{&memory}).first;
    try {
      added->second.address = pin(memory, array, bytes, added->second.copied);
    } catch (...) {
      arrays_.erase(added);
      throw;
    }
    return added->second.address;
  }
  void close(const void* array, int64_t bytes) noexcept {
    const std::lock_guard lock(mutex_);
    const auto found = arrays_.find({array, bytes});
    if (found == arrays_.end() || --found->second.uses > 0) return;
    const Pinned& pinned = found->second;
    if (pinned.copied)
      pinned.memory->release(pinned.address);
    else
      pinned.memory->give_back(const_cast<void*>(array));
    arrays_.erase(found);
  }

 private:
  using Name = std::pair<const void*, int64_t>;
  struct Pinned {
    PinnedMemory* memory;
    void* address = nullptr;
    bool copied = false;
    int64_t uses = 1;
  };
  static void* pin(PinnedMemory& memory, const void* array, int64_t bytes, bool& copied) {
    if (bytes >= memory.least_to_adopt()) {
      try {
        return memory.adopt(const_cast<void*>(array), bytes, "a graph's array");
      } catch (const base::Error& error) {
        if (error.status() != base::Status::kInvalidArgument) throw;
      }
    }
    void* copy = memory.allocate(bytes, "a graph's array");
    std::memcpy(copy, array, static_cast<size_t>(bytes));
    copied = true;
    return copy;
  }
  std::mutex mutex_;
  std::map<Name, Pinned> arrays_;
};

// One array of a graph, in one of the two places.
class GraphArray {
 public:
  explicit GraphArray(Memory& memory) : copy_(memory) {}
  ~GraphArray() {
    if (pinned_ != nullptr) PinnedArrays::instance().close(pinned_, bytes_);
  }
  GraphArray(const GraphArray&) = delete;
  GraphArray& operator=(const GraphArray&) = delete;

  template <typename Queue>
  const void* open(Queue& queue, const void* array, int64_t bytes, device::Placement placement) {
    if (array == nullptr || bytes == 0) return nullptr;
    if (placement == device::Placement::kPinned) {
      const void* address = PinnedArrays::instance().open(queue.pinned_memory(), array, bytes);
      pinned_ = array;
      bytes_ = bytes;
      return address;
    }
    uint8_t* copy = copy_.reserve(bytes, "a graph's array");
    queue.copy(copy, array, bytes);
    return copy;
  }

 private:
  Buffer<uint8_t> copy_;
  const void* pinned_ = nullptr;
  int64_t bytes_ = 0;
};

class KernelGraph {
 public:
  template <typename Queue>
  KernelGraph(Queue& queue, const sample::HostCsc& csc, device::Placement placement)
      : indptr_(queue.device_memory()),
        indices_(queue.device_memory()),
        edge_ids_(queue.device_memory()) {
    csc_.num_nodes = csc.num_nodes;
    csc_.wide_edge_ids = csc.wide_edge_ids;
    csc_.indptr = static_cast<const int64_t*>(
        indptr_.open(queue, csc.indptr, (csc.num_nodes + 1) * 8, placement));
    csc_.indices = static_cast<const int32_t*>(
        indices_.open(queue, csc.indices, csc.num_edges * 4, placement));
    csc_.edge_ids =
        edge_ids_.open(queue, csc.edge_ids, csc.num_edges * (csc.wide_edge_ids ? 8 : 4), placement);
    num_edges_ = csc.num_edges;
    queue.synchronize();
    if (placement == device::Placement::kPinned) std::copy_n(csc.kept, 3, kept_);
  }
  const KernelCsc& csc() const { return csc_; }
  int64_t num_edges() const { return num_edges_; }

 private:
  base::Tensor kept_[3];  // destroyed after the pins
  GraphArray indptr_, indices_, edge_ids_;
  KernelCsc csc_{};
  int64_t num_edges_ = 0;
};

}  // namespace gnnmg::cuda
