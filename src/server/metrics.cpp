#include "server/metrics.h"

#include "base/error.h"
#include "base/file.h"

namespace gnnmg::server {
namespace {

void add(std::string& out, const char* name, const char* type, const char* help, int64_t value) {
  out += base::text("# HELP ", name, " ", help, "\n# TYPE ", name, " ", type, "\n", name, " ",
                    value, "\n");
}

}  // namespace

std::string metrics_text(const ServerInfo& info) {
  std::string out;
  add(out, "gnnmg_server_parts", "gauge", "Parts that are served.",
      static_cast<int64_t>(info.parts.size()));
  add(out, "gnnmg_server_clients", "gauge", "Clients that asked something in the last minute.",
      info.clients);
  add(out, "gnnmg_server_questions", "gauge", "Questions being answered or waiting.",
      info.questions);
  add(out, "gnnmg_server_reads_total", "counter", "Questions answered.", info.reads);
  add(out, "gnnmg_server_received_bytes_total", "counter", "Bytes of questions answered.",
      info.received_bytes);
  add(out, "gnnmg_server_sent_bytes_total", "counter", "Bytes of answers.", info.sent_bytes);
  add(out, "gnnmg_server_refused_total", "counter", "Questions without a right ticket.",
      info.refused);
  add(out, "gnnmg_server_busy_total", "counter", "Questions told to come later.", info.busy);
  constexpr const char* kSeconds = "gnnmg_server_answer_seconds";
  out += base::text("# HELP ", kSeconds, " Time that an answer takes.\n# TYPE ", kSeconds,
                    " gauge\n", kSeconds, "{quantile=\"0.5\"} ", info.p50, "\n", kSeconds,
                    "{quantile=\"0.99\"} ", info.p99, "\n");
  return out;
}

void write_metrics(const std::string& file, const ServerInfo& info) {
  base::AtomicFile out(file);
  out.write(metrics_text(info));
  out.commit();
}

}  // namespace gnnmg::server
