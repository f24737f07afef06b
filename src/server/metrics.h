// Metrics of a server, for Prometheus.
#pragma once

#include <string>

#include "server/graph_server.h"

namespace gnnmg::server {

// In the text format of Prometheus 0.0.4, for a collector of text files.
std::string metrics_text(const ServerInfo& info);
// Replaces the file at once. Error(kIo).
void write_metrics(const std::string& file, const ServerInfo& info);

}  // namespace gnnmg::server
