/* Replaces a LibTorch of another version: it has hardly any of its symbols. */
#include <stdint.h>

#ifdef VERSION /* LibTorch has this function since 2.11 */
uint64_t aoti_torch_abi_version(void);
uint64_t aoti_torch_abi_version(void) { return (uint64_t)VERSION << 40; }
#else
extern int older_than_that;
int older_than_that = 1;
#endif
