// The object of every handle: its kind, its context, and its users.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <string_view>

#include "base/host_queue.h"

namespace gnnmg::capi {

// Kinds of handles. Numbers are part of a handle's value and never 0.
enum class Kind : uint8_t {
  kContext = 1,
  kGraph,
  kDataset,
  kSampler,
  kSink,
  kLoader,
  kBatch,
  kModel,
  kOptimizer,
  kComm,
  kTrainer,
  kServer,
  kPredictor,
  kTensor,
};
const char* kind_name(Kind kind) noexcept;  // "graph" and so on

// The function of gnnmg.h that runs on this thread; null outside of them.
const char* current_call() noexcept;
// Makes the present thread's call known by its name.
class CallName {
 public:
  explicit CallName(const char* name) noexcept;
  ~CallName();
  CallName(const CallName&) = delete;
  CallName& operator=(const CallName&) = delete;

 private:
  const char* const outer_;  // the call around a callback that makes this one
};

// The users of an object: any number of readers or one holder. Never waits.
class Occupancy {
 public:
  bool try_read() noexcept {
    int32_t seen = state_.load(std::memory_order_relaxed);
    while (seen >= 0)
      if (state_.compare_exchange_weak(seen, seen + 1, std::memory_order_acquire)) return true;
    return false;
  }
  void end_read() noexcept { state_.fetch_sub(1, std::memory_order_release); }
  bool try_hold() noexcept {
    int32_t free = 0;
    if (!state_.compare_exchange_strong(free, -1, std::memory_order_acquire)) return false;
    pending_ = false;
    holder_ = current_call();
    return true;
  }
  void end_hold() noexcept {
    holder_ = nullptr;
    state_.store(0, std::memory_order_release);
  }
  // The present call, whose job holds or reads the object, answers GNNMG_PENDING.
  void note_pending() noexcept {
    holder_ = current_call();
    pending_ = true;
  }
  // The job of a reader has ended.
  void end_job_read() noexcept {
    holder_ = nullptr;
    pending_ = false;
    end_read();
  }

  // For messages: the call that holds it, or a reader that has answered GNNMG_PENDING; null: none.
  // pending(): that call has answered GNNMG_PENDING.
  const char* holder() const noexcept { return holder_; }
  bool pending() const noexcept { return pending_; }

 private:
  std::atomic<int32_t> state_{0};  // -1: held; above 0: readers
  std::atomic<const char*> holder_{nullptr};
  std::atomic<bool> pending_{false};
};

class Context;

class Object {
 public:
  virtual ~Object() = default;
  Object(const Object&) = delete;
  Object& operator=(const Object&) = delete;

  const Kind kind;
  // Keeps the context alive for as long as its objects; null for a context itself and for tensors.
  const std::shared_ptr<Context> context;
  // The context's queue, where callbacks wait for a host thread.
  const std::shared_ptr<base::HostQueue> queue;
  Occupancy occupancy;

  // The host has freed a handle of this object: work of its own is to end soon. Must not wait.
  virtual void cancel_work() noexcept {}
  // True when destruction may have to wait for threads of the object: it is then left to a thread
  // of the library's own.
  virtual bool ends_slowly() const noexcept { return false; }
  // For an object that ends slowly: none of its threads is at work, so that its end takes no time
  // to speak of.
  virtual bool idle() const noexcept { return false; }

  // True where it has something on a GPU: it is used while GPUs may be (device/exit.h).
  virtual bool on_device() const noexcept { return false; }

  // A copy of `text` that lives as long as the object. Any thread.
  const char* keep_text(std::string_view text) const;

 protected:
  Object(Kind object_kind, std::shared_ptr<Context> object_context,
         std::shared_ptr<base::HostQueue> object_queue)
      : kind(object_kind), context(std::move(object_context)), queue(std::move(object_queue)) {}

 private:
  mutable std::mutex texts_mutex_;
  mutable std::set<std::string, std::less<>> texts_;
};

// Drops a reference. The last one may go at any time, on any thread: an object on a GPU is kept
// when the program ends.
void drop_object(const Object* object) noexcept;
template <typename T, typename... Args>
std::shared_ptr<T> make_object(Args&&... args) {
  return std::shared_ptr<T>(new T(std::forward<Args>(args)...), [](const T* t) { drop_object(t); });
}

// Makes the object's context, if it has one, the present call's: its host queue is visited, and
// allocations count for it. The first object of a call decides. (context.cpp)
void visit(const Object& object) noexcept;

// A share in an object that others may read at the same time; given back at the end.
template <typename T>
class Read {
 public:
  Read() = default;
  // `object` must have been taken with try_read().
  explicit Read(std::shared_ptr<T> object) : object_(std::move(object)) {}
  Read(Read&& other) noexcept : object_(std::move(other.object_)) {}
  Read& operator=(Read&& other) noexcept {
    std::swap(object_, other.object_);
    return *this;
  }
  ~Read() {
    if (object_) object_->occupancy.end_read();
  }
  T* operator->() const { return object_.get(); }
  T& operator*() const { return *object_; }
  explicit operator bool() const { return object_ != nullptr; }
  const std::shared_ptr<T>& share() const { return object_; }
  // The object stays read; the new owner ends that.
  std::shared_ptr<T> keep() { return std::move(object_); }

 private:
  std::shared_ptr<T> object_;
};

// An object that nobody else works on; given back at the end unless released to outlive the call.
template <typename T>
class Hold {
 public:
  Hold() = default;
  // `object` must have been taken with try_hold().
  explicit Hold(std::shared_ptr<T> object) : object_(std::move(object)) {}
  Hold(Hold&& other) noexcept : object_(std::move(other.object_)) {}
  Hold& operator=(Hold&& other) noexcept {
    std::swap(object_, other.object_);
    return *this;
  }
  ~Hold() {
    if (object_) object_->occupancy.end_hold();
  }
  T* operator->() const { return object_.get(); }
  T& operator*() const { return *object_; }
  explicit operator bool() const { return object_ != nullptr; }
  const std::shared_ptr<T>& share() const { return object_; }
  // The object stays held; the new owner ends the hold.
  std::shared_ptr<T> keep() { return std::move(object_); }

 private:
  std::shared_ptr<T> object_;
};

}  // namespace gnnmg::capi
