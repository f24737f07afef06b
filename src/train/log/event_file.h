// Event files as TensorBoard reads them: TFRecord frames with masked CRC-32C, each holding an Event
// message of named scalars, encoded by hand because a message of five fields needs no library.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "train/log/append_file.h"

namespace gnnmg::train {

struct Scalar {
  std::string tag;
  double value = 0;
};

// Length, its checksum, the data, their checksum.
std::vector<uint8_t> frame_record(std::span<const uint8_t> data);

class EventFile {
 public:
  // Makes `folder` if it is not there, and in it a new file "events.out.tfevents.<time>....".
  explicit EventFile(const std::string& folder);
  const std::string& path() const { return file_->path(); }
  // A file whose first step is not 0 continues earlier files in the folder and replaces their
  // events from that step on.
  void add(int64_t step, std::span<const Scalar> scalars);

 private:
  void begin(int64_t step);

  std::unique_ptr<AppendFile> file_;
  bool begun_ = false;
};

}  // namespace gnnmg::train
