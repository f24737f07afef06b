// OpenSSL's libcrypto. A file that includes it calls init_libcrypto() before its first use.
#pragma once

#include <openssl/crypto.h>

namespace gnnmg::base {

// libcrypto frees its state at exit by default, while threads of the library may still use it. An
// early call with this flag leaves that to the system.
inline void init_libcrypto() { OPENSSL_init_crypto(OPENSSL_INIT_NO_ATEXIT, nullptr); }

}  // namespace gnnmg::base
