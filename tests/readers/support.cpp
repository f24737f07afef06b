#include "readers/support.h"

#include <zlib.h>

#include <algorithm>

#include "io/zip_writer.h"

namespace gnnmg::data {

DatasetRef Opener::open(const std::string& path, const OpenOptions& options) {
  return open_dataset(path, options, context());
}

std::string Opener::log() {
  std::string all;
  while (auto record = log_.next()) all += record->text + "\n";
  return all;
}

void expect_error(base::Status status, const std::vector<std::string>& parts,
                  const std::function<void()>& body) {
  try {
    body();
  } catch (const base::Error& error) {
    const std::string text = error.what();
    EXPECT_EQ(base::status_name(error.status()), std::string(base::status_name(status))) << text;
    for (const std::string& part : parts)
      EXPECT_NE(text.find(part), std::string::npos) << "\"" << part << "\" is not in: " << text;
    EXPECT_EQ(text.find('\n'), std::string::npos) << text;
    return;
  }
  ADD_FAILURE() << "no error, expected " << base::status_name(status);
}

std::string npy_text(const std::string& descr, const std::string& shape, const std::string& data,
                     bool fortran) {
  std::string header = "{'descr': '" + descr +
                       "', 'fortran_order': " + (fortran ? "True" : "False") +
                       ", 'shape': " + shape + ", }";
  header.resize((header.size() + 10 + 64) / 64 * 64 - 10, ' ');
  header.back() = '\n';
  std::string out("\x93NUMPY\x01\x00", 8);
  out += static_cast<char>(header.size() & 0xff);
  out += static_cast<char>(header.size() >> 8);
  return out + header + data;
}

std::string npy_string(const std::string& text) {
  return npy_text("|S" + std::to_string(text.size()), "()", text);
}

void write_npz(const std::string& path,
               const std::vector<std::pair<std::string, std::string>>& arrays) {
  base::AtomicFile file(path);
  io::ZipWriter zip(file);
  for (const auto& [name, bytes] : arrays)
    zip.add(name + ".npy", {reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size()});
  zip.finish();
  file.commit();
}

std::string gzip(const std::string& text) {
  z_stream stream{};
  deflateInit2(&stream, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY);
  std::string out(deflateBound(&stream, text.size()) + 32, '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  EXPECT_EQ(deflate(&stream, Z_FINISH), Z_STREAM_END);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

std::vector<int64_t> ids(const Split& split, SplitPart part) {
  const auto span = split.part(part);
  return {span.begin(), span.end()};
}

std::vector<std::pair<int64_t, int64_t>> edges(const graph::Graph& graph, int32_t edge_type) {
  base::ThreadPool pool(1);
  const auto [sources, targets] = graph::coo_of(graph.csc(edge_type), pool);
  std::vector<std::pair<int64_t, int64_t>> out;
  for (int64_t e = 0; e < sources.rows(); ++e)
    out.emplace_back(sources.as<const int64_t>()[e], targets.as<const int64_t>()[e]);
  if (graph.edge_columns(edge_type).empty()) std::ranges::sort(out);
  return out;
}

std::vector<std::pair<int64_t, int64_t>> ordered(std::vector<std::pair<int64_t, int64_t>> listed,
                                                 const graph::Graph& graph) {
  if (graph.edge_columns(0).empty()) std::ranges::sort(listed);
  return listed;
}

const base::Tensor& dense(const Dataset& dataset, const std::string& name) {
  return std::get<base::Tensor>(*dataset.graph->node_column(name, dataset.node_type));
}

const base::CsrMatrix& sparse(const Dataset& dataset, const std::string& name) {
  return std::get<base::CsrMatrix>(*dataset.graph->node_column(name, dataset.node_type));
}

graph::GraphRef small_graph(base::ThreadPool& pool) {
  graph::GraphParts parts;
  parts.num_nodes = {4};
  const base::Tensor sources = tensor<int64_t>({0, 1, 2, 3, 0}, {5});
  const base::Tensor targets = tensor<int64_t>({1, 2, 3, 0, 2}, {5});
  parts.topology = {graph::csc_from_coo(sources.view(), targets.view(), 4, 4, pool)};
  parts.node_columns.resize(1);
  parts.node_columns[0].emplace("x", tensor<float>({0, 1, 2, 3, 4, 5, 6, 7}, {4, 2}));
  parts.node_columns[0].emplace("y", tensor<int64_t>({0, 1, 0, -1}, {4}));
  parts.edge_columns.resize(1);
  parts.edge_columns[0].emplace("weight", tensor<float>({1, 2, 3, 4, 5}, {5}));
  return graph::Graph::create(std::move(parts));
}

}  // namespace gnnmg::data
