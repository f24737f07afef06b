// Everything that one process serves: its description, some parts of a folder, and the folder's
// files, or all of a data set that is not divided. Bytes in, bytes out; no question leaves a trace.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/cancel.h"
#include "dist/files.h"
#include "dist/held_parts.h"
#include "dist/hello.h"
#include "dist/serve.h"

namespace gnnmg::dist {

// The version of this library, "0.1.0": both sides of a connection have the same.
const char* library_version() noexcept;

// The greeting of a process that has these parts.
Hello hello_of(const HeldParts& held);

class Host {
 public:
  // Opens parts of a folder (held_parts.h); none given: all that are there.
  // Error(kNotFound) where no part is there, kInvalidArgument for a part that is named twice; the
  // others as of hold_parts() and PartFolder::read().
  Host(const std::string& folder, std::vector<int32_t> parts, const base::CancelToken& cancel);
  Host(const HeldParts& held, std::vector<int32_t> parts);

  const Hello& hello() const { return hello_; }
  // Writes the answer to a message: a refusal where its question cannot be answered. Error(
  // kProtocol) or kUnsupported for bytes that are no question. Any thread, several at a time.
  void answer(std::span<const uint8_t> message, Message& out) const;

 private:
  void answer_file(const FileQuestion& question, Message& out) const;

  Hello hello_;
  SourceFiles files_;
  std::vector<std::unique_ptr<const Server>> servers_;  // one a part; null: not served here
};

}  // namespace gnnmg::dist
