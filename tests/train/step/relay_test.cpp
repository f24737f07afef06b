// Requests that other threads leave with one thread.
#include "train/step/relay.h"

#include <gtest/gtest.h>

#include <stdexcept>
#include <string>
#include <thread>

namespace gnnmg::train {
namespace {

TEST(Relay, AsksTheThreadThatServes) {
  Relay relay;
  const std::thread::id own = std::this_thread::get_id();
  for (int time = 0; time < 3; ++time) {
    int done = 0;
    relay.serve([&] {
      EXPECT_NE(std::this_thread::get_id(), own);
      for (int i = 0; i < 100; ++i)
        relay.ask([&] { done += std::this_thread::get_id() == own ? 1 : 0; });
    });
    EXPECT_EQ(done, 100);
  }
}

TEST(Relay, PassesOnWhatIsThrown) {
  Relay relay;
  std::string told;
  relay.serve([&] {
    try {
      relay.ask([] { throw std::runtime_error("asked"); });
    } catch (const std::runtime_error& error) {
      told = error.what();
    }
  });
  EXPECT_EQ(told, "asked");
  EXPECT_THROW(relay.serve([] { throw std::invalid_argument("body"); }), std::invalid_argument);
  relay.serve([] {});
}

}  // namespace
}  // namespace gnnmg::train
