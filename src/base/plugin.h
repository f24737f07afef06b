// The CUDA plug-in: where it is looked for, how it is opened, and why it is not there.
#pragma once

#include <string>

#include "base/device.h"

namespace gnnmg::base {

// What library and plug-in must agree on: the library's version, LibTorch's, and a digest of the
// headers of the device table, as in "0.1.0 with LibTorch 2.11.0, interface 4f1c09aa51d2". The
// build gives both the same text (src/cmake/interface.cmake).
const char* build_version() noexcept;

// The one function that the plug-in exports. Never null.
using DeviceTableFunction = const DeviceTable* (*)() noexcept;
inline constexpr const char* kDeviceTableFunction = "gnnmg_cuda_device_table";

struct Plugin {
  const DeviceTable* table = nullptr;
  std::string why;  // why there is no table: one line that ends with the remedy
};

// Opens libgnnmg_cuda.so that lies beside the library this function is a part of. What was found
// stays: it is opened once a process, before LibTorch is used where that matters, because LibTorch
// looks for its CUDA half once. Any thread.
const Plugin& open_plugin();

// The same for a file; opened anew.
Plugin open_plugin_at(const std::string& path);

// Whether this machine has NVIDIA's driver, of any version.
bool has_driver();

}  // namespace gnnmg::base
