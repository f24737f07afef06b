// Ranks at work when the host's program ends: LibTorch's static objects are destroyed then, and a
// rank that still computes would crash the program on its way out (base/exit.h).
#pragma once

namespace gnnmg::train {

// The ranks are called off in front of the destruction of what LibTorch has made until now; called
// behind its first uses. Only the first few calls in a process do anything.
void watch_exit() noexcept;

}  // namespace gnnmg::train
