// PTX, the instructions that nvcc writes for GPUs of any kind: kernels of a text, made ready to be
// run on the host by run.h. What is known of the language is what the plug-in's kernels use; the
// rest is refused with its line. Source: PTX ISA 9.0, NVIDIA.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace gnnmg::ptx {

inline constexpr int kLanes = 32;

// What is wrong with a text, or with what a kernel does.
struct Error : std::runtime_error {
  using std::runtime_error::runtime_error;
};

struct Instruction;
struct Warp;
// Does an instruction on the lanes of `mask`.
using Operation = void (*)(Warp& warp, const Instruction& what, uint32_t mask);

enum class Space : uint8_t { kGeneric, kGlobal, kShared, kParam };
// What is more than an operation on each lane by itself.
enum class Control : uint8_t {
  kNone,
  kBranch,
  kExit,
  kLanes,  // lanes of a warp wait for each other: shfl, vote, bar.warp
  kBlock,  // threads of a block do: bar.sync, bar.red
};

struct Instruction {
  Operation run = nullptr;
  Control control = Control::kNone;
  Space space = Space::kGeneric;
  bool atomic = false;  // no other access comes between: atom, and what is relaxed or volatile
  bool guard_negated = false;
  uint8_t width = 1;   // of a vector
  int32_t guard = -1;  // the predicate without which a lane does nothing; -1: none
  std::array<int32_t, 4> out{-1, -1, -1, -1};     // registers; -1: none
  std::array<int32_t, 5> in{-1, -1, -1, -1, -1};  // an access of memory: its address, then values
  int64_t offset = 0;                             // bytes behind the address
  int32_t target = -1;                            // of a branch
  int32_t members = -1;       // for which lanes wait: the register that names them
  uint32_t used_bytes = ~0u;  // of what is loaded; the rest is thrown away
  int line = 0;               // of the text
};

// Registers with a value that no instruction gives them.
enum class Special : uint8_t { kLane, kThread, kBlock, kThreads, kBlocks, kLanesFrom, kLanesUpTo };

struct Kernel {
  std::string name;
  std::vector<Instruction> code;
  int32_t num_registers = 0;
  std::vector<std::pair<int32_t, uint64_t>> constants;  // registers that keep a value
  std::vector<std::pair<int32_t, Special>> specials;
  std::vector<int64_t> parameter_bytes, parameter_places;  // of each
  int64_t all_parameter_bytes = 0, shared_bytes = 0;
  int max_threads = 0;  // of a block; 0: not said
};

// The kernels of a text, which may be several modules in the form in which cuobjdump lists them.
class Program {
 public:
  explicit Program(std::string text);
  ~Program();
  // Null where there is none. Throws Error where it is not understood. Any thread.
  const Kernel* find(const std::string& name);
  std::vector<std::string> names() const;

 private:
  struct Function;
  struct Module;
  std::string text_;
  std::vector<std::unique_ptr<Module>> modules_;
  std::map<std::string, std::pair<Module*, Function*>> entries_;
  std::mutex mutex_;
  std::map<std::string, std::unique_ptr<Kernel>> kernels_;
  friend class Decoder;
};

// The operation of an instruction's name, as "add.s32"; null where it is not known.
Operation find_operation(std::string_view name);

}  // namespace gnnmg::ptx
