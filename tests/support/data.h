// The input of tests: the data folder of the machine, which may be missing, and the small fixtures
// in the source tree.
#pragma once

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <string_view>

namespace gnnmg::test {

// True under continuous integration (environment variable CI=true), where nothing may be skipped.
bool in_ci();

// Returns the folder of data sets: $GNNMG_DATA, or shared/data next to the source tree; nullopt if
// there is none.
std::optional<std::string> data_dir();
// Returns a path inside data_dir(), which must exist: tests use GNNMG_NEEDS_DATA first.
std::string data_path(std::string_view name);
bool has_data(std::string_view name);

// Returns a path below tests/ of the source tree: source_path("data/graph.csv").
std::string source_path(std::string_view name);

// Returns the Python of $GNNMG_TEST_PYTHON, else that of the set-up script, else any.
std::string python_path();

}  // namespace gnnmg::test

// Leaves the test unless `condition` holds: as skipped, or as failed under continuous integration.
#define GNNMG_NEEDS(condition, what)                                                         \
  switch (0)                                                                                 \
  case 0:                                                                                    \
  default:                                                                                   \
    if (condition)                                                                           \
      ;                                                                                      \
    else if (::gnnmg::test::in_ci())                                                         \
      FAIL() << "needs " << (what) << ", which is missing; CI=true accepts no skipped test"; \
    else                                                                                     \
      GTEST_SKIP() << "needs " << (what)

// The same for a folder or file below the data folder: GNNMG_NEEDS_DATA("cora").
#define GNNMG_NEEDS_DATA(name)                                                     \
  GNNMG_NEEDS(::gnnmg::test::has_data(name), std::string("the data \"") + (name) + \
                                                 "\" (set GNNMG_DATA to the folder of data sets)")
