// Products in bf16 for machines with AVX2 and FMA.
#define GNNMG_VECTOR_BYTES 32
#define GNNMG_BF16_TABLE bf16_avx2
#include "nn/kernels/bf16_body.h"
