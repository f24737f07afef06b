// The numbers of a server as text.
#include "server/metrics.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace gnnmg::server {
namespace {

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
