#include "train/checkpoint/folder.h"

#include <sys/random.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <limits>
#include <optional>
#include <span>
#include <utility>

#include "base/atomic_folder.h"
#include "base/file.h"
#include "data/arrays.h"
#include "io/checked_file.h"
#include "io/json.h"
#include "io/json_writer.h"

namespace gnnmg::train {
namespace {

using base::Status;
using io::JsonValue;

constexpr int64_t kVersion = 1;
constexpr std::string_view kFormat = "gnnmg checkpoint";
constexpr const char* kManifest = "manifest.json";
constexpr const char* kModel = "model.safetensors";
constexpr const char* kOptimizer = "optimizer.safetensors";
constexpr const char* kBest = "best.safetensors";
constexpr const char* kAverageFile = "average.safetensors";
constexpr const char* kState = "state.json";
constexpr std::string_view kMiddle = "-step-";
constexpr size_t kDigits = 6;
constexpr int64_t kSmallFile = 1 << 20;
constexpr std::string_view kTraining = "training";  // a member of state.json
constexpr size_t kLongestId = 64;

void write_text(const std::string& path, std::string_view text) {
  base::AtomicFile file(path, base::AtomicFile::Links::kRefuse);
  file.write(text);
  file.commit();
}

std::string read_text(const std::string& path) {
  const std::vector<uint8_t> bytes = base::read_file(path, kSmallFile);
  return {bytes.begin(), bytes.end()};
}

std::string name_of(int64_t number, int64_t step) {
  std::string digits = std::to_string(number);
  if (digits.size() < kDigits) digits.insert(0, kDigits - digits.size(), '0');
  return base::text(digits, kMiddle, step);
}

// Number in the name of a checkpoint.
std::optional<int64_t> number_of(std::string_view name) {
  const size_t middle = name.find(kMiddle);
  if (middle == name.npos) return {};
  const auto parse = [](std::string_view digits) {
    int64_t value = -1;
    const char* end = digits.data() + digits.size();
    const auto [stop, error] = std::from_chars(digits.data(), end, value);
    return error == std::errc() && stop == end ? value : -1;
  };
  const int64_t number = parse(name.substr(0, middle));
  const int64_t step = parse(name.substr(middle + kMiddle.size()));
  if (number < 0 || step < 0 || name_of(number, step) != name) return {};
  return number;
}

// Names of the checkpoints in a folder, the newest first.
std::vector<std::string> names_in(const std::string& folder) {
  std::vector<std::string> names;
  for (std::string& name : base::list_directory(folder))
    if (number_of(name) && base::is_directory(base::join_path(folder, name)))
      names.push_back(std::move(name));
  std::ranges::sort(names, [](const std::string& a, const std::string& b) {
    return *number_of(a) > *number_of(b);
  });
  return names;
}

// Name of the checkpoint in a small file; empty if the file is missing or invalid.
std::string named_by(const std::string& folder, const char* file) {
  std::string name;
  try {
    name = read_text(base::join_path(folder, file));
  } catch (const base::Error&) {  // missing, or not a file
    return {};
  }
  while (!name.empty() && name.back() == '\n') name.pop_back();
  return number_of(name) ? name : std::string();
}

// The entries of a manifest.
struct Manifest {
  std::vector<std::pair<std::string, io::FileSum>> files;

