// The numbers of a server: quantiles from a histogram, and their text.
#include "server/metrics.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "server/latencies.h"

namespace gnnmg::server {
namespace {

TEST(Latencies, QuantilesAreAtMostAnEighthTooHigh) {
  Latencies none;
  EXPECT_EQ(none.quantile(0.5), 0);
  for (const int64_t value : {1, 7, 8, 15, 16, 100, 1'000, 12'345, 1'000'000, 60'000'000}) {
    Latencies one;
    one.add(value);
    const double seconds = static_cast<double>(value) * 1e-6;
    EXPECT_GE(one.quantile(0.5), seconds) << value;
    EXPECT_LE(one.quantile(0.5), seconds * 1.126 + 1.01e-6) << value;
  }
  Latencies many;
  for (int64_t value = 1; value <= 1000; ++value) many.add(value);
  EXPECT_NEAR(many.quantile(0.5), 500e-6, 64e-6);
  EXPECT_NEAR(many.quantile(0.99), 990e-6, 128e-6);
  many.add(-5);  // a clock's whim
  many.add(int64_t{1} << 60);
  EXPECT_GT(many.quantile(1), 100);
}

TEST(Metrics, AreInPrometheusText) {
  ServerInfo info;
  info.parts = {0, 1};
  info.reads = 12;
  info.sent_bytes = int64_t{1} << 40;
  info.p50 = 0.000125;
  const std::string text = metrics_text(info);
  using testing::HasSubstr;
  EXPECT_THAT(text,
              HasSubstr("# TYPE gnnmg_server_reads_total counter\ngnnmg_server_reads_total 12\n"));
  EXPECT_THAT(text, HasSubstr("\ngnnmg_server_parts 2\n"));
  EXPECT_THAT(text, HasSubstr("\ngnnmg_server_sent_bytes_total 1099511627776\n"));
  EXPECT_THAT(text, HasSubstr("\ngnnmg_server_answer_seconds{quantile=\"0.5\"} 0.000125\n"));
}

}  // namespace
}  // namespace gnnmg::server
