// The functions of NVIDIA's driver that LibTorch looks up by name when a thread's device changes.
extern "C" {

int gnnmg_fake_context(int device, int* active);

__attribute__((visibility("default"))) int cuDevicePrimaryCtxGetState(int device, unsigned* flags,
                                                                      int* active) {
  *flags = 0;
  return gnnmg_fake_context(device, active);
}

__attribute__((visibility("default"))) int cuGetErrorString(int, const char** text) {
  *text = "the pretended driver fails";
  return 0;
}

}  // extern "C"
