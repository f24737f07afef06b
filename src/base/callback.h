// Callbacks of the host that were never returned from. (While one runs: host_queue.h.)
#pragma once

namespace gnnmg::base {

// True on a thread where HostQueue::inside_callback() is, though the callback was left by longjmp()
// or the like: whoever asks stands above the frame that called it. One that was left and is asked
// about from deeper frames, or between stacks that the program has made itself, is not found out.
bool callback_was_left() noexcept;

}  // namespace gnnmg::base
