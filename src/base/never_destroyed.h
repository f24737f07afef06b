// An object for a static variable that threads use after the end of main(): nothing destroys it.
// Its memory is static, so making it allocates nothing.
#pragma once

#include <cstddef>
#include <new>
#include <type_traits>

namespace gnnmg::base {

template <typename T>
class NeverDestroyed {
 public:
  NeverDestroyed() noexcept(std::is_nothrow_default_constructible_v<T>) { new (place_) T; }
  NeverDestroyed(const NeverDestroyed&) = delete;
  NeverDestroyed& operator=(const NeverDestroyed&) = delete;
  T& operator*() noexcept { return *std::launder(reinterpret_cast<T*>(place_)); }

 private:
  alignas(T) std::byte place_[sizeof(T)];
};

}  // namespace gnnmg::base
