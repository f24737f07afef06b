// Copies between a field of a config in gnnmg.h and a member of the library's own config.
#pragma once

#include <type_traits>

#include "capi/arguments.h"
#include "train/choices.h"

namespace gnnmg::capi {

template <typename T, typename Field>
void put_field(const T& value, Field& field) {
  field = static_cast<Field>(value);
}

// Error(kInvalidArgument) for a flag or constant that does not exist.
template <typename T, typename Field>
void take_field(const Field& field, const char* name, T& value) {
  const std::string full = base::text("config.", name);
  if constexpr (std::is_same_v<T, bool>) {
    check_flag(field, full.c_str());
  } else if constexpr (std::is_enum_v<T>) {
    const nn::Choices& choices = nn::choices_of(value);
    check_constant(field, choices.first, choices.constant(choices.first).c_str(), choices.last(),
                   choices.constant(choices.last()).c_str(), full.c_str());
  }
  value = static_cast<T>(field);
}

// Visitors of setting lists: the first copies defaults, the second the caller's values.
inline constexpr auto kPutFields = [](const char*, auto& field, const auto& value) {
  put_field(value, field);
};
inline constexpr auto kTakeFields = [](const char* name, const auto& field, auto& value) {
  take_field(field, name, value);
};

}  // namespace gnnmg::capi
