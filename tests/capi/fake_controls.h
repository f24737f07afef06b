// Controls of fake GPUs that the plug-in of a fake machine (tests/fake_machine) offers to tests.
#pragma once

#include <dlfcn.h>
#include <gnnmg.h>
#include <gtest/gtest.h>

#include <string>

namespace gnnmg::test {

template <typename F>
F* control(const char* name) {
  Dl_info here{};
  EXPECT_NE(dladdr(reinterpret_cast<const void*>(&gnnmg_version), &here), 0);
  const std::string library = here.dli_fname;
  const std::string plugin = library.substr(0, library.rfind('/') + 1) + "libgnnmg_cuda.so";
  void* opened = dlopen(plugin.c_str(), RTLD_NOW | RTLD_NOLOAD);
  EXPECT_NE(opened, nullptr) << dlerror();
  return reinterpret_cast<F*>(dlsym(opened, name));
}
inline void lose(int device) { control<void(int)>("gnnmg_fake_lose")(device); }
inline void find_again(int device) { control<void(int)>("gnnmg_fake_find_again")(device); }
// Hangs queues from the `first`-th on; see fake_gpu/late.h.
inline void hang(int device, int first = 0) {
  control<void(int, int)>("gnnmg_fake_hang")(device, first);
}
inline void go_on(int device) { control<void(int)>("gnnmg_fake_go_on")(device); }
inline void refuse_pinning(bool refuse) { control<void(int)>("gnnmg_fake_refuse_pinning")(refuse); }
inline void refuse_peer(int device, int peer, bool refuse) {
  control<void(int, int, int)>("gnnmg_fake_refuse_peer")(device, peer, refuse);
}
inline void set_memory(int device, int64_t bytes) {
  control<void(int, int64_t)>("gnnmg_fake_set_memory")(device, bytes);
}
inline int64_t num_live(int device) { return control<int64_t(int)>("gnnmg_fake_num_live")(device); }

}  // namespace gnnmg::test
