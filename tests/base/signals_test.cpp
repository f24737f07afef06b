// The library's threads take no signals of the host, and closed sockets do not end the program.
#include "base/signals.h"

#include "base/background.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>

namespace gnnmg::base {
namespace {

// True if this thread blocks the signal.
bool blocks(int signal) {
  sigset_t now;
  pthread_sigmask(SIG_SETMASK, nullptr, &now);
  return sigismember(&now, signal) == 1;
}

// Writes without MSG_NOSIGNAL to a socket whose other end is closed.
void write_to_closed_socket() {
  std::array<int, 2> ends;
  ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, ends.data()), 0);
  close(ends[1]);
  EXPECT_EQ(write(ends[0], "x", 1), -1);
  EXPECT_EQ(errno, EPIPE);
  close(ends[0]);
}

TEST(Signals, AGuardedThreadSurvivesAClosedSocket) {
  ASSERT_FALSE(blocks(SIGPIPE));
  {
    const SignalGuard guard;
    write_to_closed_socket();
  }
  EXPECT_FALSE(blocks(SIGPIPE));  // no SIGPIPE arrived when it was unblocked
  start_thread(write_to_closed_socket).join();
}

TEST(Signals, WithoutTheGuardTheProgramWouldEnd) {
  EXPECT_EXIT(write_to_closed_socket(), testing::KilledBySignal(SIGPIPE), "");
}

TEST(Signals, WhatTheHostBlockedStaysBlockedAndPending) {
  std::thread host([] {
    sigset_t pipe;
    sigemptyset(&pipe);
    sigaddset(&pipe, SIGPIPE);
    pthread_sigmask(SIG_BLOCK, &pipe, nullptr);
    write_to_closed_socket();
    {
      const SignalGuard guard;
      write_to_closed_socket();
    }
    EXPECT_TRUE(blocks(SIGPIPE));
    sigset_t pending;
    sigpending(&pending);
    EXPECT_EQ(sigismember(&pending, SIGPIPE), 1);  // the host's own signal is still pending
    int taken = 0;
    sigwait(&pipe, &taken);
  });
  host.join();
}

std::atomic<pthread_t> handled_by;

TEST(Signals, AHandlerRunsOnAThreadOfTheHost) {
  struct sigaction action = {}, before;
  action.sa_handler = [](int) { handled_by = pthread_self(); };
  ASSERT_EQ(sigaction(SIGINT, &action, &before), 0);
  std::atomic<bool> stop{false};
  std::thread library = start_thread([&] {
    EXPECT_TRUE(blocks(SIGINT));
    EXPECT_FALSE(blocks(SIGSEGV));
    EXPECT_FALSE(blocks(SIGPROF));
    while (!stop) std::this_thread::yield();
  });
  for (int i = 0; i < 20; ++i) {
    handled_by = library.native_handle();
    kill(getpid(), SIGINT);
    EXPECT_TRUE(pthread_equal(handled_by, pthread_self()));
  }
  stop = true;
  library.join();
  sigaction(SIGINT, &before, nullptr);
}

}  // namespace
}  // namespace gnnmg::base
