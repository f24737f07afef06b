// Detects callbacks of the host that were left without a return. For callbacks that run, see
// host_queue.h.
#pragma once

namespace gnnmg::base {

// True on a thread where HostQueue::inside_callback() is true although the callback was left by
// longjmp() or the like: the caller's frame lies above the frame that called the callback. Calls
// from deeper frames, or from stacks that the program has made itself, are not detected.
bool callback_was_left() noexcept;

}  // namespace gnnmg::base
