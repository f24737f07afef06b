/*
 * Processes that end right after they have left their job, while threads still run in them:
 * no process counts as lost, and a reason for leaving arrives. leave_test <rounds>
 * [gpus]: with the second word the ways of trainers alone, each process on a GPU.
 */
#define _POSIX_C_SOURCE 200809L
#include <arpa/inet.h>
#include <gnnmg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { PROCESSES = 3 };

static const char* const WAYS[] = {"shutdown",     "cancel",          "free", "trainer cancel",
                                   "trainer free", "start cancel",    "exit", "exit after all",
                                   "trainer exit", "trainer callback"};

/* Longer than the texts that fit into a string object. */
static const char* const NOWHERE = "/no/such/data/set/with/a/name/that/needs/memory/of/its/own";

static int on_gpus = 0;

static void give_up(const char* how, int process, const char* what) {
  fprintf(stderr, "%s, process %d: %s: %s\n", how, process, what, gnnmg_last_error());
  _Exit(1);
}

#define CHECK(call)                                       \
  do {                                                    \
    if ((call) != GNNMG_OK) give_up(how, process, #call); \
  } while (0)

/* Returns an unused port. */
static int free_port(void) {
  struct sockaddr_in address;
  socklen_t size = sizeof address;
  int fd = socket(AF_INET, SOCK_STREAM, 0);
  memset(&address, 0, sizeof address);
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (fd < 0 || bind(fd, (struct sockaddr*)&address, size) != 0 ||
      getsockname(fd, (struct sockaddr*)&address, &size) != 0)
    exit(1);
  close(fd);
  return ntohs(address.sin_port);
}

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

/* Time limit for the end of the program, in seconds; two of them are the library's patience. */
static const double LONGEST_EXIT = 3.5;

static int32_t end_program(const gnnmg_epoch_info* epoch, void* user) {
  (void)epoch;
  (void)user;
  exit(0);
}

/* The others learn of the gone process at once and in every later call. */
static void expect_gone(const char* how, int process, int leaver, gnnmg_trainer* trainer) {
  char expected[64];
  double start = now();
  gnnmg_status status;
  int call;
  for (call = 0; call < 2; ++call) {
    status = gnnmg_trainer_run(trainer, NULL, NULL, NULL);
    snprintf(expected, sizeof expected, "process %d on host ", leaver);
    if (status != GNNMG_ERR_ABORTED || strstr(gnnmg_last_error(), expected) == NULL ||
        strstr(gnnmg_last_error(), "left the job without a shutdown: its program has ended") ==
            NULL)
      give_up(how, process, "expected GNNMG_ERR_ABORTED by the end of a program");
    if (call > 0 && now() - start > 1) give_up(how, process, "the second answer was late");
    start = now();
  }
  _Exit(0);
}

/* A trainer that would train for hours. */
static gnnmg_trainer* make_trainer(const char* how, int process, gnnmg_context* context,
                                   gnnmg_comm* comm) {
  gnnmg_trainer_config training = {.struct_size = sizeof training};
  gnnmg_dataset* data;
  gnnmg_model* model;
  gnnmg_trainer* trainer;
  CHECK(gnnmg_dataset_generate(context, "planted", "num_nodes=500", &data));
  CHECK(gnnmg_model_create(context, data, NULL, NULL, &model));
  training.num_epochs = 1000000000;
  training.batch_size = 32;
  training.device = on_gpus ? GNNMG_DEVICE_CUDA : GNNMG_DEVICE_AUTO;
  CHECK(gnnmg_trainer_create(model, data, NULL, comm, &training, "torch_threads=1", &trainer));
  return trainer;
}

/* The leaver frees its trainer, in the middle of training or while the others still wait for a
 * process that does not come to the start. */
static void train_with(const char* how, int process, int leaver, gnnmg_context* context,
                       gnnmg_comm* comm) {
  gnnmg_trainer* trainer = make_trainer(how, process, context, comm);
  const int at_start = strcmp(how, "start cancel") == 0;
  const struct timespec pause = {0, 1000000};
  gnnmg_status status;
  CHECK(gnnmg_comm_barrier(comm, -1));
  if (at_start && process == (leaver + 1) % PROCESSES) { /* this process does not come */
    do status = gnnmg_comm_barrier(comm, -1);
    while (status == GNNMG_OK);
    _Exit(0);
  }
  if (strstr(how, "callback") != NULL && process == leaver) {
    status = gnnmg_trainer_run(trainer, end_program, NULL, NULL);
    give_up(how, process, "the callback did not end the program");
  }
  if (process != leaver) {
    if (strcmp(how, "trainer exit") == 0 || strcmp(how, "trainer callback") == 0)
      expect_gone(how, process, leaver, trainer);
    status = gnnmg_trainer_run(trainer, NULL, NULL, NULL);
    if (status != GNNMG_ERR_ABORTED || strstr(gnnmg_last_error(), "canceled") == NULL)
      give_up(how, process, "expected GNNMG_ERR_ABORTED after a cancel");
    _Exit(0);
  }
  if (at_start) sleep(1); /* until the other has come */
  CHECK(gnnmg_trainer_start(trainer, NULL, NULL, NULL));
  while (!at_start) {
    gnnmg_progress_info progress;
    progress.struct_size = sizeof progress;
    CHECK(gnnmg_trainer_progress(trainer, &progress));
    if (progress.epoch > 0) break;
    nanosleep(&pause, NULL);
  }
  if (strcmp(how, "trainer exit") == 0) exit(0);
  if (strcmp(how, "trainer free") == 0)
    gnnmg_trainer_free(trainer);
  else
    gnnmg_trainer_cancel(trainer);
  _Exit(0);
}

static void expect_nowhere(const char* how, int process, gnnmg_context* context) {
  gnnmg_dataset* data;
  if (gnnmg_dataset_open(context, NOWHERE, NULL, &data, -1) != GNNMG_ERR_NOT_FOUND)
    give_up(how, process, "expected no data set");
}

/* One process; `leaver` leaves first unless all leave together. */
static void take_part(const char* how, int process, int leaver, int port) {
  gnnmg_context_config settings = {.struct_size = sizeof settings};
  gnnmg_comm_config config = {.struct_size = sizeof config};
  gnnmg_context* context;
  gnnmg_comm* comm;
  gnnmg_status status;
  char expected[64], cause[128];
  settings.num_threads = 1;
  CHECK(gnnmg_context_create(GNNMG_VERSION, &settings, &context));
  if (strcmp(how, "exit after all") == 0 && process == leaver) /* has no effect later */
    expect_nowhere(how, process, context);
  config.port = port;
  config.num_processes = PROCESSES;
  config.process_rank = process;
  CHECK(gnnmg_comm_create(context, NULL, NULL, NULL, &config, &comm, -1));
  if (strstr(how, "trainer") != NULL || strstr(how, "start") != NULL)
    train_with(how, process, leaver, context, comm);
  if (strcmp(how, "shutdown") == 0) {
    CHECK(gnnmg_comm_shutdown(comm, -1));
    _Exit(0);
  }
  if (process == leaver) {
    CHECK(gnnmg_comm_barrier(comm, -1));
    if (strcmp(how, "exit") == 0) expect_nowhere(how, process, context);
    if (strstr(how, "exit") != NULL) exit(0);
    if (strcmp(how, "cancel") == 0) gnnmg_comm_cancel(comm);
    gnnmg_comm_free(comm);
    _Exit(0);
  }
  do status = gnnmg_comm_barrier(comm, -1);
  while (status == GNNMG_OK);
  snprintf(expected, sizeof expected,
           strcmp(how, "cancel") == 0 ? "canceled by process %d on host "
                                      : "rank %d freed its communicator",
           leaver);
  if (status != GNNMG_ERR_ABORTED || strstr(gnnmg_last_error(), expected) == NULL)
    give_up(how, process, expected);
  snprintf(cause, sizeof cause, ": its last error was ERR_NOT_FOUND: %s", NOWHERE);
  if (strcmp(how, "exit") == 0 && strstr(gnnmg_last_error(), cause) == NULL)
    give_up(how, process, cause);
  if (strcmp(how, "exit after all") == 0 && strstr(gnnmg_last_error(), "last error") != NULL)
    give_up(how, process, "expected no error of before the job");
  _Exit(0);
}

/* One job of processes that have not used the library before. Returns 0 on success. */
static int run_job(const char* how, int leaver) {
  const int port = free_port();
  const double start = now();
  int bad = 0, status, process;
  for (process = 0; process < PROCESSES; ++process) {
    const pid_t child = fork();
    if (child < 0) exit(1);
    if (child == 0) take_part(how, process, leaver, port);
  }
  for (process = 0; process < PROCESSES; ++process)
    if (wait(&status) < 0 || status != 0) bad = 1;
  if (strcmp(how, "trainer callback") == 0 && now() - start > 2 * LONGEST_EXIT) {
    fprintf(stderr, "%s: the job took %.1f s\n", how, now() - start);
    bad = 1;
  }
  return bad;
}

int main(int argc, char** argv) {
  const int rounds = argc > 1 ? atoi(argv[1]) : 50;
  size_t way;
  int failed = 0, round;
  on_gpus = argc > 2 && strcmp(argv[2], "gpus") == 0;
  for (way = 0; way < sizeof WAYS / sizeof WAYS[0]; ++way) {
    const int all = way == 0 ? rounds : way < 3 ? (rounds + 4) / 5 : (rounds + 15) / 16;
    if (on_gpus && strstr(WAYS[way], "trainer") == NULL && strstr(WAYS[way], "start") == NULL)
      continue;
    for (round = 0; round < all; ++round) failed += run_job(WAYS[way], round % PROCESSES);
    printf("%s: %d jobs\n", WAYS[way], all);
    fflush(stdout); /* or children would print it again */
  }
  return failed == 0 ? 0 : 1;
}
