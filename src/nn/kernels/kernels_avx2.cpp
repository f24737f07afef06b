// The kernels for machines with AVX2 and FMA.
#define GNNMG_VECTOR_BYTES 32
#define GNNMG_ISA_TABLE(type) table_avx2_##type
#include "nn/kernels/body.h"
