// OpenSSL's libcrypto, for the files that include it: whoever calls it says so first.
#pragma once

#include <openssl/crypto.h>

namespace gnnmg::base {

// At the end of the process libcrypto would take itself apart while threads of ours may still be in
// it. Asked for before anything else of it, it leaves that to the system.
inline void init_libcrypto() { OPENSSL_init_crypto(OPENSSL_INIT_NO_ATEXIT, nullptr); }

}  // namespace gnnmg::base
