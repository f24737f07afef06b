/* Stands in for a LibTorch of another version, which has hardly any of its names. */
#include <stdint.h>

#ifdef VERSION /* LibTorch has this function since 2.11 */
uint64_t aoti_torch_abi_version(void);
uint64_t aoti_torch_abi_version(void) { return (uint64_t)VERSION << 40; }
#else
extern int older_than_that;
int older_than_that = 1;
#endif
