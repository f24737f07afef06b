// PTX, nvcc's instructions for GPUs of any kind: parses the kernels of a text for execution on the
// host by run.h. Supports the part of the language that the plug-in's kernels use; other text is
// refused with its line. Source: PTX ISA 9.0, NVIDIA.
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

// An error in a text or in a kernel.
struct Error : std::runtime_error {
  using std::runtime_error::runtime_error;
};

struct Instruction;
struct Warp;
// Executes an instruction on the lanes of `mask`.
using Operation = void (*)(Warp& warp, const Instruction& what, uint32_t mask);

enum class Space : uint8_t { kGeneric, kGlobal, kShared, kParam };
// Instructions that are not an operation on each lane separately.
enum class Control : uint8_t {
  kNone,
  kBranch,
  kExit,
  kLanes,  // lanes of a warp wait for each other: shfl, vote, bar.warp
  kBlock,  // threads of a block wait for each other: bar.sync, bar.red
};

struct Instruction {
  Operation run = nullptr;
  Control control = Control::kNone;
  Space space = Space::kGeneric;
  bool atomic = false;  // no other access in between: atom, relaxed and volatile accesses
  bool guard_negated = false;
  uint8_t width = 1;                              // width of a vector
  int32_t guard = -1;                             // the predicate that enables a lane; -1: none
  std::array<int32_t, 4> out{-1, -1, -1, -1};     // registers; -1: none
  std::array<int32_t, 5> in{-1, -1, -1, -1, -1};  // a memory access has its address, then values
  int64_t offset = 0;                             // bytes added to the address
  int32_t target = -1;                            // target of a branch
  int32_t members = -1;                           // the register with the lanes to wait for
  uint32_t used_bytes = ~0u;                      // bytes of a load that are used
  int line = 0;                                   // line of the text
};

// Registers with values that no instruction sets.
enum class Special : uint8_t { kLane, kThread, kBlock, kThreads, kBlocks, kLanesFrom, kLanesUpTo };

struct Kernel {
  std::string name;
  std::vector<Instruction> code;
  int32_t num_registers = 0;
  std::vector<std::pair<int32_t, uint64_t>> constants;  // registers with constant values
  std::vector<std::pair<int32_t, Special>> specials;
  std::vector<int64_t> parameter_bytes, parameter_places;  // size and position of each
  int64_t all_parameter_bytes = 0, shared_bytes = 0;
  int max_threads = 0;  // limit for a block; 0: not given
};

// The kernels of a text, which may contain several modules in the form of cuobjdump's list.
class Program {
 public:
  explicit Program(std::string text);
  ~Program();
  // Returns null if there is none. Throws Error if it is not supported. Any thread.
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

// Returns the operation of an instruction's name, as "add.s32"; null if unknown.
Operation find_operation(std::string_view name);

}  // namespace gnnmg::ptx
