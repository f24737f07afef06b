// Products in bf16 for any machine.
#define GNNMG_VECTOR_BYTES 16
#define GNNMG_BF16_TABLE bf16_generic
#include "nn/kernels/bf16_body.h"
