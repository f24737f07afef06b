/* One process of a job that a launcher has started (torchrun, srun, mpirun, a loop of the shell):
 * they meet, add up a number, and leave together.
 *
 *   torchrun --nproc-per-node 3 --no-python ./processes */
#include <stdio.h>

#include "common.h"

int main(void) {
  gnnmg_context* context = NULL;
  gnnmg_comm* comm = NULL;
  struct DLManagedTensorVersioned* tensor = NULL;
  const int64_t shape[1] = {1};
  int32_t rank = 0, size = 0;
  float sum;

  context = open_context();
  /*! [join] */
  CHECK(gnnmg_comm_create_from_env(context, NULL, &comm, -1));
  CHECK(gnnmg_comm_rank(comm, &rank));
  CHECK(gnnmg_comm_world_size(comm, &size));
  /*! [join] */

  sum = (float)(rank + 1);
  CHECK(gnnmg_tensor_create(&sum, GNNMG_DTYPE_F32, 1, shape, NULL, NULL, &tensor));
  CHECK(gnnmg_comm_all_reduce(comm, tensor, GNNMG_REDUCE_SUM, -1));
  gnnmg_tensor_free(tensor);
  printf("process %d of %d: the sum is %.0f\n", (int)rank, (int)size, sum);

  /* Without it the first process to leave would abort the others. */
  CHECK(gnnmg_comm_shutdown(comm, -1));
  gnnmg_comm_free(comm);
  close_context(context);
  return 0;
}
