#include "data/parts_files.h"

#include <algorithm>
#include <cstring>

#include "data/native_arrays.h"
#include "io/npy.h"

namespace gnnmg::data::parts {
namespace {

using base::fail;
using base::Status;

constexpr size_t kBuffer = 64 << 10;

}  // namespace

void PieceSums::add(std::span<const uint8_t> bytes) {
  while (!bytes.empty()) {
    const size_t room = static_cast<size_t>(kSumBytes - bytes_ % kSumBytes);
    const auto now = bytes.first(std::min(room, bytes.size()));
    sum_->add(now);
    bytes_ += static_cast<int64_t>(now.size());
    bytes = bytes.subspan(now.size());
    if (bytes_ % kSumBytes == 0) {
      sums_.push_back(sum_->finish());
      sum_ = std::make_unique<io::Sha256>();
    }
  }
}

void PieceSums::finish() {
  if (bytes_ % kSumBytes != 0) sums_.push_back(sum_->finish());
}

SummedFile::SummedFile(const std::string& folder, std::string file)
    : name_(std::move(file)),
      file_(base::join_path(folder, name_), base::AtomicFile::Links::kRefuse) {
  buffer_.reserve(kBuffer);
}

void SummedFile::write_header(base::DType dtype, const base::Shape& shape) {
  const std::string header = io::npy_header(dtype, shape);
  write(header.data(), static_cast<int64_t>(header.size()));
}

void SummedFile::write(const void* data, int64_t size) {
  const auto* bytes = static_cast<const uint8_t*>(data);
  if (buffer_.size() + static_cast<size_t>(size) > kBuffer) flush();
  if (static_cast<size_t>(size) >= kBuffer) {
    const std::span all(bytes, static_cast<size_t>(size));
    sums_.add(all);
    file_.write(all);
  } else {
    buffer_.insert(buffer_.end(), bytes, bytes + size);
  }
}

void SummedFile::flush() {
  sums_.add(buffer_);
  file_.write(buffer_);
  buffer_.clear();
}

FileFacts SummedFile::commit() {
  flush();
  sums_.finish();
  file_.commit();
  return {name_, sums_.bytes(), sums_.sums()};
}

CheckedFile::CheckedFile(const Source& source, const FileFacts& facts,
                         const native::Array& expected)
    : file_(source.open(facts.file)), facts_(facts) {
  if (file_->size() != facts.bytes)
    fail(Status::kChecksum, path(), ": has ", file_->size(), " bytes, expected ", facts.bytes,
         ", which ", kManifestFile, " says");
  std::vector<uint8_t> start(static_cast<size_t>(std::min(file_->size(), io::kNpyStart)));
  file_->read_at(0, start);
  const io::NpyHeader header = native::check_header(start, file_->size(), path(), expected);
  if (header.big_endian || header.fortran_order)
    fail(Status::kFormat, path(), ": expected little-endian values, row after row");
  sums_.add(std::span(start).first(static_cast<size_t>(header.data_offset)));
  next_ = header.data_offset;
  if (file_->size() != header.data_offset + header.num_bytes())
    fail(Status::kFormat, path(), ": bytes follow after the array");
}

void CheckedFile::fill() {
  buffer_.resize(static_cast<size_t>(std::min<int64_t>(kBuffer, file_->size() - next_)));
  file_->read_at(next_, buffer_);
  next_ += static_cast<int64_t>(buffer_.size());
  used_ = 0;
  sums_.add(buffer_);
  check_sums();
}

void CheckedFile::check_sums() {
  const std::vector<std::string>& sums = sums_.sums();
  if (sums.empty() || sums.back() == facts_.sums[sums.size() - 1]) return;
  fail(Status::kChecksum, path(), ": bytes ", static_cast<int64_t>(sums.size() - 1) * kSumBytes,
       " to ", sums_.bytes() - 1, " are not those that were written; copy the file anew");
}

void CheckedFile::read(void* data, int64_t size) {
  auto* to = static_cast<uint8_t*>(data);
  while (size > 0) {
    if (used_ == buffer_.size()) {
      if (next_ == file_->size()) fail(Status::kFormat, path(), ": ends before its last row");
      fill();
    }
    const int64_t now = std::min<int64_t>(size, static_cast<int64_t>(buffer_.size() - used_));
    std::memcpy(to, buffer_.data() + used_, static_cast<size_t>(now));
    to += now;
    used_ += static_cast<size_t>(now);
    size -= now;
  }
}

void CheckedFile::finish() {
  if (used_ != buffer_.size() || next_ != file_->size())
    fail(Status::kFormat, path(), ": holds more than its rows");
  sums_.finish();
  check_sums();
}

}  // namespace gnnmg::data::parts
