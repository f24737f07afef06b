// The container that torch.save() writes: the pickled object, and the storages that it names. The
// meaning of the object is in pth.cpp. Only for files of this room.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/memory_charge.h"
#include "base/tensor.h"
#include "io/npy.h"
#include "io/pickle.h"

namespace gnnmg::io {

struct StorageType {
  std::string_view name;  // name in the module torch
  NpyKind kind;
  int32_t item_size;
  U2 u2 = U2::kInteger;
};
// Null for an unknown name.
const StorageType* find_storage_type(std::string_view name);
// Bytes per element, also of types that the library has no tensors for (complex, quantized); 0 for
// an unknown name.
int32_t storage_item_size(std::string_view name);

struct PthPickle {
  base::MemoryCharge charge;
  std::vector<uint8_t> bytes;  // the texts are views of these
  PickleRef root;
};

class PthFile {
 public:
  // Opens the zip archive of PyTorch 1.6 and later, the layout of earlier versions, or a plain
  // pickle. Error(kFormat) for anything else.
  static std::unique_ptr<PthFile> open(const std::string& path);
  // `bytes` must outlive it.
  static std::unique_ptr<PthFile> memory(std::span<const uint8_t> bytes, std::string name);
  virtual ~PthFile() = default;

  virtual const std::string& name() const = 0;
  virtual int64_t num_bytes() const = 0;
  // The texts of records "extra/<key>", by key; empty where the layout has none.
  virtual std::map<std::string, std::string> metadata() const { return {}; }
  // The object; limits of size are the file's own.
  virtual PthPickle unpickle(PickleOptions options) = 0;
  // A storage that the object refers to, as a tensor of one dimension; call after unpickle().
  // Error(kFormat) that begins with `where` if type or length differ.
  virtual base::Tensor load(std::string_view key, const StorageType& type, int64_t count,
                            const std::string& where) = 0;

 protected:
  static constexpr int64_t kMaxPickle = int64_t{64} << 20;
  // Allowance for values of the pickle beside tensors: options, histories, counters.
  static constexpr int64_t kFreeValues = int64_t{1} << 20;
  static base::Tensor load_elements(const StorageType& type, int64_t count,
                                    const std::string& where,
                                    const std::function<void(std::span<uint8_t>)>& read);
};

// The records of metadata, in the archive's folder.
inline constexpr std::string_view kExtraRecords = "extra/";

// The end of the beginning that PyTorch before 1.6 writes, if the file begins so; else 0.
size_t legacy_pth_start(std::string_view start);
// True if the file may be a plain pickle, as pickle.dump() writes it.
bool looks_like_pickle(std::string_view start);
// The layout of PyTorch before 1.6, whose beginning ends at `start`; 0: a plain pickle, without
// storages.
std::unique_ptr<PthFile> open_legacy_pth(const std::string& path, size_t start);
std::unique_ptr<PthFile> legacy_pth_of(std::span<const uint8_t> bytes, std::string name,
                                       size_t start);

}  // namespace gnnmg::io
