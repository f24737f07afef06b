/* One process of a job that a launcher has started (torchrun, srun, mpirun, a loop of the shell):
 * they meet, add up a number, and leave together.
 *
 *   torchrun --nproc-per-node 3 --no-python ./processes */
#include <gnnmg.h>
#include <gnnmg_util.h>
#include <stdio.h>

int main(void) {
  gnnmg_context* context = NULL;
  gnnmg_comm* comm = NULL;
  gnnmg_tensor* tensor = NULL;
  const int64_t shape[1] = {1};
  int32_t rank = 0, size = 0;
  float sum;

  GNNMG_CHECK(gnnmg_context_create(GNNMG_VERSION, NULL, &context));
  gnnmg_check_context(context);
  /*! [join] */
  GNNMG_CHECK(gnnmg_comm_create_from_env(context, NULL, &comm, -1));
  GNNMG_CHECK(gnnmg_comm_rank(comm, &rank));
  GNNMG_CHECK(gnnmg_comm_world_size(comm, &size));
  /*! [join] */

  sum = (float)(rank + 1);
  GNNMG_CHECK(gnnmg_tensor_create(&sum, GNNMG_DTYPE_F32, 1, shape, NULL, NULL, &tensor));
  GNNMG_CHECK(gnnmg_comm_all_reduce(comm, tensor, GNNMG_REDUCE_SUM, -1));
  gnnmg_tensor_free(tensor);
  printf("process %d of %d: the sum is %.0f\n", (int)rank, (int)size, sum);

  /* Without it the first process to leave would abort the others. */
  GNNMG_CHECK(gnnmg_comm_shutdown(comm, -1));
  gnnmg_comm_free(comm);
  gnnmg_log_print(context, GNNMG_LOG_WARNING, stderr);
  gnnmg_context_free(context);
  return 0;
}
