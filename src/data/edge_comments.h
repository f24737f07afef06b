// Facts that the comments of a list of edges tell about it.
#pragma once

#include <cstdint>
#include <string_view>

namespace gnnmg::data {

struct EdgeComments {
  int64_t num_nodes = -1, num_edges = -1;  // "# Nodes: 5 Edges: 6", as SNAP has it
  bool undirected = false;                 // "Undirected graph", or KONECT's "% sym"
  bool bipartite = false;                  // KONECT's "% bip": both ends count from 1
  bool adjacency = false;                  // the time of NetworkX's write_adjlist()
  bool matrix_market = false;              // the banner, in a line or form that is none

  int64_t count() const { return lines_; }
  // Takes in a line that begins with '#', '%' or "//".
  void read(std::string_view line);

 private:
  int64_t lines_ = 0;
};

}  // namespace gnnmg::data
