// Products in bf16 for machines with AMX-BF16.
#define GNNMG_VECTOR_BYTES 64
#define GNNMG_BF16_TABLE bf16_amx
#include "nn/kernels/bf16_body.h"
