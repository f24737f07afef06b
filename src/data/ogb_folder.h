// The files of an OGB folder: tables that are packed by gzip, as they are published, or unpacked,
// and archives.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "data/assemble.h"
#include "data/ogb.h"

namespace gnnmg::data {

class OgbFolder {
 public:
  // `reading` must outlive it.
  OgbFolder(std::string folder, Reading& reading) : folder_(std::move(folder)), reading_(reading) {}

  std::string path(std::string_view name) const { return base::join_path(folder_, name); }
  bool has(std::string_view name) const { return base::is_present(path(name)); }
  // The path of a table "raw/edge": it ends in .csv.gz, or in .csv where only that is there.
  std::string table_path(std::string_view table) const;
  bool has_table(std::string_view table) const { return base::is_present(table_path(table)); }
  // With both, that of gzip is read, as OGB reads it, and the log says so.
  std::unique_ptr<io::ByteSource> source(std::string_view table);
  // `rows` as parse_table() takes it.
  Table table(std::string_view table, int64_t rows = -1);
  // One integer a row; errors call it `what`.
  base::Tensor integers(std::string_view name, const char* what);
  io::Npz archive(std::string_view name);
  // The tables in raw/, without raw/ and ending, ascending.
  std::vector<std::string> raw_tables() const;

 private:
  std::string folder_;
  Reading& reading_;
};

// Appends the splits of split/NAME, of nodes, or of the graphs of found.graph_ptr: in
// split_dict.pt, as OGB's DatasetSaver writes them, or in the tables train, valid and test.
void read_ogb_splits(OgbFolder& folder, Reading& reading, Found& found);

}  // namespace gnnmg::data
