#include "capi/handles.h"

#include <mutex>
#include <shared_mutex>

#include "base/error.h"
#include "base/never_destroyed.h"

namespace gnnmg::capi {
namespace {

static_assert(sizeof(void*) == 8, "a token takes the 64 bits of a pointer");

// Bits of a token: kind 8, slot 24, generation 32. The kind's byte starts at 0x40, so a token is no
// address that x86-64 or arm64 could map: code that dereferences one faults at once.
constexpr uint64_t kKindBase = 0x40;
constexpr uint32_t kMaxSlots = uint32_t{1} << 24;

struct Slot {
  uint32_t generation = 1;
  Kind kind{};
  std::shared_ptr<Object> object;
};

struct Table {
  std::shared_mutex mutex;
  std::vector<Slot> slots;
  std::vector<uint32_t> free;
  int64_t live = 0;
};

// Never destroyed: threads of the library may look handles up while the process ends.
Table& table() noexcept {
  static base::NeverDestroyed<Table> instance;
  return *instance;
}

struct Token {
  Kind kind;
  uint32_t slot;
  uint32_t generation;
};

void* pack(const Token& token) noexcept {
  return reinterpret_cast<void*>((kKindBase + static_cast<uint64_t>(token.kind)) << 56 |
                                 static_cast<uint64_t>(token.slot) << 32 | token.generation);
}

Token unpack(const void* value) noexcept {
  const uint64_t bits = reinterpret_cast<uint64_t>(value);
  return {static_cast<Kind>((bits >> 56) - kKindBase), static_cast<uint32_t>(bits >> 32) & 0xFFFFFF,
          static_cast<uint32_t>(bits)};
}

// With the table's mutex held.
Slot* live_slot(const void* value, Kind kind) noexcept {
  const Token token = unpack(value);
  Table& t = table();
  if (value == nullptr || token.kind != kind || token.slot >= t.slots.size()) return nullptr;
  Slot& slot = t.slots[token.slot];
  if (slot.object == nullptr || slot.kind != kind || slot.generation != token.generation)
    return nullptr;
  return &slot;
}

// Makes the slot's token stale, with the table's mutex held.
std::shared_ptr<Object> empty(Slot& slot) noexcept {
  Table& t = table();
  std::shared_ptr<Object> object = std::move(slot.object);
  slot.object = nullptr;
  --t.live;
  // A slot whose generations are used up is never used again.
  if (++slot.generation != 0) t.free.push_back(static_cast<uint32_t>(&slot - t.slots.data()));
  return object;
}

}  // namespace

void* add_handle(std::shared_ptr<Object> object) {
  Table& t = table();
  std::unique_lock lock(t.mutex);
  if (t.free.empty()) {
    if (t.slots.size() >= kMaxSlots)
      base::fail(base::Status::kNoMemory, "no more than ", kMaxSlots, " handles can be alive");
    if (t.free.capacity() <= t.slots.size())  // so that remove_handle() never allocates
      t.free.reserve(2 * t.slots.size() + 64);
    t.slots.emplace_back();
    t.free.push_back(static_cast<uint32_t>(t.slots.size() - 1));
  }
  const uint32_t index = t.free.back();
  t.free.pop_back();
  Slot& slot = t.slots[index];
  slot.kind = object->kind;
  slot.object = std::move(object);
  ++t.live;
  return pack({slot.kind, index, slot.generation});
}

std::shared_ptr<Object> find_handle(const void* token, Kind kind) noexcept {
  std::shared_lock lock(table().mutex);
  const Slot* slot = live_slot(token, kind);
  return slot ? slot->object : nullptr;
}

std::shared_ptr<Object> remove_handle(const void* token, Kind kind) noexcept {
  Table& t = table();
  std::unique_lock lock(t.mutex);
  Slot* slot = live_slot(token, kind);
  return slot == nullptr ? nullptr : empty(*slot);
}

std::vector<std::shared_ptr<Object>> remove_handles_of(const Context* context) {
  Table& t = table();
  std::unique_lock lock(t.mutex);
  std::vector<std::shared_ptr<Object>> objects;
  objects.reserve(static_cast<size_t>(t.live));
  for (Slot& slot : t.slots)
    if (slot.object != nullptr && slot.object->context.get() == context)
      objects.push_back(empty(slot));
  return objects;
}

std::vector<std::shared_ptr<Object>> take_all_handles() {
  Table& t = table();
  std::unique_lock lock(t.mutex);
  std::vector<std::shared_ptr<Object>> objects;
  objects.reserve(static_cast<size_t>(t.live));
  for (Slot& slot : t.slots) {
    if (slot.object == nullptr) continue;
    objects.push_back(std::move(slot.object));
    slot.object = nullptr;
    ++slot.generation;
  }
  t.live = 0;
  return objects;
}

int64_t num_handles() noexcept {
  std::shared_lock lock(table().mutex);
  return table().live;
}

}  // namespace gnnmg::capi
