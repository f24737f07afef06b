// Whether a sanitizer watches, under which a test takes three to twenty times as long: sweeps whose
// length adds statistics, and no code that another case does not run, are shorter there.
#pragma once

namespace gnnmg::test {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr bool kSanitized = true;
#else
inline constexpr bool kSanitized = false;
#endif

}  // namespace gnnmg::test
