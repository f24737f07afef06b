// The kernels for any machine.
#define GNNMG_VECTOR_BYTES 16
#define GNNMG_ISA_TABLE(type) table_generic_##type
#include "nn/kernels/body.h"
