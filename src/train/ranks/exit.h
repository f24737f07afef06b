// Ranks at work when the host's program ends: LibTorch's static objects are destroyed then, and a
// rank that still computes would crash the program on its way out (device/exit.h).
#pragma once

namespace gnnmg::train {

// Ranks are canceled before the objects that LibTorch has made until now are destroyed. Call this
// after LibTorch's first uses. Only the first few calls in a process do anything.
void watch_exit() noexcept;

}  // namespace gnnmg::train
