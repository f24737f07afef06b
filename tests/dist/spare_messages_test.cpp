// The memory of answers that is used again.
#include "dist/spare_messages.h"

#include <gtest/gtest.h>

namespace gnnmg {
namespace {

dist::Message message_of(int64_t bytes) {
  dist::Message message;
  message.resize_discard(bytes);
  return message;
}

TEST(SpareMessages, GiveTheirMemoryAgain) {
  dist::SpareMessages spare;
  EXPECT_EQ(spare.take().capacity(), 0);
  dist::Message first = message_of(1000);
  const uint8_t* const memory = first.data();
  spare.give(std::move(first));
  dist::Message second = spare.take();
  second.resize_discard(1000);
  EXPECT_EQ(second.data(), memory);
  EXPECT_EQ(spare.take().capacity(), 0) << "each once";
}

TEST(SpareMessages, KeepNeitherLargeOnesNorAnyNumber) {
  dist::SpareMessages spare;
  spare.give(message_of(4 << 20));
  spare.give(dist::Message());
  EXPECT_EQ(spare.take().capacity(), 0);
  for (int i = 0; i < 200; ++i) spare.give(message_of(100));
  int kept = 0;
  while (spare.take().capacity() > 0) ++kept;
  EXPECT_EQ(kept, 64);
}

}  // namespace
}  // namespace gnnmg
