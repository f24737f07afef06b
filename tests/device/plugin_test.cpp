// The CUDA plug-in is missing, foreign or of another build: the error names the searched paths, and
// is never a failure of the loader.
#include "device/plugin.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"

namespace gnnmg::device {
namespace {

using testing::HasSubstr;

TEST(Plugin, IsMissing) {
  const Plugin plugin = open_plugin_at("/nowhere/libgnnmg_cuda.so");
  EXPECT_EQ(plugin.table, nullptr);
  EXPECT_THAT(plugin.why, HasSubstr("/nowhere/libgnnmg_cuda.so: cannot open shared object file"));
  EXPECT_THAT(plugin.why, HasSubstr("the library is built with nvcc"));
}

TEST(Plugin, IsSomethingElse) {
  const Plugin plugin = open_plugin_at(GNNMG_NO_PLUGIN);
  EXPECT_EQ(plugin.table, nullptr);
  EXPECT_THAT(plugin.why, HasSubstr("no function gnnmg_cuda_device_table"));
}

TEST(Plugin, IsOfAnotherVersion) {
  const Plugin plugin = open_plugin_at(GNNMG_OLD_PLUGIN);
  EXPECT_EQ(plugin.table, nullptr);
  EXPECT_THAT(plugin.why,
              HasSubstr(base::text("is of version 0.0.9 with LibTorch 2.10.0, the library of ",
                                   build_version())));
}

// The same versions and size of the table, but other entries.
TEST(Plugin, IsOfAnotherStateOfTheTree) {
  const Plugin plugin = open_plugin_at(GNNMG_STALE_PLUGIN);
  EXPECT_EQ(plugin.table, nullptr);
  const std::string own = build_version();
  EXPECT_THAT(own, testing::ContainsRegex(", interface [0-9a-f]{12}$"));
  const std::string without = own.substr(0, own.rfind(' '));
  EXPECT_THAT(plugin.why,
              HasSubstr(base::text("is of version ", without, " 0123456789ab, the library of ", own,
                                   "; install both from one build")));
}

TEST(Plugin, HasATableOfAnotherSize) {
  const Plugin plugin = open_plugin_at(GNNMG_SHORT_PLUGIN);
  EXPECT_EQ(plugin.table, nullptr);
  EXPECT_THAT(plugin.why, HasSubstr("install both from one build"));
}

TEST(Plugin, IsLookedForBesideTheCode) {
  // This program is not the library, and its folder contains no plug-in.
  const Plugin& plugin = open_plugin();
  EXPECT_EQ(plugin.table, nullptr);
  EXPECT_THAT(plugin.why, HasSubstr("tests/device/libgnnmg_cuda.so"));
  EXPECT_EQ(&open_plugin(), &plugin);
}

}  // namespace
}  // namespace gnnmg::device
