/*
 * Collectives of ranks, one thread each: broadcast, all-gather, all-to-all, barrier; and the error
 * on the others when one of them finds bad data and gives up.
 */
#include <gnnmg.h>
#include <gnnmg_util.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { RANKS = 3 };

typedef struct {
  gnnmg_comm* comm;  /* this rank's end */
  gnnmg_comm* other; /* and of a second communicator */
  int wrong;         /* results that were not as expected */
} rank_work;

static gnnmg_tensor* wrap(int64_t* numbers, int64_t count) {
  gnnmg_tensor* tensor;
  GNNMG_CHECK(gnnmg_tensor_create(numbers, GNNMG_DTYPE_I64, 1, &count, NULL, NULL, &tensor));
  return tensor;
}

static void* work(void* argument) {
  rank_work* mine = argument;
  int32_t rank, size;
  GNNMG_CHECK(gnnmg_comm_rank(mine->comm, &rank));
  GNNMG_CHECK(gnnmg_comm_world_size(mine->comm, &size));

  /*! [broadcast] */
  int64_t seed = rank == 0 ? 42 : 0;
  gnnmg_tensor* shared = wrap(&seed, 1);
  GNNMG_CHECK(gnnmg_comm_broadcast(mine->comm, shared, 0, -1)); /* rank 0's to all */
  /*! [broadcast] */
  gnnmg_tensor_free(shared);
  mine->wrong += seed != 42;

  /*! [all gather] */
  int64_t own[RANKS] = {rank, rank, rank}, found[RANKS][RANKS] = {{0}};
  gnnmg_tensor *ours = wrap(own, rank + 1), *theirs[RANKS]; /* any sizes */
  for (int r = 0; r < size; ++r) theirs[r] = wrap(found[r], r + 1);
  GNNMG_CHECK(gnnmg_comm_all_gather(mine->comm, ours, theirs, -1));
  /*! [all gather] */
  gnnmg_tensor_free(ours);
  for (int r = 0; r < size; ++r) {
    gnnmg_tensor_free(theirs[r]);
    for (int i = 0; i <= r; ++i) mine->wrong += found[r][i] != r;
  }

  /*! [all to all] */
  int64_t out[RANKS], in[RANKS];
  gnnmg_tensor *to[RANKS], *from[RANKS];
  for (int r = 0; r < size; ++r) {
    out[r] = 10 * rank + r; /* row of rank r */
    to[r] = wrap(&out[r], 1);
    from[r] = wrap(&in[r], 1);
  }
  GNNMG_CHECK(gnnmg_comm_all_to_all(mine->comm, (const gnnmg_tensor* const*)to, from, -1));
  /*! [all to all] */
  for (int r = 0; r < size; ++r) {
    gnnmg_tensor_free(to[r]);
    gnnmg_tensor_free(from[r]);
    mine->wrong += in[r] != 10 * r + rank;
  }

  /*! [barrier] */
  GNNMG_CHECK(gnnmg_comm_barrier(mine->comm, -1)); /* waits until all ranks are here */
  /*! [barrier] */
  GNNMG_CHECK(gnnmg_comm_shutdown(mine->comm, -1)); /* all leave together */

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
  gnnmg_context* context;
  GNNMG_CHECK(gnnmg_context_create(GNNMG_VERSION, NULL, &context));
  gnnmg_check_context(context);
  /*! [group] */
  gnnmg_comm_config config = {
      .struct_size = sizeof config, .deadline_ms = 60000 /* a later rank is named in an error */
  };
  gnnmg_comm* comms[RANKS];
  GNNMG_CHECK(gnnmg_comm_create_group(context, RANKS, &config, comms));
  /*! [group] */
  gnnmg_comm* others[RANKS];
  GNNMG_CHECK(gnnmg_comm_create_group(context, RANKS, NULL, others));

  pthread_t threads[RANKS];
  rank_work works[RANKS];
  int wrong = 0;
  for (int rank = 0; rank < RANKS; ++rank) {
    works[rank] = (rank_work){comms[rank], others[rank], 0};
    if (pthread_create(&threads[rank], NULL, work, &works[rank]) != 0) abort(); /* no thread */
  }
  for (int rank = 0; rank < RANKS; ++rank) {
    pthread_join(threads[rank], NULL);
    wrong += works[rank].wrong;
    gnnmg_comm_free(comms[rank]);
    gnnmg_comm_free(others[rank]);
  }
  gnnmg_log_print(context, GNNMG_LOG_WARNING, stderr);
  gnnmg_context_free(context);
  printf("%d results are wrong\n", wrong);
  return wrong == 0 ? 0 : 1;
}
