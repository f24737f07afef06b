// Helpers of the readers' tests: opening with a context of their own, errors by status and text,
// and small files in the formats that readers take.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "data/dataset.h"
#include "data/split.h"
#include "support/temp_dir.h"

namespace gnnmg::data {

// Opens files and keeps the lines of the log.
class Opener {
 public:
  explicit Opener(int threads = 2) : pool_(threads) {}
  DatasetRef open(const std::string& path, const OpenOptions& options = {});
  // All records since the last call, one a line.
  std::string log();
  ReadContext context() { return {pool_, log_, cancel_}; }
  base::ThreadPool& pool() { return pool_; }
  const base::CancelToken& cancel() const { return cancel_; }

 private:
  base::ThreadPool pool_;
  base::Log log_;
  base::CancelToken cancel_;
};

// Runs `body`, which must throw an Error of this status whose text holds all of `parts`.
void expect_error(base::Status status, const std::vector<std::string>& parts,
                  const std::function<void()>& body);

// A .npy file: header as given and the raw bytes of `values`.
std::string npy_text(const std::string& descr, const std::string& shape, const std::string& data,
                     bool fortran = false);
template <typename T>
std::string raw(const std::vector<T>& values) {
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T)};
}
template <typename T>
std::string npy_of(const std::vector<T>& values, const std::string& shape) {
  const char* descr = std::is_same_v<T, float>     ? "<f4"
                      : std::is_same_v<T, double>  ? "<f8"
                      : std::is_same_v<T, int64_t> ? "<i8"
                      : std::is_same_v<T, int32_t> ? "<i4"
                                                   : "|u1";
  return npy_text(descr, shape, raw(values));
}
// A 0-d byte string, as SciPy stores "csr".
std::string npy_string(const std::string& text);
// Writes an .npz with these arrays (names without ".npy").
void write_npz(const std::string& path,
               const std::vector<std::pair<std::string, std::string>>& arrays);
// gzip of `text`.
std::string gzip(const std::string& text);

template <typename T>
base::Tensor tensor(const std::vector<T>& values, base::Shape shape) {
  base::Tensor flat = base::Tensor::copy_of<T>(std::span<const T>(values));
  return base::Tensor({flat.data(), flat.dtype(), shape}, flat.owner());
}
template <typename T>
std::vector<T> values(const base::Tensor& tensor) {
  const auto span = tensor.as<const T>();
  return {span.begin(), span.end()};
}
std::vector<int64_t> ids(const Split& split, SplitPart part);
// The edges (source, target) in the order of their tensors; without any, ascending.
std::vector<std::pair<int64_t, int64_t>> edges(const graph::Graph& graph, int32_t edge_type = 0);
// The edges of a list as edges() gives them.
std::vector<std::pair<int64_t, int64_t>> ordered(std::vector<std::pair<int64_t, int64_t>> listed,
                                                 const graph::Graph& graph);
const base::Tensor& dense(const Dataset& dataset, const std::string& name);
const base::CsrMatrix& sparse(const Dataset& dataset, const std::string& name);

// 0 -> 1 -> 2 -> 3 -> 0 and 0 -> 2, as a graph with dense features "x" [4, 2], labels "y"
// {0,1,0,-1} and an edge tensor "weight".
graph::GraphRef small_graph(base::ThreadPool& pool);

}  // namespace gnnmg::data
