// Finds and opens the CUDA plug-in, and explains its absence.
#pragma once

#include <string>

#include "device/table.h"

namespace gnnmg::device {

// The version that library and plug-in must share: the library's version, LibTorch's, and a digest
// of the headers of the device table, as in "0.1.0 with LibTorch 2.11.0, interface 4f1c09aa51d2".
// The build gives both the same text (src/cmake/interface.cmake).
const char* build_version() noexcept;

// The type of the plug-in's only exported function, which never returns null.
using TableFunction = const Table* (*)() noexcept;
inline constexpr const char* kTableFunction = "gnnmg_cuda_device_table";

struct Plugin {
  const Table* table = nullptr;
  std::string why;  // the reason if there is no table: one line that ends with the remedy
};

// Opens the libgnnmg_cuda.so next to the library that contains this function. It is opened once per
// process, and the result is kept. Call it before the first use of LibTorch that needs CUDA,
// because LibTorch looks for its CUDA half only once. Any thread.
const Plugin& open_plugin();

// Opens the plug-in in a file, without keeping the result.
Plugin open_plugin_at(const std::string& path);

// True if this machine has NVIDIA's driver, of any version.
bool has_driver();

}  // namespace gnnmg::device
