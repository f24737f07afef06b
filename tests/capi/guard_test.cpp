// The guard from inside: every exception becomes a status and one line, and the host's objects are
// released on its own threads.
#include "capi/guard.h"

#include <c10/util/Exception.h>
#include <gtest/gtest.h>

#include <new>
#include <stdexcept>
#include <system_error>
#include <thread>

#include "capi/job.h"
#include "capi/torch_check.h"

namespace gnnmg::capi {
namespace {

template <typename Throw>
void expect_status(gnnmg_status status, const std::string& text, const Throw& body) {
  EXPECT_EQ(guard(body), status);
  EXPECT_EQ(last_error().status, status);
  EXPECT_EQ(last_error().text, text);
}

TEST(Guard, EveryExceptionBecomesAStatus) {
  expect_status(GNNMG_ERR_FORMAT, "a text",
                [] { throw base::Error(base::Status::kFormat, "a text", 3, 5); });
  EXPECT_EQ(last_error().rank, 3);
  EXPECT_EQ(last_error().system_error, 5);
  expect_status(GNNMG_ERR_NO_MEMORY, "no memory", [] { throw std::bad_alloc(); });
  EXPECT_EQ(last_error().rank, -1);
  expect_status(GNNMG_ERR_NO_MEMORY, "no memory", [] { throw std::length_error("a vector"); });
  expect_status(GNNMG_ERR_INTERNAL, "first line",
                [] { throw std::runtime_error("first line\nsecond line"); });
  expect_status(GNNMG_ERR_INTERNAL, "an exception of unknown type", [] { throw 42; });
  EXPECT_EQ(guard([] { TORCH_CHECK(false, "said by LibTorch\nat a place"); }), GNNMG_ERR_INTERNAL);
  EXPECT_EQ(last_error().text, "said by LibTorch");
  EXPECT_EQ(guard([] { TORCH_CHECK_WITH(OutOfMemoryError, false, "too much"); }),
            GNNMG_ERR_NO_MEMORY);
  EXPECT_EQ(guard([] {
              TORCH_CHECK(false, "[enforce fail at CPUAllocator] DefaultCPUAllocator: can't");
            }),
            GNNMG_ERR_NO_MEMORY);
  EXPECT_EQ(guard([] { throw std::system_error(EAGAIN, std::generic_category(), "thread"); }),
            GNNMG_ERR_NO_MEMORY);
  EXPECT_EQ(last_error().system_error, EAGAIN);
  EXPECT_EQ(guard([] {}), GNNMG_OK);
  EXPECT_EQ(guard([]() -> gnnmg_status { return GNNMG_END; }), GNNMG_END);
  EXPECT_EQ(last_error().system_error, EAGAIN);  // a success does not change the last error
}

TEST(Guard, ATextIsOneLineOfUtf8) {
  const auto expect_text = [](const std::string& thrown, const std::string& kept) {
    expect_status(GNNMG_ERR_IO, kept, [&] { throw base::Error(base::Status::kIo, thrown); });
  };
  expect_text("/a\nb\r\x7f\x1b[0m: gone", "/a\\x0ab\\x0d\\x7f\\x1b[0m: gone");
  expect_text("\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80", "\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80");
  expect_text("\xff\xc3(\xe2\x82 \x80 \xc0\xaf \xed\xa0\x80 \xc3",
              "\\xff\\xc3(\\xe2\\x82 \\x80 \\xc0\\xaf \\xed\\xa0\\x80 \\xc3");
}

TEST(Guard, ALongTextIsKeptWhole) {
  const std::string text(5000, 'a');
  expect_status(GNNMG_ERR_IO, text, [&] { throw base::Error(base::Status::kIo, text); });
  expect_status(GNNMG_ERR_IO, "short", [] { throw base::Error(base::Status::kIo, "short"); });
}

// Reads and sets the last error after later thread-local variables are destroyed.
struct AtThreadsEnd {
  std::string* kept = nullptr;
  std::string* set = nullptr;
  ~AtThreadsEnd() {
    if (kept == nullptr) return;
    *kept = last_error().text;
    set_last_error(base::Status::kIo, std::string(5000, 'b').c_str(), -1, 0);
    *set = last_error().text;
  }
};
thread_local AtThreadsEnd at_threads_end;

TEST(Guard, TheLastErrorOutlivesVariablesOfItsThread) {
  std::string kept, set;
  std::thread([&] {
    at_threads_end.kept = &kept;
    at_threads_end.set = &set;
    set_last_error(base::Status::kIo, std::string(5000, 'a').c_str(), -1, 0);
  }).join();
  EXPECT_EQ(kept, std::string(511, 'a'));
  EXPECT_EQ(set, std::string(511, 'b'));
}

TEST(Guard, WhatGoesBackToTheHostRunsAtTheEndOfTheCall) {
  auto queue = make_host_queue();
  std::vector<std::string> order;
  EXPECT_EQ(guard([&] {
              run_on_host(queue.get(), [&] { order.push_back("given back"); });
              order.push_back("end of the body");
            }),
            GNNMG_OK);
  EXPECT_EQ(order, (std::vector<std::string>{"end of the body", "given back"}));
}

TEST(Guard, FromOurThreadsItWaitsForACall) {
  auto queue = make_host_queue();
  std::thread::id where{};
  std::thread([&] {
    run_on_host(queue.get(), [&] { where = std::this_thread::get_id(); });
  }).join();
  EXPECT_EQ(where, std::thread::id{});
  EXPECT_EQ(guard([&] { visit_queue(queue); }), GNNMG_OK);
  EXPECT_EQ(where, std::this_thread::get_id());
}

TEST(Guard, AQueueThatEndsOnOurThreadIsEmptiedByTheNextCall) {
  auto queue = make_host_queue();
  std::thread::id where{};
  std::thread([&] {
    run_on_host(queue.get(), [&] { where = std::this_thread::get_id(); });
    queue.reset();
  }).join();
  EXPECT_EQ(where, std::thread::id{});
  EXPECT_EQ(guard([] {}), GNNMG_OK);
  EXPECT_EQ(where, std::this_thread::get_id());
}

TEST(Guard, OutputsAreClearedWhateverHappens) {
  int64_t number = 5;
  const char* text = "x";
  const OutCheck check = outs(Out{&number, "number"}, Out{&text, "text"});
  EXPECT_EQ(number, 0);
  EXPECT_EQ(text, nullptr);
  EXPECT_EQ(check.missing, nullptr);
  gnnmg_status status = guard(outs(Out{&number, "number"}, Out{static_cast<int*>(nullptr), "lost"}),
                              [] { FAIL() << "the body must not run"; });
  EXPECT_EQ(status, GNNMG_ERR_INVALID_ARGUMENT);
  EXPECT_NE(last_error().text.find("'lost'"), std::string::npos);
}

TEST(TextTest, IsCutBetweenCharacters) {
  char buffer[8];
  copy_text("gr\xc3\xbc\xc3\x9f", buffer, 6);  // the last character would be cut
  EXPECT_STREQ(buffer, "gr\xc3\xbc");
  copy_text("abc", buffer, 4);
  EXPECT_STREQ(buffer, "abc");
  copy_text("abc", buffer, 1);
  EXPECT_STREQ(buffer, "");
}

TEST(TorchCheck, AnotherLibTorchIsRefusedWithBothVersions) {
  const auto version = [](uint64_t major, uint64_t minor) { return major << 56 | minor << 48; };
  EXPECT_NO_THROW(check_torch(find_torch()));
  const auto text = [](const FoundTorch& found) {
    EXPECT_EQ(guard([&] { check_torch(found); }), GNNMG_ERR_DEPENDENCY);
    return std::string(last_error().text);
  };
  EXPECT_EQ(text({version(2, 12), {"/a/libtorch_cpu.so"}, {}}),
            "built for LibTorch 2.11, but this process has 2.12.0 from /a/libtorch_cpu.so");
  EXPECT_EQ(text({0, {"/a/libtorch_cpu.so"}, {}}),
            "built for LibTorch 2.11, but this process has an older one from /a/libtorch_cpu.so");
  EXPECT_EQ(text({version(2, 11), {"/a/libtorch_cpu.so", "/b/libtorch_cpu.so"}, {}}),
            "this process holds more than one LibTorch: /a/libtorch_cpu.so and /b/libtorch_cpu.so");
  EXPECT_EQ(
      text({version(2, 11), {"/a/libtorch_cpu.so"}, {"_Z1a", "_Z1b"}}),
      "the LibTorch 2.11.0 of this process, from /a/libtorch_cpu.so, lacks 2 names that one of "
      "this version has, as _Z1a");
}

TEST(JobTest, AResultOrAFailureIsKeptForWhoeverComes) {
  auto queue = make_host_queue();
  Pendings pendings;
  int started = 0, ended = 0;
  std::shared_ptr<Job> job;
  const auto call = [&](int64_t timeout_ms) {
    return wait_for_job(
        pendings, "key", *queue, timeout_ms,
        [&] {
          ++started;
          return job = std::make_shared<Job>(queue);
        },
        [&] { ++ended; });
  };
  EXPECT_TRUE(call(0).pending);
  EXPECT_TRUE(call(1).pending);
  EXPECT_EQ(started, 1);
  job->run([] { return std::make_shared<int>(42); });
  EXPECT_EQ(call(0).as<int>(), 42);
  EXPECT_EQ(ended, 1);
  EXPECT_TRUE(call(0).pending);  // a new call
  EXPECT_EQ(started, 2);
  job->run([]() -> Job::Result { throw std::runtime_error("failed"); });
  EXPECT_THROW(call(-1), std::runtime_error);
  EXPECT_EQ(ended, 2);
}

}  // namespace
}  // namespace gnnmg::capi
