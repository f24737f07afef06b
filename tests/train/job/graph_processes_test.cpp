// Training on whole graphs in several real processes: the weights of one rank.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "support/data.h"
#include "train/fixture.h"
#include "train/job/team.h"

namespace gnnmg::test {
namespace {

// Differences of numbers above 1 are relative, as in graphs_test.cpp.
double difference(std::vector<double> a, std::vector<double> b) {
  for (size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
    const double scale = std::max(1.0, std::abs(b[i]));
    a[i] /= scale;
    b[i] /= scale;
  }
  return largest_difference(a, b);
}

class GraphProcesses : public testing::Test {
 protected:
  // One rank in each of two processes, and two in each. An epoch's last mini-batch is a short one.
  static void expect_equal(std::vector<std::string> words, double tolerance) {
    words.push_back("graphs=" + data_path("imdb-binary"));
    const std::vector<double> alone = weights_of(words, 1);
    ASSERT_FALSE(alone.empty());
    for (const std::vector<int>& ranks : {std::vector{1, 1}, std::vector{2, 2}}) {
      const auto weights = weights_of_processes(words, ranks);
      for (const std::vector<double>& found : weights) {
        ASSERT_EQ(found.size(), alone.size());
        EXPECT_LE(difference(found, alone), tolerance) << "2 processes of " << ranks[0];
        EXPECT_EQ(found, weights[0]);
      }
    }
  }
};

TEST_F(GraphProcesses, DoubleWithAdam) {
  GNNMG_NEEDS_DATA("imdb-binary");
  expect_equal({"f64=1", "steps=100"}, 1e-9);
}

TEST_F(GraphProcesses, SingleWithSgd) {
  GNNMG_NEEDS_DATA("imdb-binary");
  expect_equal({"sgd=1", "lr=0.0001", "steps=50"}, 1e-5);
}

TEST_F(GraphProcesses, BatchNormOfEachMiniBatch) {
  GNNMG_NEEDS_DATA("imdb-binary");
  expect_equal({"f64=1", "norm=1", "sgd=1", "lr=0.01", "steps=21"}, 1e-9);
}

TEST_F(GraphProcesses, BatchNormOverTheStep) {
  GNNMG_NEEDS_DATA("imdb-binary");
  expect_equal({"f64=1", "norm=1", "sync=1", "sgd=1", "lr=0.01", "steps=21"}, 1e-9);
}

TEST_F(GraphProcesses, StrictModeIsBitEqual) {
  GNNMG_NEEDS_DATA("imdb-binary");
  expect_equal({"strict=1", "norm=1", "train=100", "steps=8"}, 0);
}

TEST_F(GraphProcesses, FewerGraphsThanRanks) {
  GNNMG_NEEDS_DATA("imdb-binary");
  expect_equal({"strict=1", "norm=1", "train=3", "batch=1", "steps=8"}, 0);
  expect_equal({"f64=1", "train=1", "batch=1", "steps=8"}, 1e-9);
}

}  // namespace
}  // namespace gnnmg::test
