#include "dist/host.h"

#include <algorithm>
#include <utility>

#include "base/error.h"
#include "base/file.h"
#include "data/parts_manifest.h"
#include "dist/frame.h"
#include "dist/part_folder.h"

namespace gnnmg::dist {
using base::fail;
using base::Status;

Hello hello_of(const HeldParts& held) {
  const data::parts::Manifest& manifest = *held.manifest();
  const std::string file = data::parts::kMetadataFile;
  const data::parts::Metadata metadata = data::parts::parse_metadata(
      manifest.text(file), base::join_path(manifest.source().name(), file));
  Hello hello;
  hello.version = library_version();
  hello.stamp = stamp_of(manifest.sum());
  hello.num_parts = metadata.arguments.num_parts;
  hello.facts = metadata.data;
  hello.facts.emplace_back("method", metadata.arguments.method);
  hello.facts.emplace_back("seed", std::to_string(metadata.arguments.seed));
  hello.facts.emplace_back("SHA-256 of manifest.json", manifest.sum());
  hello.parts = held.found();
  return hello;
}

const char* library_version() noexcept { return GNNMG_VERSION_TEXT; }

Host::Host(const std::string& folder, std::vector<int32_t> parts, const base::CancelToken& cancel)
    : Host(*hold_parts(folder, cancel), std::move(parts)) {}

Host::Host(const HeldParts& held, std::vector<int32_t> parts)
    : hello_(hello_of(held)), files_(held.manifest()) {
  std::sort(parts.begin(), parts.end());
  const auto twice = std::adjacent_find(parts.begin(), parts.end());
  if (twice != parts.end())
    fail(Status::kInvalidArgument, "part ", *twice, " is named twice among those to serve");
  if (parts.empty()) parts = hello_.parts;
  if (parts.empty())
    fail(Status::kNotFound, held.source()->name(), ": none of the ", hello_.num_parts,
         " parts is there, expected folders such as ", data::parts::part_folder(0));
  servers_.resize(static_cast<size_t>(hello_.num_parts));
  for (const int32_t part : parts)
    servers_[part] = std::make_unique<const Server>(held.read(part), hello_.stamp);
  hello_.parts = std::move(parts);
}

void Host::answer(std::span<const uint8_t> message, Message& out) const {
  const Head head = read_head(message);
  const auto op = static_cast<Op>(head.op);
  if (op == Op::kHello) return write_hello(head.request, hello_, out);
  if (op == Op::kFile) return answer_file(read_file_question(message), out);
  const Asked asked = read_question(message);
  const auto part = static_cast<size_t>(asked.question.part);
  if (part < servers_.size() && servers_[part]) return servers_[part]->answer(asked, out);
  write_refusal(asked.question, Status::kNotFound, base::text("part ", part, " is not served here"),
                out);
}

void Host::answer_file(const FileQuestion& question, Message& out) const {
  try {
    if (question.stamp != hello_.stamp)
      fail(Status::kMismatch,
           "the question is about other data: their fingerprint begins otherwise");
    std::vector<uint8_t> bytes;
    const int64_t size = files_.read_piece(question.name, question.offset, bytes, {});
    write_file_piece(question, {size, bytes}, out);
  } catch (const base::Error& error) {
    write_refusal(plain_head(Op::kFile, question.request, question.stamp), error.status(),
                  error.what(), out);
  }
}

}  // namespace gnnmg::dist
