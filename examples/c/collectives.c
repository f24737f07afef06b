/*
 * Collectives of ranks, one thread each: broadcast, all-gather, all-to-all, barrier; and the error
 * on the others when one of them finds bad data and gives up.
 */
#include <pthread.h>
#include <stdio.h>

#include "common.h"

enum { RANKS = 3 };

typedef struct {
  gnnmg_comm* comm;  /* this rank's end */
  gnnmg_comm* other; /* and of a second communicator */
  int wrong;         /* results that were not as expected */
} rank_work;

static struct DLManagedTensorVersioned* wrap(int64_t* numbers, int64_t count) {
  struct DLManagedTensorVersioned* tensor;
  CHECK(gnnmg_tensor_create(numbers, GNNMG_DTYPE_I64, 1, &count, NULL, NULL, &tensor));
  return tensor;
}

static void* work(void* argument) {
  rank_work* mine = argument;
  int32_t rank, size;
  CHECK(gnnmg_comm_rank(mine->comm, &rank));
  CHECK(gnnmg_comm_world_size(mine->comm, &size));

  /*! [broadcast] */
  int64_t seed = rank == 0 ? 42 : 0;
  struct DLManagedTensorVersioned* shared = wrap(&seed, 1);
  CHECK(gnnmg_comm_broadcast(mine->comm, shared, 0, -1)); /* rank 0's to all */
  /*! [broadcast] */
  gnnmg_tensor_free(shared);
  mine->wrong += seed != 42;

  /*! [all gather] */
  int64_t own[RANKS] = {rank, rank, rank}, found[RANKS][RANKS] = {{0}};
  struct DLManagedTensorVersioned *ours = wrap(own, rank + 1), *theirs[RANKS]; /* any sizes */
  for (int r = 0; r < size; ++r) theirs[r] = wrap(found[r], r + 1);
  CHECK(gnnmg_comm_all_gather(mine->comm, ours, theirs, -1));
  /*! [all gather] */
  gnnmg_tensor_free(ours);
  for (int r = 0; r < size; ++r) {
    gnnmg_tensor_free(theirs[r]);
    for (int i = 0; i <= r; ++i) mine->wrong += found[r][i] != r;
  }

  /*! [all to all] */
  int64_t out[RANKS], in[RANKS];
  struct DLManagedTensorVersioned *to[RANKS], *from[RANKS];
  for (int r = 0; r < size; ++r) {
    out[r] = 10 * rank + r; /* row of rank r */
    to[r] = wrap(&out[r], 1);
    from[r] = wrap(&in[r], 1);
  }
  CHECK(gnnmg_comm_all_to_all(mine->comm, (const struct DLManagedTensorVersioned* const*)to, from,
                              -1));
  /*! [all to all] */
  for (int r = 0; r < size; ++r) {
    gnnmg_tensor_free(to[r]);
    gnnmg_tensor_free(from[r]);
    mine->wrong += in[r] != 10 * r + rank;
  }

  /*! [barrier] */
  CHECK(gnnmg_comm_barrier(mine->comm, -1)); /* waits until all ranks are here */
  /*! [barrier] */
  CHECK(gnnmg_comm_shutdown(mine->comm, -1)); /* all leave together */

  if (rank == 1) {
    /*! [cancel] */
    gnnmg_comm_cancel(mine->other); /* this rank cannot go on: nobody shall wait for it */
    /*! [cancel] */
  } else {
    const gnnmg_status status = gnnmg_comm_barrier(mine->other, -1);
    printf("rank %d: %s: %s\n", (int)rank, gnnmg_status_name(status), gnnmg_last_error());
    mine->wrong += status != GNNMG_ERR_ABORTED;
  }
  return NULL;
}

int main(void) {
  gnnmg_context* context = open_context();
  /*! [group] */
  gnnmg_comm_config config;
  CHECK(gnnmg_comm_config_init(&config, sizeof config));
  config.deadline_ms = 60000; /* a later rank is named in an error */
  gnnmg_comm* comms[RANKS];
  CHECK(gnnmg_comm_create_group(context, RANKS, &config, comms));
  /*! [group] */
  gnnmg_comm* others[RANKS];
  CHECK(gnnmg_comm_create_group(context, RANKS, NULL, others));

  pthread_t threads[RANKS];
  rank_work works[RANKS];
  int wrong = 0;
  for (int rank = 0; rank < RANKS; ++rank) {
    works[rank] = (rank_work){comms[rank], others[rank], 0};
    if (pthread_create(&threads[rank], NULL, work, &works[rank]) != 0) give_up("no thread");
  }
  for (int rank = 0; rank < RANKS; ++rank) {
    pthread_join(threads[rank], NULL);
    wrong += works[rank].wrong;
    gnnmg_comm_free(comms[rank]);
    gnnmg_comm_free(others[rank]);
  }
  close_context(context);
  printf("%d results are wrong\n", wrong);
  return wrong == 0 ? 0 : 1;
}