  const io::FileSum* find(std::string_view name) const {
    const auto found = std::ranges::find(files, name, [](const auto& file) { return file.first; });
    return found == files.end() ? nullptr : &found->second;
  }
};

Manifest parse_manifest(std::span<const uint8_t> text, const std::string& path) {
  const JsonValue manifest = io::parse_json(text, path);
  const JsonValue* format = manifest.find("format");
  const auto* name = format ? format->as<std::string>() : nullptr;
  if (!name || *name != kFormat)
    base::fail(Status::kFormat, path, ": format: expected \"", kFormat, "\"");
  const JsonValue* version = manifest.find("version");
  const auto* number = version ? version->as<int64_t>() : nullptr;
  if (!number || *number < 1)
    base::fail(Status::kFormat, path, ": version: expected a number from 1");
  if (*number > kVersion)
    base::fail(Status::kVersion, path, ": is of format version ", *number,
               "; this library reads up to ", kVersion);
  const JsonValue* files = manifest.find("files");
  const auto* entries = files ? files->as<JsonValue::Object>() : nullptr;
  if (!entries) base::fail(Status::kFormat, path, ": files: expected an object");
  Manifest out;
  for (const auto& [file, entry] : *entries) {
    base::check_relative_name(file, path);
    const JsonValue* bytes = entry.find("bytes");
    const JsonValue* sum = entry.find("sha256");
    const auto* count = bytes ? bytes->as<int64_t>() : nullptr;
    const auto* digits = sum ? sum->as<std::string>() : nullptr;
    if (!count || !digits)
      base::fail(Status::kFormat, path, ": files: ", file, ": expected \"bytes\" and \"sha256\"");
    out.files.push_back({file, {*count, *digits}});
  }
  return out;
}

std::vector<uint8_t> manifest_bytes(const std::string& folder) {
  const std::string path = base::join_path(folder, kManifest);
  if (!base::exists(path))
    throw base::Error(Status::kNotFound,
                      base::text(folder, ": is no checkpoint, it has no ", kManifest), -1, ENOENT);
  return base::read_file(path, kSmallFile);
}

// `read(path)` of a file that the manifest lists.
template <typename Read>
auto read_listed(const std::string& path, const Read& read) {
  try {
    return read(path);
  } catch (const base::Error& error) {
    if (error.status() != Status::kNotFound) throw;
    base::fail(Status::kChecksum, path, ": is missing, though the manifest lists it");
  }
}

io::StateFile read_tensors(const std::string& path, const io::FileSum& written) {
  return read_listed(path,
                     [&](const auto& file) { return io::read_checked_safetensors(file, written); });
}

std::string read_small(const std::string& path, const io::FileSum& written) {
  return read_listed(path, [&](const auto& file) {
    io::check_bytes(file, base::File(file).size(), written);
    std::string text = read_text(file);
    io::check_sum(file, io::sum_of({reinterpret_cast<const uint8_t*>(text.data()), text.size()}),
                  written);
    return text;
  });
}

// A format that this library does not know: nothing else is read.
void check_other(const std::string& path, const io::FileSum& written) {
  read_listed(path, [&](const auto& file) {
    io::check_bytes(file, base::File(file).size(), written);
    io::check_sum(file, io::sum_of_file(file), written);
  });
}

// kNan naming the first weight that is not finite: training could not continue.
void check_weights(const std::string& path, const char* name, const io::StateFile& weights) {
  for (const auto& [key, tensor] : weights.tensors) {
    const int64_t bad = data::find_not_finite(tensor.data(), tensor.dtype(),
                                              tensor.shape().num_elements(), /*as_f32=*/false);
    if (bad >= 0)
      base::fail(Status::kNan, base::join_path(path, name), ": ", key, ": element ", bad, " of ",
                 tensor.shape().to_string(), " is not finite: the training has diverged");
  }
}

void check_weights(const std::string& path, const CheckpointFiles& files) {
  check_weights(path, kModel, files.model);
  check_weights(path, kBest, files.best);
  check_weights(path, kAverageFile, files.average);
}

// True if an older checkpoint may help. An object of another kind in place of a file is damage,
// although no system call fails; a disk that does not answer is not damage, and neither is missing
// memory.
bool is_damage(const base::Error& error) {
  switch (error.status()) {
    case Status::kChecksum:
    case Status::kFormat:
    case Status::kVersion:
    case Status::kNotFound:
    case Status::kNan:
      return true;
    case Status::kIo:
      return error.system_error() == 0 || error.system_error() == ELOOP;
    default:
      return false;
  }
}

}  // namespace

void write_checkpoint(const std::string& path, const CheckpointFiles& files) {
  check_weights(path, files);
  base::AtomicFolder folder(path);
  const auto inside = [&](const char* name) { return base::join_path(folder.temporary(), name); };
  std::vector<const char*> names{kModel, kState};
  io::write_safetensors(inside(kModel), files.model);
  write_text(inside(kState), files.state);
  for (const auto& [name, file] :
       {std::pair(kOptimizer, &files.optimizer), std::pair(kBest, &files.best),
        std::pair(kAverageFile, &files.average)}) {
    if (file->tensors.empty()) continue;
    io::write_safetensors(inside(name), *file);
    names.push_back(name);
  }
  io::JsonWriter manifest(2);
  manifest.begin_object().member("format", kFormat).member("version", kVersion);
  manifest.key("files").begin_object();
  for (const char* name : names) {
    const io::FileSum sum = io::sum_of_file(inside(name));
    manifest.key(name).begin_object();
    manifest.member("bytes", sum.bytes).member("sha256", std::string_view(sum.sha256));
    manifest.end_object();
  }
  manifest.end_object().end_object();
  write_text(inside(kManifest), manifest.finish());
  folder.commit();
}

namespace {

CheckpointFiles read_files(const std::string& path, std::span<const uint8_t> manifest_text) {
  const Manifest manifest = parse_manifest(manifest_text, base::join_path(path, kManifest));
  for (const char* name : {kModel, kState})
    if (!manifest.find(name))
      base::fail(Status::kFormat, base::join_path(path, kManifest), ": files: has no ", name);
  CheckpointFiles files;
  for (const auto& [name, written] : manifest.files) {
    const std::string file = base::join_path(path, name);
    if (name == kState)
      files.state = read_small(file, written);
    else if (name == kModel)
      files.model = read_tensors(file, written);
    else if (name == kOptimizer)
      files.optimizer = read_tensors(file, written);
    else if (name == kBest)
      files.best = read_tensors(file, written);
    else if (name == kAverageFile)
      files.average = read_tensors(file, written);
    else
      check_other(file, written);
  }
  check_weights(path, files);
  return files;
}

}  // namespace

CheckpointFiles read_checkpoint(const std::string& path) {
  return read_files(path, manifest_bytes(path));
}

LoadedCheckpoint open_checkpoint(const std::string& path, const std::string& name,
                                 const std::string& digest) {
  LoadedCheckpoint loaded;
  loaded.path = name.empty() ? path : base::join_path(path, name);
  loaded.name = name;
  const std::string file = base::join_path(loaded.path, kManifest);
  if (!digest.empty() && !base::exists(file))
    base::fail(Status::kMismatch, loaded.path,
               ": is not here, but the first process goes on from it; a checkpoint has to lie "
               "where all processes can read it");
  const std::vector<uint8_t> manifest = manifest_bytes(loaded.path);
  loaded.digest = io::sum_of(manifest).sha256;
  if (!digest.empty() && loaded.digest != digest)
    base::fail(Status::kMismatch, loaded.path,
               ": is another checkpoint than the first process's: its manifest has SHA-256 ",
               loaded.digest, ", that one ", digest);
  loaded.files = read_files(loaded.path, manifest);
  return loaded;
}

std::string draw_training_id() {
  std::array<uint8_t, 16> random;
  if (getrandom(random.data(), random.size(), 0) != std::ssize(random))
    base::fail(Status::kIo, "the system gives no random numbers for the name of a training");
  return io::sum_of(random).sha256.substr(0, 2 * random.size());
}

std::string training_id_in(std::string_view state, std::string_view name) {
  const JsonValue parsed =
      io::parse_json({reinterpret_cast<const uint8_t*>(state.data()), state.size()}, name);
  const JsonValue* id = parsed.find(kTraining);
  if (!id) return {};
  const auto* text = id->as<std::string>();
  if (!text || text->empty() || text->size() > kLongestId)
    base::fail(Status::kFormat, name, ": ", kTraining, ": expected a text of 1 to ", kLongestId,
               " bytes");
  return *text;
}

// The newest readable checkpoint decides: a folder has checkpoints of one training only.
void CheckpointSeries::check_folder() const {
  if (!last_.empty() || !base::exists(folder_)) return;
  const std::vector<std::string> names = names_in(folder_);
  if (names.empty()) return;
  for (const char* pointer : {"latest", "best"})
    base::refuse_link(base::join_path(folder_, pointer));
  for (const std::string& name : names) try {
      const std::string state = base::join_path(base::join_path(folder_, name), kState);
      if (training_id_in(read_text(state), state) == training_) return;
      break;
    } catch (const base::Error& error) {
      if (!is_damage(error)) throw;
    }
  base::fail(Status::kMismatch, folder_, ": holds checkpoints of another training, the newest ",
             names.front(),
             ", which stay as they are. To go on with that training, load it first "
             "(gnnmg_trainer_load()); else give this one a folder of its own");
}

std::string CheckpointSeries::add(int64_t step, const CheckpointFiles& files, bool best) {
  base::make_directory(folder_);
  base::remove_leftovers(folder_);
  check_folder();
  const std::vector<std::string> names = names_in(folder_);
  if (!last_.empty() && !names.empty() && *number_of(names[0]) > *number_of(last_)) {
    const std::string own = std::exchange(last_, {});
    base::fail(Status::kIo, base::join_path(folder_, names[0]), ": is newer than ", own,
               ", which this training wrote last: another one writes its checkpoints there, and "
               "each needs a folder of its own");
  }
  if (!names.empty() && *number_of(names[0]) == std::numeric_limits<int64_t>::max())
    base::fail(Status::kRange, base::join_path(folder_, names[0]),
               ": no number is left after its own; give this training another folder");
  const std::string name = name_of(names.empty() ? 0 : *number_of(names[0]) + 1, step);
  const std::string path = base::join_path(folder_, name);
  last_ = name;  // even after a failure: the folder may exist
  write_checkpoint(path, files);
  if (best) write_text(base::join_path(folder_, "best"), name + "\n");
  write_text(base::join_path(folder_, "latest"), name + "\n");
  prune();
  return path;
}

void CheckpointSeries::prune() const {
  const std::string best = named_by(folder_, "best");
  int32_t kept = 0;
  for (const std::string& name : names_in(folder_))
    if (kept < keep_)
      ++kept;
    else if (name != best && std::ranges::find(protected_, name) == protected_.end())
      base::remove_folder(base::join_path(folder_, name));
}

LoadedCheckpoint find_checkpoint(const std::string& path, base::Log& log) {
  if (!base::exists(path))
    throw base::Error(Status::kNotFound, base::text(path, ": no such folder"), -1, ENOENT);
  if (base::exists(base::join_path(path, kManifest))) return open_checkpoint(path, "", "");
  if (!base::is_directory(path))
    base::fail(Status::kNotFound, path, ": is a file, expected the folder of a checkpoint");
  // Sorted by number: `latest` is for people, and may be older after an interrupted save.
  const std::vector<std::string> names = names_in(path);
  if (names.empty()) base::fail(Status::kNotFound, path, ": holds no checkpoint");
  std::optional<base::Error> first;
  for (const std::string& name : names) {
    try {
      return open_checkpoint(path, name, "");
    } catch (const base::Error& error) {
      if (!is_damage(error)) throw;
      log.add(base::LogLevel::kWarning, base::text("checkpoint passed over: ", error.what()));
      if (!first) first = error;
    }
  }
  const bool told = first->status() == Status::kVersion || first->status() == Status::kNan;
  base::fail(told ? first->status() : Status::kChecksum, path, ": none of its ", names.size(),
             " checkpoints can be read; the newest: ", first->what());
}

}  // namespace gnnmg::train
