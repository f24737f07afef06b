#include "dist/files.h"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <utility>

#include "base/error.h"
#include "base/file.h"
#include "data/parts_manifest.h"
#include "dist/frame.h"

namespace gnnmg::dist {
namespace {

using base::fail;
using base::Status;

constexpr int64_t kMaxName = 4096;

}  // namespace

SourceFiles::SourceFiles(std::shared_ptr<const data::parts::Manifest> manifest)
    : manifest_(std::move(manifest)) {}
SourceFiles::~SourceFiles() = default;

void SourceFiles::check_name(const std::string& name) const {
  const bool shared =
      name.find('/') == name.npos || name.ends_with(std::string("/") + data::parts::kHotnessFile);
  const bool listed = name == data::parts::kManifestFile || (manifest_->has(name) && shared);
  if (!listed)
    fail(Status::kNotFound, manifest_->source().name(), ": no file of all parts is called \"",
         io::printable(name), "\"");
}

std::vector<uint8_t> Files::read(const std::string& name, int64_t limit,
                                 const base::CancelToken& cancel) const {
  std::vector<uint8_t> bytes, piece;
  while (true) {
    const auto offset = static_cast<int64_t>(bytes.size());
    const int64_t size = read_piece(name, offset, piece, cancel);
    if (size > limit)
      fail(Status::kFormat, "the file ", name, " has ", size, " bytes, expected ", limit,
           " at most");
    bytes.insert(bytes.end(), piece.begin(), piece.end());
    if (static_cast<int64_t>(bytes.size()) >= size) return bytes;
  }
}

namespace {

// Keeps the piece that was read last: files are read from beginning to end.
class PiecedFile : public data::parts::SourceFile {
 public:
  PiecedFile(const Files& files, std::string name, std::string path)
      : files_(files), name_(std::move(name)), path_(std::move(path)) {
    size_ = files_.read_piece(name_, 0, piece_, cancel_);
  }
  const std::string& path() const override { return path_; }
  int64_t size() const override { return size_; }
  void read_at(int64_t offset, std::span<uint8_t> out) const override {
    if (static_cast<int64_t>(out.size()) > size_ - offset)
      fail(Status::kIo, path_, ": ends at byte ", size_);
    while (!out.empty()) {
      if (offset < begin_ || offset >= begin_ + static_cast<int64_t>(piece_.size())) load(offset);
      const auto there = std::span(piece_).subspan(static_cast<size_t>(offset - begin_));
      const size_t now = std::min(out.size(), there.size());
      std::copy_n(there.begin(), now, out.begin());
      out = out.subspan(now);
      offset += static_cast<int64_t>(now);
    }
  }

 private:
  void load(int64_t offset) const {
    if (files_.read_piece(name_, offset, piece_, cancel_) != size_ || piece_.empty())
      fail(Status::kIo, path_, ": changed while it was read");
    begin_ = offset;
  }

  const Files& files_;
  const std::string name_, path_;
  const base::CancelToken cancel_ = base::current_cancel();
  int64_t size_ = 0;
  mutable int64_t begin_ = 0;
  mutable std::vector<uint8_t> piece_;
};

class FilesSource : public data::parts::Source {
 public:
  FilesSource(std::shared_ptr<const Files> files, std::string name)
      : files_(std::move(files)), name_(std::move(name)) {}
  const std::string& name() const override { return name_; }
  std::unique_ptr<data::parts::SourceFile> open(const std::string& file) const override {
    return std::make_unique<PiecedFile>(*files_, file, base::join_path(name_, file));
  }
  void expect_parts() const override {}  // the server of the parts has looked

 private:
  const std::shared_ptr<const Files> files_;
  const std::string name_;
};

class NearOrFar : public data::parts::Source {
 public:
  NearOrFar(std::shared_ptr<const data::parts::Source> near,
            std::shared_ptr<const data::parts::Source> far)
      : near_(std::move(near)), far_(std::move(far)) {}
  const std::string& name() const override { return near_->name(); }
  std::unique_ptr<data::parts::SourceFile> open(const std::string& file) const override {
    try {
      return near_->open(file);
    } catch (const base::Error& error) {
      if (error.status() != Status::kNotFound || part_of_file(file) < 0) throw;
    }
    return far_->open(file);
  }
  void expect_parts() const override { near_->expect_parts(); }

