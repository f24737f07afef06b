// Products in bf16 for machines with AVX-512's bf16 instructions.
#define GNNMG_VECTOR_BYTES 64
#define GNNMG_BF16_TABLE bf16_avx512bf16
#include "nn/kernels/bf16_body.h"
