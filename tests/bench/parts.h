// A data set in parts for the epoch benchmark: some parts are read from a folder, graph servers
// have the others.
#pragma once

#include <string>
#include <vector>

#include "base/log.h"
#include "base/thread_pool.h"
#include "data/dataset.h"

namespace gnnmg::bench {

struct PartsPlace {
  std::string folder;     // folder of the own parts
  std::string addresses;  // addresses of the servers
  std::vector<int32_t> own;
  int64_t cache_bytes = 0;  // room for rows of other parts
  std::string tls;          // folder with client.pem, client.key, ca.pem; empty: no TLS
};
data::DatasetRef open_parts(const PartsPlace& place, base::ThreadPool& pool, base::Log& log);

}  // namespace gnnmg::bench
