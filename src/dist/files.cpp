#include "dist/files.h"

#include <algorithm>
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

FolderFiles::FolderFiles(std::string folder)
    : folder_(std::move(folder)),
      manifest_(std::make_unique<const data::parts::Manifest>(folder_)) {}
FolderFiles::~FolderFiles() = default;

std::string FolderFiles::path(const std::string& name) const {
  const bool listed =
      name == data::parts::kManifestFile || (manifest_->has(name) && name.find('/') == name.npos);
  if (!listed)
    fail(Status::kNotFound, folder_, ": no file of all parts is called \"", io::printable(name),
         "\"");
  return base::join_path(folder_, name);
}

std::vector<uint8_t> FolderFiles::read(const std::string& name, int64_t limit,
                                       const base::CancelToken& cancel) const {
  const base::CancelScope scope(cancel, "reading a file of a folder of parts");
  return base::read_file(path(name), limit);
}

int64_t FolderFiles::read_piece(const std::string& name, int64_t offset,
                                std::vector<uint8_t>& out) const {
  const base::File file(path(name));
  if (offset > file.size())
    fail(Status::kRange, file.path(), ": byte ", offset, " is asked for, expected ", file.size(),
         " at most");
  out.resize(static_cast<size_t>(std::min(kFilePiece, file.size() - offset)));
  file.read_at(offset, out);
  return file.size();
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
