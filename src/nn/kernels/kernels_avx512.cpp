// The kernels for machines with AVX-512 F, BW, DQ and VL.
#define GNNMG_VECTOR_BYTES 64
#define GNNMG_ISA_TABLE(type) table_avx512_##type
#include "nn/kernels/body.h"
