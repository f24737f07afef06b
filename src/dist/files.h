// The files that a folder of parts has once for all parts (metadata.json, whole.json, book.npy,
// splits, labels, manifest.json), wherever they lie: in a folder, or at a server that has it.
//
// Body of the question for bytes of a file: i64 the first byte, and its name. Body of the answer:
// i64 size of the file, and bytes of it from there on, as many as the server likes, one at least
// where there is one.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/cancel.h"
#include "dist/message.h"

namespace gnnmg::data::parts {
class Manifest;
class Source;
}  // namespace gnnmg::data::parts

namespace gnnmg::dist {

// Any thread.
class Files {
 public:
  virtual ~Files() = default;
  // Replaces `out` by bytes of a file from `offset` on, one at least where there is one, and
  // returns the size of the file. Error(kNotFound) where there is none of that name, or it is
  // neither of the folder itself nor the hotness of a part; kRange for an offset beyond its end,
  // kIo, kCancelled, and the errors of asking.
  virtual int64_t read_piece(const std::string& name, int64_t offset, std::vector<uint8_t>& out,
                             const base::CancelToken& cancel) const = 0;
  // All bytes. Error(kFormat) where it has more than `limit`.
  std::vector<uint8_t> read(const std::string& name, int64_t limit,
                            const base::CancelToken& cancel) const;
};

// The files as a folder to open a data set from, which is called `name` in errors. A file's reads
// are canceled by the token of the scope in which it was opened.
std::shared_ptr<const data::parts::Source> source_of(std::shared_ptr<const Files> files,
                                                     std::string name);

// The files of a folder here, and, of parts that are not, the files of `far`.
std::shared_ptr<const data::parts::Source> source_of(
    std::shared_ptr<const data::parts::Source> near,
    std::shared_ptr<const data::parts::Source> far);

// The part whose file it is, -1: of all.
int32_t part_of_file(const std::string& name);

// The files of a local source.
class SourceFiles : public Files {
 public:
  explicit SourceFiles(std::shared_ptr<const data::parts::Manifest> manifest);
  ~SourceFiles() override;
  // At most kFilePiece bytes.
  int64_t read_piece(const std::string& name, int64_t offset, std::vector<uint8_t>& out,
                     const base::CancelToken& cancel) const override;

 private:
  void check_name(const std::string& name) const;
  const std::shared_ptr<const data::parts::Manifest> manifest_;
};

inline constexpr int64_t kFilePiece = int64_t{1} << 20;

struct FileQuestion {
  uint64_t request = 0;
  uint64_t stamp = 0;
  std::string name;
  int64_t offset = 0;
};
void write_file_question(const FileQuestion& question, Message& out);
// Error(kProtocol) for a message that is no such question.
FileQuestion read_file_question(std::span<const uint8_t> message);

struct FilePiece {
  int64_t file_bytes = 0;
  std::span<const uint8_t> bytes;  // within the message
};
void write_file_piece(const FileQuestion& question, const FilePiece& piece, Message& out);
// Errors as of read_hello(); kProtocol where there are more bytes than the file has from there on,
// or none where there are some.
FilePiece read_file_piece(const FileQuestion& question, std::span<const uint8_t> message);

}  // namespace gnnmg::dist
