// Checks that kernels run as on a GPU and that their errors are found: small kernels, written by
// hand.
#include "ptx/run.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>
#include <cstring>
#include <limits>
#include <numeric>

namespace gnnmg::ptx {
namespace {

using testing::Each;
using testing::HasSubstr;

// A kernel k(void* a, int64_t n) with names for the most common values.
std::string kernel(const std::string& body, const std::string& variables = "") {
  return ".version 9.0\n.target sm_90\n.address_size 64\n"
         ".visible .entry k(\n.param .u64 k_param_0,\n.param .u64 k_param_1\n)\n.maxntid 256, 1, "
         "1\n{\n"
         ".reg .pred %p<9>; .reg .b16 %rs<9>; .reg .b32 %r<40>; .reg .f32 %f<9>; .reg .b64 "
         "%rd<40>; .reg .f64 %fd<9>;\n" +
         variables +
         "ld.param.u64 %rd1, [k_param_0]; cvta.to.global.u64 %rd1, %rd1; ld.param.u64 %rd2, "
         "[k_param_1];\n"
         "mov.u32 %r1, %tid.x; mul.wide.u32 %rd3, %r1, 4; add.s64 %rd4, %rd1, %rd3;\n" +
         body + "\nret;\n}\n";
}

class PtxRun : public testing::TestWithParam<Order> {
 protected:
  // Runs `body` on an array, in blocks of that many threads, and returns the array.
  template <typename T>
  std::vector<T> run_on(std::vector<T> array, const std::string& text, int threads,
                        int64_t blocks = 1, uint64_t seed = 0,
                        std::vector<uint8_t>* written = nullptr) {
    Program program(text);
    const Kernel* const found = program.find("k");
    if (found == nullptr) throw Error("no kernel");
    const uint64_t arguments[] = {reinterpret_cast<uint64_t>(array.data()), array.size()};
    std::vector<uint8_t> parameters(sizeof arguments);
    std::memcpy(parameters.data(), arguments, sizeof arguments);
    const std::vector<Range> memory = {{arguments[0], arguments[0] + array.size() * sizeof(T),
                                        written ? written->data() : nullptr}};
    Running running{GetParam(), seed};
    running.most_instructions = 1 << 20;
    run(*found, {blocks, threads}, parameters, memory, running);
    return array;
  }
  std::string fault_of(const std::string& text, int threads = 32, size_t size = 64,
                       std::vector<uint8_t>* written = nullptr) {
    try {
      run_on(std::vector<uint32_t>(size), text, threads, 1, 0, written);
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  }
  // Returns one thread's result.
  uint64_t value_of(const std::string& body) {
    return run_on(std::vector<uint64_t>(1), kernel(body + " st.global.u64 [%rd1], %rd9;"), 1)[0];
  }
};

TEST_P(PtxRun, Computes) {
  EXPECT_EQ(value_of("mov.u64 %rd8, -3; shr.s64 %rd9, %rd8, 1;"), static_cast<uint64_t>(-2));
  EXPECT_EQ(
      value_of("mov.u32 %r2, 32; mov.u32 %r3, 5; shl.b32 %r4, %r3, %r2; cvt.u64.u32 %rd9, %r4;"),
      0u);
  EXPECT_EQ(
      value_of("mov.u32 %r2, 40; mov.u32 %r3, -5; shr.s32 %r4, %r3, %r2; cvt.s64.s32 %rd9, %r4;"),
      ~uint64_t{0});
  EXPECT_EQ(value_of("mov.u64 %rd7, -1; mul.hi.u64 %rd9, %rd7, %rd7;"), ~uint64_t{0} - 1);
  EXPECT_EQ(value_of("mov.u32 %r2, -2; mul.wide.s32 %rd9, %r2, 3;"), static_cast<uint64_t>(-6));
  EXPECT_EQ(value_of("mov.u32 %r2, -2; mul.wide.u32 %rd9, %r2, 3;"), uint64_t{0xFFFFFFFE} * 3);
  EXPECT_EQ(value_of("mov.u64 %rd7, -7; mov.u64 %rd8, 2; div.s64 %rd9, %rd7, %rd8;"),
            static_cast<uint64_t>(-3));
  EXPECT_EQ(value_of("mov.u32 %r2, 0x03020100; mov.u32 %r3, 0x87060504; prmt.b32 %r4, %r2, %r3, "
                     "0xF720; cvt.u64.u32 %rd9, %r4;"),
            0xFF870200u);
  EXPECT_EQ(value_of("mov.u64 %rd7, 5; mov.u64 %rd8, -1; bfi.b64 %rd9, %rd7, %rd8, 32, 32;"),
            0x5FFFFFFFFu);
  EXPECT_EQ(
      value_of(
          "mov.u32 %r2, 4; mov.u32 %r3, 3; bmsk.clamp.b32 %r4, %r2, %r3; cvt.u64.u32 %rd9, %r4;"),
      0x70u);
  EXPECT_EQ(value_of("mov.f32 %f1, 0f4B800001; cvt.rzi.s32.f32 %r4, %f1; cvt.s64.s32 %rd9, %r4;"),
            16777218u);
  EXPECT_EQ(
      value_of("mov.u64 %rd8, 9007199254740993; cvt.rn.f64.s64 %fd1, %rd8; mov.b64 %rd9, %fd1;"),
      std::bit_cast<uint64_t>(9007199254740992.0));
  EXPECT_EQ(value_of("mov.u32 %r2, 200; cvt.u16.u32 %rs1, %r2; cvt.s16.s8 %rs2, %rs1; cvt.s64.s16 "
                     "%rd9, %rs2;"),
            static_cast<uint64_t>(-56));
  EXPECT_EQ(value_of("mov.u32 %r2, 7; mov.u32 %r3, 9; mov.b64 %rd9, {%r2, %r3};"),
            uint64_t{9} << 32 | 7);
  // A product that is rounded once.
  const float a = 1 + std::numeric_limits<float>::epsilon();
  EXPECT_EQ(value_of("mov.f32 %f1, 0f3F800001; fma.rn.f32 %f2, %f1, %f1, 0fBF800002; mov.b32 %r2, "
                     "%f2; cvt.u64.u32 %rd9, %r2;"),
            std::bit_cast<uint32_t>(
                static_cast<float>(double{a} * a - double{std::bit_cast<float>(0x3F800002)})));
  // Comparisons with NaN.
  const std::string compare = "mov.f32 %f1, 0f7FC00000; mov.f32 %f2, 0f3F800000; setp.";
  for (const auto& [name, expected] : {std::pair{"eq", 0u},
                                       {"ne", 0u},
                                       {"lt", 0u},
                                       {"ge", 0u},
                                       {"neu", 1u},
                                       {"ltu", 1u},
                                       {"geu", 1u},
                                       {"num", 0u},
                                       {"nan", 1u}})
    EXPECT_EQ(value_of(compare + name + ".f32 %p1, %f1, %f2; selp.u64 %rd9, 1, 0, %p1;"), expected)
        << name;
}

TEST_P(PtxRun, CallsFunctions) {
  const std::string callee =
      ".version 9.0\n.target sm_90\n.address_size 64\n"
      ".func (.param .b64 result) twice(.param .b64 twice_param_0)\n{ .reg .b64 %rd<3>; .reg .pred "
      "%p<2>;\n"
      "ld.param.u64 %rd1, [twice_param_0]; setp.eq.s64 %p1, %rd1, 0; @%p1 bra $end; add.s64 %rd1, "
      "%rd1, %rd1;\n"
      "$end: st.param.u64 [result+0], %rd1; ret; }\n";
  const std::string call =
      "cvt.u64.u32 %rd5, %r1; { .param .b64 param0; st.param.u64 [param0+0], %rd5; .param .b64 "
      "retval0;\n"
      "call.uni (retval0), twice, (param0); ld.param.u64 %rd6, [retval0+0]; } st.global.u32 "
      "[%rd4], %rd6;";
  std::string text = kernel(call + call);
  text = callee + text.substr(text.find(".visible"));
  std::vector<uint32_t> expected(64);
  for (uint32_t i = 0; i < 64; ++i) expected[i] = 2 * i;
  EXPECT_EQ(run_on(std::vector<uint32_t>(64), text, 64), expected);
}

// Diverged lanes run independently.
TEST_P(PtxRun, LanesGoTheirOwnWays) {
  const std::string loop =
      "mov.u32 %r2, 0; mov.u32 %r3, 0; $next: setp.gt.u32 %p1, %r2, %r1; @%p1 bra $end;\n"
      "add.s32 %r3, %r3, %r2; add.s32 %r2, %r2, 1; bra.uni $next; $end: st.global.u32 [%rd4], %r3;";
  const std::vector<uint32_t> found = run_on(std::vector<uint32_t>(70), kernel(loop), 70);
  for (uint32_t i = 0; i < 70; ++i) EXPECT_EQ(found[i], i * (i + 1) / 2);
}

TEST_P(PtxRun, LanesExchangeWithinTheirParts) {
  // Parts of 8 lanes, as in tile.cuh: the sum of each.
  std::string sum = "mov.u32 %r4, %r1; and.b32 %r9, %r1, 24; shl.b32 %r5, 255, %r9;\n";
  for (const char* const step : {"4", "2", "1"})
    sum += std::string("shfl.sync.bfly.b32 %r6|%p1, %r4, ") + step +
           ", 6175, %r5; add.s32 %r4, %r4, %r6;\n";
  sum += "st.global.u32 [%rd4], %r4;";
  const std::vector<uint32_t> found = run_on(std::vector<uint32_t>(64), kernel(sum), 64);
  for (uint32_t i = 0; i < 64; ++i) EXPECT_EQ(found[i], i / 8 * 64 + 28) << i;
  const std::string vote =
      "and.b32 %r2, %r1, 3; setp.eq.s32 %p1, %r2, 1; vote.sync.ballot.b32 %r3, %p1, -1; "
      "st.global.u32 [%rd4], %r3;";
  EXPECT_THAT(run_on(std::vector<uint32_t>(32), kernel(vote), 32), Each(0x22222222u));
  const std::string first = "shfl.sync.idx.b32 %r4|%p1, %r1, 5, 31, -1; st.global.u32 [%rd4], %r4;";
  EXPECT_THAT(run_on(std::vector<uint32_t>(32), kernel(first), 32), Each(5u));
}

constexpr const char* kShared = ".shared .align 4 .b8 room[1024];\n";
// Writes a thread's number and reads the number of the thread `by` further on.
std::string pass_on(const std::string& between, int by, int of) {
  return "mov.u32 %r2, room; shl.b32 %r3, %r1, 2; add.s32 %r3, %r2, %r3; st.shared.u32 [%r3], "
         "%r1;\n" +
         between + "add.s32 %r4, %r1, " + std::to_string(by) + "; rem.u32 %r4, %r4, " +
         std::to_string(of) +
         "; shl.b32 %r4, %r4, 2; add.s32 %r4, %r2, %r4; ld.shared.u32 %r5, [%r4]; st.global.u32 "
         "[%rd4], %r5;";
}

TEST_P(PtxRun, ThreadsMeetAtBarriers) {
  for (uint64_t seed = 0; seed < 20; ++seed) {
    const std::vector<uint32_t> block =
        run_on(std::vector<uint32_t>(256), kernel(pass_on("bar.sync 0;", 100, 256), kShared), 256,
               1, seed);
    for (uint32_t i = 0; i < 256; ++i) ASSERT_EQ(block[i], (i + 100) % 256);
    const std::vector<uint32_t> warp =
        run_on(std::vector<uint32_t>(32), kernel(pass_on("bar.warp.sync -1;", 9, 32), kShared), 32,
               1, seed);
    for (uint32_t i = 0; i < 32; ++i) ASSERT_EQ(warp[i], (i + 9) % 32);
  }
  const std::string any =
      "setp.eq.s32 %p1, %r1, 77; bar.red.or.pred %p2, 0, %p1; selp.u32 %r2, 1, 0, %p2; "
      "st.global.u32 [%rd4], %r2;";
  EXPECT_THAT(run_on(std::vector<uint32_t>(128), kernel(any), 128), Each(1u));
  EXPECT_THAT(run_on(std::vector<uint32_t>(64), kernel(any), 64), Each(0u));
}

// Without the barrier some run reads before the other thread has written, except for lanes in
// lockstep.
TEST_P(PtxRun, MissingBarriersAreSeen) {
  for (const auto& [threads, by] : {std::pair{256, 100}, {32, 9}}) {
    bool wrong = false;
    for (uint64_t seed = 0; seed < 20 && !wrong; ++seed) {
      const std::vector<uint32_t> found =
          run_on(std::vector<uint32_t>(static_cast<size_t>(threads)),
                 kernel(pass_on("", by, threads), kShared), threads, 1, seed);
      for (int i = 0; i < threads; ++i)
        wrong = wrong || found[static_cast<size_t>(i)] != static_cast<uint32_t>((i + by) % threads);
    }
    EXPECT_EQ(wrong, threads > kLanes || GetParam() == Order::kApart) << threads;
  }
}

TEST_P(PtxRun, AtomicsAreWhole) {
  const std::string count =
      "atom.global.add.u32 %r2, [%rd1], 1; add.s64 %rd5, %rd1, 4; atom.global.min.u32 %r3, [%rd5], "
      "%r1;";
  for (uint64_t seed = 0; seed < 5; ++seed) {
    const std::vector<uint32_t> found =
        run_on(std::vector<uint32_t>{0, 1000}, kernel(count), 200, 7, seed);
    EXPECT_EQ(found[0], 1400u);
    EXPECT_EQ(found[1], 0u);
  }
}

TEST_P(PtxRun, AccessesThatAGpuRefuses) {
  EXPECT_THAT(fault_of(kernel("ld.global.v4.u32 {%r2, %r3, %r4, %r5}, [%rd4];")),
              testing::AllOf(HasSubstr("not aligned"), HasSubstr("thread 1 of block 0")));
  EXPECT_THAT(fault_of(kernel("ld.global.u32 %r2, [%rd4+4];"), 32, 32),
              testing::AllOf(HasSubstr("reads 4 bytes"), HasSubstr("thread 31")));
  EXPECT_THAT(fault_of(kernel("st.global.u32 [%rd4+-4], %r1;")), HasSubstr("writes 4 bytes"));
  EXPECT_THAT(fault_of(kernel("mov.u32 %r2, room; st.shared.u32 [%r2+1024], %r1;", kShared)),
              HasSubstr("shared memory"));
  EXPECT_EQ(fault_of(kernel("mov.u32 %r2, room; st.shared.u32 [%r2+1020], %r1;", kShared)), "");
}

TEST_P(PtxRun, WhatNobodyWrote) {
  std::vector<uint8_t> written(64 * 4, 1);
  EXPECT_EQ(fault_of(kernel("ld.global.u32 %r2, [%rd4];"), 32, 64, &written), "");
  written[4 * 9 + 2] = 0;
  EXPECT_THAT(fault_of(kernel("ld.global.u32 %r2, [%rd4];"), 32, 64, &written),
              testing::AllOf(HasSubstr("byte 2 of which nobody wrote"), HasSubstr("thread 9 ")));
  EXPECT_THAT(fault_of(kernel("atom.global.add.u32 %r2, [%rd4], 1;"), 32, 64, &written),
              HasSubstr("nobody wrote"));
  // The rest of a load is ignored.
  const std::string wide =
      "setp.ne.s32 %p1, %r1, 8; @%p1 bra $end; ld.global.v2.u32 {%r2, %r3}, [%rd4]; $end:";
  EXPECT_THAT(fault_of(kernel(wide), 32, 64, &written), HasSubstr("nobody wrote"));
  EXPECT_EQ(fault_of(kernel(".pragma \"used_bytes_mask 15\"; " + wide), 32, 64, &written), "");
  EXPECT_EQ(
      fault_of(kernel("st.global.u32 [%rd4], %r1; ld.global.u32 %r2, [%rd4];"), 32, 64, &written),
      "");
}

TEST_P(PtxRun, LanesThatNeverCome) {
  const std::string half = "setp.lt.u32 %p1, %r1, 16; @%p1 bra $end; ";
  // Ended lanes are not awaited; their values are not available.
  EXPECT_EQ(fault_of(kernel(half + "bar.warp.sync -1; $end:")), "");
  EXPECT_THAT(fault_of(kernel(half + "shfl.sync.idx.b32 %r2|%p2, %r1, 3, 31, -1; $end:")),
              HasSubstr("lane 3, which does not take part"));
  EXPECT_THAT(fault_of(kernel(half + "shfl.sync.idx.b32 %r2|%p2, %r1, 20, 31, 0xFFFF; $end:")),
              HasSubstr("is not among the lanes"));
  const std::string other =
      "bar.warp.sync -1; bra $join; $end: vote.sync.any.pred %p2, %p1, -1; $join:";
  EXPECT_THAT(fault_of(kernel(half + other)), HasSubstr("never come"));
}

TEST_P(PtxRun, BarriersOfABlock) {
  const std::string half = "setp.lt.u32 %p1, %r1, 16; @%p1 bra $end; ";
  EXPECT_THAT(fault_of(kernel(half + "bar.sync 0; bra $join; $end: bar.sync 0; $join:")),
              HasSubstr("another barrier than other lanes of its warp"));
  EXPECT_EQ(fault_of(kernel(half + "bar.sync 0; $end:"), 64), "");  // the other threads have ended
  EXPECT_THAT(fault_of(kernel(half + "bar.sync 0; $end: vote.sync.any.pred %p2, %p1, -1;")),
              HasSubstr("never come"));
}

TEST_P(PtxRun, KernelsThatDoNotEnd) {
  EXPECT_THAT(fault_of(kernel("$again: add.s32 %r1, %r1, 1; bra.uni $again;")),
              HasSubstr("does not come to its end"));
}

TEST_P(PtxRun, LaunchesThatAGpuRefuses) {
  EXPECT_THAT(fault_of(kernel(""), 257), HasSubstr("of 256 at most"));
  EXPECT_EQ(fault_of(kernel(""), 256), "");
}

TEST_P(PtxRun, WhatIsNotKnownIsRefused) {
  EXPECT_THAT(fault_of(kernel("ex2.approx.f32 %f1, %f2;")), HasSubstr("not known: ex2.approx.f32"));
  EXPECT_THAT(fault_of(kernel("add.ftz.f32 %f1, %f2, %f3;")), HasSubstr("not known: add.ftz.f32"));
  EXPECT_THAT(fault_of(kernel("mov.u32 %r2, %clock;")), HasSubstr("not known: %clock"));
  EXPECT_THAT(fault_of(kernel("mov.u32 %r2, %r40;")), HasSubstr("not known: %r40"));
  EXPECT_THAT(fault_of(kernel("bra $nowhere;")), HasSubstr("no label $nowhere"));
  EXPECT_THAT(fault_of(kernel("bar.sync 0, 64;")), HasSubstr("not known"));
  EXPECT_THAT(fault_of(kernel("mov.u32 %r2, other;")), HasSubstr("not known: other"));
}

std::string name_of(const testing::TestParamInfo<Order>& info) {
  return info.param == Order::kTogether ? "Together" : "Apart";
}
INSTANTIATE_TEST_SUITE_P(Orders, PtxRun, testing::Values(Order::kTogether, Order::kApart), name_of);

}  // namespace
}  // namespace gnnmg::ptx
