// The handle table: tokens of (kind, slot, generation) in place of addresses, so that any value may
// be handed in and a stale or foreign one is noticed instead of followed. One table for the
// process, because a token has to be judged before anything is known about it.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "capi/object.h"

namespace gnnmg::capi {

// A new token for `object`. Error(kNoMemory) when there is no slot for it.
void* add_handle(std::shared_ptr<Object> object);

// The object of a live token of this kind, else null. Any thread.
std::shared_ptr<Object> find_handle(const void* token, Kind kind) noexcept;

// Makes a token stale and returns its object; null when it was not a live one of this kind.
std::shared_ptr<Object> remove_handle(const void* token, Kind kind) noexcept;

// Makes all tokens of objects of a context stale and returns these, each once a handle.
std::vector<std::shared_ptr<Object>> remove_handles_of(const Context* context);

// Makes every token stale and returns the objects, each once a handle.
std::vector<std::shared_ptr<Object>> take_all_handles();

int64_t num_handles() noexcept;

}  // namespace gnnmg::capi
