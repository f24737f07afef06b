// Switches between stacks within a thread. On x86-64 without the system: swapcontext() queries the
// signal mask each time, which took a quarter of the time of a test of lanes.
#pragma once

#include <cstddef>
#include <cstdint>

#if !defined(__x86_64__)
#include <ucontext.h>
#endif

namespace gnnmg::cuda::lanes {

#if defined(__x86_64__)

// A suspended stack: at its top are the registers that functions save for their callers, followed
// by the return address.
struct Context {
  void* top = nullptr;
};

extern "C" void gnnmg_lanes_go_on(void** from, void* to);
asm(R"(
  .pushsection .text
  .p2align 4
  .local gnnmg_lanes_go_on
  .type gnnmg_lanes_go_on, @function
gnnmg_lanes_go_on:
  pushq %rbp
  pushq %rbx
  pushq %r12
  pushq %r13
  pushq %r14
  pushq %r15
  movq %rsp, (%rdi)
  movq %rsi, %rsp
  popq %r15
  popq %r14
  popq %r13
  popq %r12
  popq %rbx
  popq %rbp
  ret
  .size gnnmg_lanes_go_on, .-gnnmg_lanes_go_on
  .popsection
)");

// `begin`, which never returns, is the first function on the stack.
inline void prepare(Context& context, void* stack, size_t bytes, void (*begin)()) {
  constexpr int kRegisters = 6;
  // The alignment at the start of a function: 8 beyond a multiple of 16, without a return address.
  auto* top = reinterpret_cast<uintptr_t*>(static_cast<char*>(stack) + bytes / 16 * 16) - 1;
  *top = 0;
  *--top = reinterpret_cast<uintptr_t>(begin);
  for (int i = 0; i < kRegisters; ++i) *--top = 0;
  context.top = top;
}

// Switches to `to`; returns when another context switches to `from`.
__attribute__((no_sanitize("thread"))) inline void go_on(Context& from, const Context& to) {
  gnnmg_lanes_go_on(&from.top, to.top);
}

#else

struct Context {
  ucontext_t place;
};

inline void prepare(Context& context, void* stack, size_t bytes, void (*begin)()) {
  getcontext(&context.place);
  context.place.uc_stack.ss_sp = stack;
  context.place.uc_stack.ss_size = bytes;
  context.place.uc_link = nullptr;
  makecontext(&context.place, begin, 0);
}

__attribute__((no_sanitize("thread"))) inline void go_on(Context& from, Context& to) {
  swapcontext(&from.place, &to.place);
}

#endif

}  // namespace gnnmg::cuda::lanes
