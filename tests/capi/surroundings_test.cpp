// The library does not change the program's environment, locale, working folder, floating-point
// mode, signal handlers and umask, and prints nothing.
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xmmintrin.h>

#include <cfenv>
#include <clocale>
#include <cstring>
#include <map>

#include "base/error.h"
#include "base/file.h"
#include "capi/support.h"
#include "support/temp_dir.h"

namespace gnnmg::test {
namespace {

constexpr unsigned kMode = 0xFFC0;  // MXCSR without the flags of past exceptions

// The state that the library must not change, of the calling thread and of the process.
std::map<std::string, std::string> surroundings() {
  std::map<std::string, std::string> all;
  for (char** each = environ; *each != nullptr; ++each)
    all["environment"] += *each + std::string("\n");
  all["locale"] = std::setlocale(LC_ALL, nullptr);
  char folder[4096];
  all["working folder"] = getcwd(folder, sizeof folder);
  all["rounding"] = std::to_string(std::fegetround());
  all["traps"] = std::to_string(fegetexcept());
  all["mode of SSE"] = std::to_string(_mm_getcsr() & kMode);
  const mode_t mask = umask(0);
  umask(mask);
  all["umask"] = std::to_string(mask);
  sigset_t blocked;
  pthread_sigmask(SIG_BLOCK, nullptr, &blocked);
  for (int signal = 1; signal < NSIG; ++signal) {
    struct sigaction action {};
    if (sigaction(signal, nullptr, &action) != 0) continue;  // reserved by the threads library
    all["signal " + std::to_string(signal)] =
        base::text(reinterpret_cast<uintptr_t>(action.sa_handler), " ", action.sa_flags, " ",
                   sigismember(&blocked, signal));
  }
  return all;
}

// Catches standard output and standard error while it lives.
class Printed {
 public:
  explicit Printed(const std::string& path) : path_(path) {
    std::fflush(nullptr);
    const int file = open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    for (int each : {1, 2}) {
      before_[each - 1] = dup(each);
      dup2(file, each);
    }
    close(file);
  }
  std::string end() {
    std::fflush(nullptr);
    for (int each : {1, 2}) {
      dup2(before_[each - 1], each);
      close(before_[each - 1]);
    }
    const std::vector<uint8_t> bytes = base::read_file(path_, int64_t{1} << 20);
    return {bytes.begin(), bytes.end()};
  }

 private:
  const std::string path_;
  int before_[2]{};
};

void handle(int) {}

// Uses most of the library: a graph, a data set in files, a training of two ranks with checkpoints,
// a model in a file, errors.
void use_all(const std::string& folder) {
  ASSERT_EQ(mkdir(folder.c_str(), 0700), 0);
  World world;
  world.training.num_ranks = 2;
  world.training.num_epochs = 2;
  const std::string file = folder + "/model.pth";
  const Sampler sampler = world.make_sampler();
  const Model model = world.make_model();
  {
    const Trainer trainer = world.make_trainer(model, sampler);
    const CheckpointConfig checkpoints;
    EXPECT_OK(gnnmg_trainer_set_checkpoints(trainer, (folder + "/run").c_str(), &checkpoints));
    EXPECT_OK(gnnmg_trainer_run(trainer, nullptr, nullptr, nullptr));
  }
  EXPECT_OK(gnnmg_model_save(model, file.c_str(), nullptr, -1));
  EXPECT_OK(gnnmg_dataset_save(world.dataset, (folder + "/data").c_str(), -1));
  Dataset again, none;
  EXPECT_OK(
      gnnmg_dataset_open(world.context, (folder + "/data").c_str(), nullptr, again.out(), -1));
  EXPECT_EQ(gnnmg_dataset_open(world.context, "/no/such/place", nullptr, none.out(), -1),
            GNNMG_ERR_NOT_FOUND);
}

TEST(Surroundings, StayAsTheProgramHasThem) {
  const TempDir folder;
  // Values that differ from the defaults.
  ASSERT_EQ(setenv("GNNMG_TEST_OF_SURROUNDINGS", "a b=c", 1), 0);
  ASSERT_EQ(chdir(folder.path().c_str()), 0);
  std::setlocale(LC_ALL, "C.UTF-8");
  umask(027);
  struct sigaction mine {};
  mine.sa_handler = handle;
  mine.sa_flags = SA_NODEFER;
  for (int signal : {SIGINT, SIGPIPE, SIGCHLD, SIGSEGV, SIGUSR1}) sigaction(signal, &mine, nullptr);
  sigset_t some;
  sigemptyset(&some);
  sigaddset(&some, SIGUSR2);
  pthread_sigmask(SIG_BLOCK, &some, nullptr);
  for (const bool upwards : {false, true}) {
    SCOPED_TRACE(upwards);
    // Denormal numbers count as 0, or sums are rounded up.
    const unsigned before_mode = _mm_getcsr();
    if (upwards)
      std::fesetround(FE_UPWARD);
    else
      _mm_setcsr(before_mode | 0x8040);
    const auto before = surroundings();
    Printed printed(folder.file("printed"));
    use_all(folder.file(upwards ? "second" : "first"));
    const std::string text = printed.end();
    const auto after = surroundings();
    std::fesetround(FE_TONEAREST);
    _mm_setcsr(before_mode);
    EXPECT_EQ(after, before);
    EXPECT_EQ(text, "");
  }
}

}  // namespace
}  // namespace gnnmg::test
