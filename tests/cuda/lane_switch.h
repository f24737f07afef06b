// From one stack to another within a thread. On x86-64 without the system: swapcontext() asks it
// for the mask of signals each time, which took a quarter of a test of lanes.
#pragma once

#include <cstddef>
#include <cstdint>

#if !defined(__x86_64__)
#include <ucontext.h>
#endif

namespace gnnmg::cuda::lanes {

#if defined(__x86_64__)

// Where a stack goes on: what is on top of it are the registers that functions keep for their
// callers, and behind them the address.
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

// `begin`, which never returns, is what the stack runs first.
inline void prepare(Context& context, void* stack, size_t bytes, void (*begin)()) {
  constexpr int kRegisters = 6;
  // Where it is to be when a function begins: 8 beyond a multiple of 16, with nowhere to return to.
  auto* top = reinterpret_cast<uintptr_t*>(static_cast<char*>(stack) + bytes / 16 * 16) - 1;
  *top = 0;
  *--top = reinterpret_cast<uintptr_t>(begin);
  for (int i = 0; i < kRegisters; ++i) *--top = 0;
  context.top = top;
}

// Goes on with `to`, until something goes on with `from`.
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
