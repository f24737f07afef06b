// True under a sanitizer, where a test takes three to twenty times as long: sweeps that repeat the
// same code for statistics are shorter there.
#pragma once

namespace gnnmg::test {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr bool kSanitized = true;
#else
inline constexpr bool kSanitized = false;
#endif

}  // namespace gnnmg::test