 private:
  const std::shared_ptr<const data::parts::Source> near_, far_;
};

}  // namespace

std::shared_ptr<const data::parts::Source> source_of(std::shared_ptr<const Files> files,
                                                     std::string name) {
  return std::make_shared<const FilesSource>(std::move(files), std::move(name));
}

std::shared_ptr<const data::parts::Source> source_of(
    std::shared_ptr<const data::parts::Source> near,
    std::shared_ptr<const data::parts::Source> far) {
  return std::make_shared<const NearOrFar>(std::move(near), std::move(far));
}

int32_t part_of_file(const std::string& name) {
  constexpr std::string_view kPrefix = "part-";
  int32_t part = -1;
  if (name.starts_with(kPrefix) && name.find('/') != name.npos)
    std::from_chars(name.data() + kPrefix.size(), name.data() + name.find('/'), part);
  return part;
}

int64_t SourceFiles::read_piece(const std::string& name, int64_t offset, std::vector<uint8_t>& out,
                                const base::CancelToken& cancel) const {
  const base::CancelScope scope(cancel, "reading a file of a folder of parts");
  check_name(name);
  const auto file = manifest_->source().open(name);
  if (offset > file->size())
    fail(Status::kRange, file->path(), ": byte ", offset, " is asked for, expected ", file->size(),
         " at most");
  out.resize(static_cast<size_t>(std::min(kFilePiece, file->size() - offset)));
  file->read_at(offset, out);
  return file->size();
}

void write_file_question(const FileQuestion& question, Message& out) {
  const Head head = plain_head(Op::kFile, question.request, question.stamp);
  const auto size = static_cast<int64_t>(sizeof question.offset + question.name.size());
  uint8_t* at = begin_message(head, size, out);
  std::memcpy(at, &question.offset, sizeof question.offset);
  put_array(io::as_bytes(question.name), at + sizeof question.offset);
  seal(out);
}

FileQuestion read_file_question(std::span<const uint8_t> message) {
  const Head head = read_head(message);
  if (head.op != static_cast<uint8_t>(Op::kFile) || head.flags != 0)
    fail(Status::kProtocol, "a message of kind ", int{head.op}, ", expected a question for a file");
  FileQuestion question;
  question.request = head.request;
  question.stamp = head.stamp;
  Body body(message);
  question.offset = body.number<int64_t>();
  const auto name = body.rest();
  if (question.offset < 0 || name.size() > static_cast<size_t>(kMaxName))
    fail(Status::kProtocol, "a question for byte ", question.offset, " of a file whose name has ",
         name.size(), " bytes");
  question.name = io::as_text(name);
  return question;
}

void write_file_piece(const FileQuestion& question, const FilePiece& piece, Message& out) {
  Head head = plain_head(Op::kFile, question.request, question.stamp);
  head.flags |= kAnswer;
  const auto size = static_cast<int64_t>(sizeof piece.file_bytes + piece.bytes.size());
  uint8_t* at = begin_message(head, size, out);
  std::memcpy(at, &piece.file_bytes, sizeof piece.file_bytes);
  put_array(piece.bytes, at + sizeof piece.file_bytes);
  seal(out);
}

FilePiece read_file_piece(const FileQuestion& question, std::span<const uint8_t> message) {
  read_answer_head(plain_head(Op::kFile, question.request, question.stamp), message);
  Body body(message);
  FilePiece piece;
  piece.file_bytes = body.number<int64_t>();
  piece.bytes = body.rest();
  const int64_t left = piece.file_bytes - question.offset;
  const auto size = static_cast<int64_t>(piece.bytes.size());
  if (piece.file_bytes < 0 || left < 0 || size > left || (size == 0 && left > 0))
    fail(Status::kProtocol, "an answer with ", size, " bytes from ", question.offset,
         " on of a file of ", piece.file_bytes);
  return piece;
}

}  // namespace gnnmg::dist
