// Checks of arguments, and delivery of results: outputs, structs with their sizes, texts,
// lists, handles.
#pragma once

#include <algorithm>
#include <cmath>
#include <concepts>
#include <cstring>
#include <span>
#include <string>
#include <string_view>

#include "base/error.h"
#include "base/host_queue.h"
#include "capi/guard.h"
#include "capi/handles.h"
#include "capi/object.h"
#include "gnnmg.h"

namespace gnnmg::capi {

using base::fail;
using base::Status;

// --- Structs that start with their size ----------------------------------------------------------

template <typename T>
concept SizedStruct = requires(T value) {
  { value.struct_size } -> std::convertible_to<uint32_t>;
};

// No struct of any version comes near this; a larger size is garbage, and nothing is read by it.
inline constexpr size_t kMaxStructSize = 16384;

template <SizedStruct T>
bool valid_size(uint32_t size) noexcept {
  return size >= sizeof(T) && size <= kMaxStructSize && size % alignof(T) == 0;
}

// --- Outputs ------------------------------------------------------------------------------------

template <typename T>
struct Out {
  T* pointer;
  const char* name;
};
template <typename T>
Out(T*, const char*) -> Out<T>;

// Sets an output to NULL or 0 and records its faults.
template <typename T>
void clear_out(const Out<T>& out, OutCheck& check) noexcept {
  if (out.pointer == nullptr) {
    if (check.missing == nullptr) check.missing = out.name;
    return;
  }
  if (reinterpret_cast<uintptr_t>(out.pointer) % alignof(T) != 0) {
    if (check.unaligned == nullptr) {
      check.unaligned = out.name;
      check.expected_size = alignof(T);
    }
    return;
  }
  if constexpr (SizedStruct<T>) {
    const uint32_t size = out.pointer->struct_size;
    if (!valid_size<T>(size)) {
      if (check.wrong_size == nullptr && check.unaligned == nullptr) {
        check.wrong_size = out.name;
        check.size = size;
        check.expected_size = sizeof(T);
      }
      return;
    }
    std::memset(static_cast<void*>(out.pointer), 0, size);
    out.pointer->struct_size = size;
  } else {
    *out.pointer = T{};
  }
}

template <typename... T>
OutCheck outs(const Out<T>&... out) noexcept {
  OutCheck check;
  (clear_out(out, check), ...);
  return check;
}

// Copies a filled struct to the caller's, as far as that goes; its size was checked by outs().
template <SizedStruct T>
void give(T* out, T value) {
  const uint32_t size = out->struct_size;
  value.struct_size = size;
  std::memcpy(static_cast<void*>(out), &value, std::min<size_t>(size, sizeof(T)));
}

// Copies as many bytes of `text` as fit, cut between UTF-8 characters, and a NUL.
void copy_text(std::string_view text, char* out, size_t capacity) noexcept;

// The (text, capacity, needed) way of handing out a text.
void give_text(std::string_view text, char* out, size_t capacity, size_t* needed);

// --- Configs ------------------------------------------------------------------------------------

// The caller's struct, whatever version of it this is; all 0, the defaults, for NULL.
template <SizedStruct T>
T read_config(const T* config, const char* name = "config") {
  if (config == nullptr) return {};
  const uint32_t size = config->struct_size;
  if (!valid_size<T>(size))
    fail(Status::kInvalidArgument, "argument '", name, "': struct_size is ", size, ", expected ",
         sizeof(T), ", which is sizeof of the struct");
  const unsigned char* bytes = reinterpret_cast<const unsigned char*>(config);
  for (size_t i = sizeof(T); i < size; ++i)
    if (bytes[i] != 0)
      fail(Status::kVersion, "argument '", name, "' sets a field that version ",
           GNNMG_VERSION_MAJOR, ".", GNNMG_VERSION_MINOR, " of the library does not know (byte ", i,
           ")");
  T result{};
  std::memcpy(static_cast<void*>(&result), config, std::min<size_t>(size, sizeof(T)));
  if constexpr (requires { result.padding0; })
    if (result.padding0 != 0)
      fail(Status::kInvalidArgument, name, ".padding0 is ", result.padding0, ", expected 0");
  if constexpr (requires { result.padding1; })
    if (result.padding1 != 0)
      fail(Status::kInvalidArgument, name, ".padding1 is ", result.padding1, ", expected 0");
  if constexpr (requires { result.padding2; })
    if (result.padding2 != 0)
      fail(Status::kInvalidArgument, name, ".padding2 is ", result.padding2, ", expected 0");
  return result;
}

// --- Values -------------------------------------------------------------------------------------

void check_flag(int32_t value, const char* name);  // 0 or 1
void check_choice(int32_t value, int32_t first, int32_t last, const char* name);
// The same of an enumeration of the header's, whose constants the error names.
void check_constant(int32_t value, int32_t first, const char* first_name, int32_t last,
                    const char* last_name, const char* name);
#define GNNMG_CHECK_CONSTANT(value, first, last, name) \
  check_constant(value, first, #first, last, #last, name)
void check_least(int64_t value, int64_t least, const char* name);
// Error(kNotFound) for a negative number of an entry; past the last a list is GNNMG_END.
void check_listed(int64_t number, const char* name);
void check_timeout(int64_t timeout_ms);  // -1 or more
void check_dtype(gnnmg_dtype dtype, const char* name);

// Text of at most 64 KiB, by its kind UTF-8 or a path of the system's.
std::string_view read_text(const char* text, const char* name);
// The same, not empty.
std::string_view read_name(const char* text, const char* name);
// `otherwise` for NULL.
std::string optional_name(const char* text, const char* name, const char* otherwise);
// A name that is to be kept: it is checked to be UTF-8, which files that hold it must be.
std::string_view read_new_name(const char* text, const char* name);

template <typename T>
std::span<const T> read_list(const T* list, int64_t count, const char* name) {
  if (count < 0) fail(Status::kInvalidArgument, "number of '", name, "' is ", count);
  if (static_cast<uint64_t>(count) > PTRDIFF_MAX / sizeof(T))
    fail(Status::kInvalidArgument, "number of '", name, "' is ", count,
         ", more than any memory holds");
  if (list == nullptr && count > 0) fail(Status::kInvalidArgument, "argument '", name, "' is NULL");
  if (reinterpret_cast<uintptr_t>(list) % alignof(T) != 0)
    fail(Status::kInvalidArgument, "argument '", name, "' is not aligned to ", alignof(T),
         " bytes");
  return {list, static_cast<size_t>(count)};
}

// --- Handles ------------------------------------------------------------------------------------

[[noreturn]] void fail_handle(const void* token, Kind kind, const char* name);
[[noreturn]] void fail_busy(const Object& object, const char* name);

// (a): the object, even while another thread works on it.
template <typename T>
std::shared_ptr<T> find(const void* token, const char* name) {
  std::shared_ptr<Object> object = find_handle(token, T::kKind);
  if (object == nullptr) fail_handle(token, T::kKind, name);
  visit(*object);
  if (object->on_device()) {
    // A trainer's ranks are called off by themselves, and calls that wait for them touch no GPU.
    if (T::kKind == Kind::kTrainer)
      device::Use().require();
    else
      use_devices();
  }
  return std::static_pointer_cast<T>(std::move(object));
}

// (b): the object, together with other readers.
template <typename T>
Read<T> read(const void* token, const char* name) {
  std::shared_ptr<T> object = find<T>(token, name);
  if (!object->occupancy.try_read()) fail_busy(*object, name);
  return Read<T>(std::move(object));
}

// (c): the object alone.
template <typename T>
Hold<T> hold(const void* token, const char* name) {
  std::shared_ptr<T> object = find<T>(token, name);
  if (!object->occupancy.try_hold()) fail_busy(*object, name);
  return Hold<T>(std::move(object));
}

// A token of `Handle`'s type for an object.
template <typename Handle>
Handle* new_handle(std::shared_ptr<Object> object) {
  return static_cast<Handle*>(add_handle(std::move(object)));
}

// Waiting functions are refused inside a callback, where they could wait for themselves, and on a
// thread that has left a callback by longjmp(): Error(kBusy) and Error(kCallback).
void check_may_wait();

// Body of the _free functions.
void free_handle(const void* token, Kind kind);
// The end of a free: the object's work is called off. Null does nothing.
void let_go(std::shared_ptr<Object> object);

}  // namespace gnnmg::capi
