#include "capi/arguments.h"

#include "capi/reaper.h"
#include "device/exit.h"
#include "io/bytes.h"

namespace gnnmg::capi {

void copy_text(std::string_view text, char* out, size_t capacity) noexcept {
  if (capacity == 0) return;
  const std::string_view fits = base::beginning(text, capacity - 1);
  fits.copy(out, fits.size());
  out[fits.size()] = '\0';
}

void give_text(std::string_view text, char* out, size_t capacity, size_t* needed) {
  if (out == nullptr && capacity > 0) fail(Status::kInvalidArgument, "argument 'text' is NULL");
  copy_text(text, out, capacity);
  *needed = text.size() + 1;
}

void check_flag(int32_t value, const char* name) {
  if (value != 0 && value != 1)
    fail(Status::kInvalidArgument, name, " is ", value, ", expected 0 or 1");
}

void check_choice(int32_t value, int32_t first, int32_t last, const char* name) {
  if (value < first || value > last)
    fail(Status::kInvalidArgument, name, " is ", value, ", expected ", first, " to ", last);
}

void check_constant(int32_t value, int32_t first, const char* first_name, int32_t last,
                    const char* last_name, const char* name) {
  if (value < first || value > last)
    fail(Status::kInvalidArgument, name, " is ", value, ", expected ", first_name, " (", first,
         ") to ", last_name, " (", last, ")");
}

void check_least(int64_t value, int64_t least, const char* name) {
  if (value < least)
    fail(Status::kInvalidArgument, name, " is ", value, ", expected at least ", least);
}

void check_listed(int64_t number, const char* name) {
  if (number < 0)
    fail(Status::kNotFound, "argument '", name, "' is ", number, ", expected 0 or more");
}

void check_timeout(int64_t timeout_ms) {
  if (timeout_ms < -1)
    fail(Status::kInvalidArgument, "argument 'timeout_ms' is ", timeout_ms,
         ", expected milliseconds, or -1 for no limit but the deadlines of the configuration");
}

void check_dtype(gnnmg_dtype dtype, const char* name) {
  GNNMG_CHECK_CONSTANT(dtype, GNNMG_DTYPE_F32, GNNMG_DTYPE_BOOL, name);
}

std::string_view read_text(const char* text, const char* name) {
  constexpr size_t kLimit = 65536;
  if (text == nullptr) fail(Status::kInvalidArgument, "argument '", name, "' is NULL");
  const size_t size = strnlen(text, kLimit);
  if (size == kLimit)
    fail(Status::kInvalidArgument, "argument '", name, "' is longer than ", kLimit - 1, " bytes");
  return {text, size};
}

std::string_view read_name(const char* text, const char* name) {
  const std::string_view result = read_text(text, name);
  if (result.empty()) fail(Status::kInvalidArgument, "argument '", name, "' is empty");
  return result;
}

std::string optional_name(const char* text, const char* name, const char* otherwise) {
  return text == nullptr ? otherwise : std::string(read_name(text, name));
}

std::string_view read_new_name(const char* text, const char* name) {
  const std::string_view result = read_name(text, name);
  if (!io::is_utf8(result))
    fail(Status::kInvalidArgument, "argument '", name, "' is \"", io::printable(result),
         "\", expected UTF-8");
  return result;
}

void fail_handle(const void* token, Kind kind, const char* name) {
  if (token == nullptr)
    fail(Status::kHandle, "argument '", name, "' is NULL, expected a ", kind_name(kind));
  fail(Status::kHandle, "argument '", name, "' is no live handle of a ", kind_name(kind),
       ": freed, ", kind == Kind::kTensor ? "imported, " : "", "of another kind, or garbage");
}

namespace {
// The function that ends calls on such an object early.
const char* cancel_of(Kind kind) {
  switch (kind) {
    case Kind::kTrainer:
      return "gnnmg_trainer_cancel()";
    case Kind::kLoader:
      return "gnnmg_loader_cancel()";
    case Kind::kComm:
      return "gnnmg_comm_cancel()";
    default:
      return "gnnmg_context_cancel()";
  }
}
}  // namespace

void fail_busy(const Object& object, const char* name) {
  const char* const kind = kind_name(object.kind);
  const char* const call = object.occupancy.holder();
  if (call == nullptr) fail(Status::kBusy, "argument '", name, "': another call uses this ", kind);
  if (object.occupancy.pending())
    fail(Status::kBusy, "argument '", name, "': ", call,
         "() returned GNNMG_PENDING and holds this ", kind,
         "; repeat it with equal arguments until it has ended, or end it with ",
         cancel_of(object.kind), " and repeat it once");
  if (object.kind == Kind::kModel && std::string_view(call).starts_with("gnnmg_trainer_"))
    fail(Status::kBusy, "argument '", name, "': a trainer holds this model, from ", call,
         "() until a call reports the end; gnnmg_trainer_snapshot() copies the model");
  fail(Status::kBusy, "argument '", name, "': ", call, "() is running and holds this ", kind);
}

void check_may_wait() {
  if (left_a_callback())
    fail(Status::kCallback,
         "a callback on this thread never returned: it was left by longjmp() or by an error of "
         "another language, which the library does not allow. What it was called for stays held, "
         "and no function that waits can be called here any more; wait on another thread, and have "
         "callbacks return non-zero in place of jumping (see Callbacks in gnnmg.h)");
  if (base::HostQueue::inside_callback())
    fail(Status::kBusy, current_call(),
         "() waits, and was called inside a callback, or after one that was left by longjmp(); "
         "call it after the callback has returned");
}

void let_go(std::shared_ptr<Object> object) {
  if (object == nullptr) return;
  visit_queue(object->queue);
  const bool idle = object->idle() && !base::HostQueue::inside_callback();
  object->cancel_work();
  const device::Use use;
  if (!use && object->on_device()) return;  // the object stays there (drop_object())
  if (object->ends_slowly()) reap(std::move(object), idle);
}

void free_handle(const void* token, Kind kind) {
  if (token == nullptr || forked()) return;
  in_call([token, kind] { let_go(remove_handle(token, kind)); });
}

}  // namespace gnnmg::capi
