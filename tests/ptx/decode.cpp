// Decodes the instructions of a kernel from their names and operands. Called functions are inlined.
#include <algorithm>
#include <charconv>
#include <optional>
#include <utility>

#include "ptx/parse.h"

namespace gnnmg::ptx {
namespace {

using Names = std::map<std::string_view, int32_t>;

bool is_one_of(std::string_view text, std::initializer_list<std::string_view> all) {
  return std::find(all.begin(), all.end(), text) != all.end();
}

std::optional<uint64_t> number(std::string_view text) {
  const auto parse = [](std::string_view digits, int base) -> std::optional<uint64_t> {
    uint64_t value = 0;
    while (!digits.empty() && digits.back() == 'U') digits.remove_suffix(1);
    const auto [end, error] =
        std::from_chars(digits.data(), digits.data() + digits.size(), value, base);
    if (error != std::errc{} || end != digits.data() + digits.size()) return {};
    return value;
  };
  const bool negative = !text.empty() && text[0] == '-';
  if (negative) text.remove_prefix(1);
  if (text.empty() || text[0] < '0' || text[0] > '9') return {};
  const bool prefixed =
      text.size() > 2 && text[0] == '0' && is_one_of(text.substr(1, 1), {"f", "d", "x", "F", "D"});
  std::optional<uint64_t> value = prefixed ? parse(text.substr(2), 16) : parse(text, 10);
  if (value && negative) value = 0 - *value;
  return value;
}

}  // namespace

class Decoder {
 public:
  Decoder(Program::Module& module, const Program::Function& entry, Kernel& kernel)
      : module_(module), kernel_(kernel) {
    kernel.name = entry.name;
    kernel.max_threads = entry.max_threads;
    Frame frame{entry};
    for (const Variable& parameter : entry.parameters) {
      int64_t& end = kernel.all_parameter_bytes;
      end = (end + parameter.align - 1) / parameter.align * parameter.align;
      kernel.parameter_places.push_back(end);
      kernel.parameter_bytes.push_back(parameter.bytes);
      frame.places[parameter.name] = static_cast<uint64_t>(end);
      end += parameter.bytes;
    }
    body(frame);
  }

 private:
  // The names of a function.
  struct Frame {
    const Program::Function& function;
    std::vector<Names> scopes{1};
    std::map<std::string_view, uint64_t> ranges{};  // "%r" and its number, from ".reg .b32 %r<9>"
    // Positions of the kernel's parameters, and shared memory.
    std::map<std::string_view, uint64_t> places{};
    Names arguments{};  // arguments of calls, in registers
    std::map<std::string_view, size_t> labels{};
    std::vector<std::pair<size_t, std::string_view>> branches{};
    std::vector<size_t> returns{};
    bool inside = false;  // true inside an inlined function
  };

  [[noreturn]] void refuse(const std::string& why) const {
    throw Error("line " + std::to_string(line_) + " of " + kernel_.name + ": " + why);
  }

  int32_t new_register() { return kernel_.num_registers++; }

  int32_t constant(uint64_t value) {
    const auto [found, is_new] = constants_.try_emplace(value, -1);
    if (is_new) {
      found->second = new_register();
      kernel_.constants.emplace_back(found->second, value);
    }
    return found->second;
  }

  int32_t special(std::string_view name) {
    static const std::map<std::string_view, Special> known = {
        {"%laneid", Special::kLane},          {"%tid.x", Special::kThread},
        {"%ctaid.x", Special::kBlock},        {"%ntid.x", Special::kThreads},
        {"%nctaid.x", Special::kBlocks},      {"%lanemask_ge", Special::kLanesFrom},
        {"%lanemask_le", Special::kLanesUpTo}};
    const auto found = known.find(name);
    if (found == known.end()) return -1;
    const auto [place, is_new] = specials_.try_emplace(name, -1);
    if (is_new) {
      place->second = new_register();
      kernel_.specials.emplace_back(place->second, found->second);
    }
    return place->second;
  }

  static bool is_declared(const Frame& frame, std::string_view name) {
    const size_t end = name.find_last_not_of("0123456789") + 1;
    const auto range = frame.ranges.find(name.substr(0, end));
    return range != frame.ranges.end() && end < name.size() &&
           number(name.substr(end)) < range->second;
  }

  // Decodes a register, a number or a symbol's address.
  int32_t operand(Frame& frame, std::string_view text) {
    if (text.empty()) refuse("an operand is missing");
    if (text == "_") return -1;
    for (auto scope = frame.scopes.rbegin(); scope != frame.scopes.rend(); ++scope)
      if (const auto found = scope->find(text); found != scope->end()) return found->second;
    if (const int32_t place = special(text); place >= 0) return place;
    if (is_declared(frame, text)) return frame.scopes.front()[text] = new_register();
    if (const auto value = number(text)) return constant(*value);
    if (const auto found = frame.places.find(text); found != frame.places.end())
      return constant(found->second);
    if (const auto found = module_.globals.find(text); found != module_.globals.end())
      return constant(reinterpret_cast<uint64_t>(found->second.data()));
    refuse("not known: " + std::string(text));
  }

  // Decodes "[a+8]" into the register of a, and 8.
  void address(Frame& frame, std::string_view text, Instruction& to) {
    text = trim(text.substr(1, text.size() - 2));
    const size_t plus = text.find('+');
    if (plus != text.npos) {
      const auto offset = number(trim(text.substr(plus + 1)));
      if (!offset) refuse("an offset is no number");
      to.offset = static_cast<int64_t>(*offset);
      text = trim(text.substr(0, plus));
    }
    to.in[0] = operand(frame, text);
  }

  static std::vector<std::string_view> elements(std::string_view text) {
    if (text.empty() || text[0] != '{') return {text};
    return split(text.substr(1, text.size() - 2));
  }

  void declare(Frame& frame, std::string_view text) {
    if (text.substr(0, 4) == ".reg") {
      const size_t name = text.find_last_of(" \t");
      for (std::string_view one : split(text.substr(name + 1))) {
        const size_t count = one.find('<');
        if (count == one.npos)
          frame.scopes.back()[one] = new_register();
        else
          frame.ranges[one.substr(0, count)] =
              number(one.substr(count + 1, one.size() - count - 2)).value();
      }
    } else if (text.substr(0, 7) == ".shared") {
      const Variable variable = parse_variable(text);
      int64_t& end = kernel_.shared_bytes;
      end = (end + variable.align - 1) / variable.align * variable.align;
      frame.places[variable.name] = static_cast<uint64_t>(end);
      end += variable.bytes;
    } else if (text.substr(0, 6) == ".param") {
      frame.arguments[parse_variable(text).name] = new_register();
    } else if (text.substr(0, 7) == ".pragma") {
      constexpr std::string_view used = "used_bytes_mask ";
      if (const size_t at = text.find(used); at != text.npos) {
        const std::string_view digits = text.substr(at + used.size());
        used_bytes_ = static_cast<uint32_t>(number(digits.substr(0, digits.find('"'))).value());
      }
    } else {
      refuse("not known: " + std::string(text));
    }
  }

  void call(Frame& frame, std::string_view operands) {
    const std::vector<std::string_view> parts = split(operands);
    const bool result = !parts[0].empty() && parts[0][0] == '(';
    const auto found = module_.functions.find(parts[result ? 1 : 0]);
    if (found == module_.functions.end()) refuse("calls what is not there");
    Frame callee{found->second};
    callee.inside = true;
    const auto pass = [&](const std::vector<Variable>& names, std::string_view list) {
      const std::vector<std::string_view> given = split(list.substr(1, list.size() - 2));
      for (size_t i = 0; i < names.size(); ++i)
        callee.arguments[names[i].name] = frame.arguments.at(given.at(i));
    };
    if (result) pass(found->second.results, parts[0]);
    if (!found->second.parameters.empty()) pass(found->second.parameters, parts.back());
    const int line = line_;
    body(callee);
    line_ = line;
  }

  // An access to a call's argument becomes a move.
  bool access_argument(Frame& frame, bool loads, const std::vector<std::string_view>& operands) {
    std::string_view name = operands[loads ? 1 : 0];
    name = trim(name.substr(1, name.size() - 2));
    if (const size_t plus = name.find('+'); plus != name.npos) {
      if (trim(name.substr(plus + 1)) != "0") return false;
      name = trim(name.substr(0, plus));
    }
    const auto found = frame.arguments.find(name);
    if (found == frame.arguments.end()) return false;
    Instruction move;
    move.run = find_operation("mov.b64");
    move.line = line_;
    const int32_t other = operand(frame, operands[loads ? 0 : 1]);
    move.out[0] = loads ? other : found->second;
    move.in[0] = loads ? found->second : other;
    kernel_.code.push_back(move);
    return true;
  }

  void instruction(Frame& frame, std::string_view text) {
    Instruction what;
    what.line = line_;
    if (text[0] == '@') {
      const size_t end = text.find_first_of(" \t");
      std::string_view guard = text.substr(1, end - 1);
      what.guard_negated = guard[0] == '!';
      if (what.guard_negated) guard.remove_prefix(1);
      what.guard = operand(frame, guard);
      text = trim(text.substr(end));
    }
    const size_t end = std::min(text.size(), text.find_first_of(" \t\n"));
    const std::vector<std::string_view> name = split(text.substr(0, end), '.');
    const std::string_view rest = trim(text.substr(end));
    std::vector<std::string_view> operands;
    if (!rest.empty()) operands = split(rest);

    if (name[0] == "call") {
      if (what.guard >= 0) refuse("a call with a condition is not known");
      return call(frame, rest);
    }
    if (is_one_of(name[0], {"ld", "st"}) && name[1] == "param" &&
        access_argument(frame, name[0] == "ld", operands))
      return;
    if (name[0] == "bra") {
      what.control = Control::kBranch;
      what.run = find_operation("bra");
      frame.branches.emplace_back(kernel_.code.size(), operands.at(0));
    } else if (is_one_of(name[0], {"ret", "exit"})) {
      what.control = frame.inside && name[0] == "ret" ? Control::kBranch : Control::kExit;
      what.run = find_operation("ret");
      if (what.control == Control::kBranch) frame.returns.push_back(kernel_.code.size());
    } else if (is_one_of(name[0], {"ld", "st", "atom", "red"})) {
      access(frame, name, operands, what);
    } else {
      compute(frame, name, operands, what);
    }
    if (what.run == nullptr) refuse("not known: " + std::string(text.substr(0, end)));
    kernel_.code.push_back(what);
  }

  void access(Frame& frame, const std::vector<std::string_view>& name,
              const std::vector<std::string_view>& operands, Instruction& what) {
    std::string plain{name[0]};
    const bool atom = is_one_of(name[0], {"atom", "red"}), stores = name[0] == "st";
    what.atomic = atom;
    for (std::string_view part : std::vector(name.begin() + 1, name.end())) {
      if (part == "global") what.space = Space::kGlobal;
      if (part == "shared") what.space = Space::kShared;
      if (part == "param") what.space = Space::kParam;
      if (is_one_of(part, {"relaxed", "volatile", "acquire", "release"})) what.atomic = true;
      if (is_one_of(part, {"relaxed", "volatile", "acquire", "release", "weak", "gpu", "cta", "sys",
                           "nc"}))
        continue;
      if (is_one_of(part, {"global", "shared", "param"}) && !atom) continue;
      plain += "." + std::string(part);
    }
    what.run = find_operation(plain);
    const bool red = name[0] == "red";
    address(frame, operands.at(stores || red ? 0 : 1), what);
    if (stores) {
      size_t i = 1;
      for (std::string_view one : elements(operands.at(1))) what.in.at(i++) = operand(frame, one);
    } else {
      size_t i = 0;
      if (!red)
        for (std::string_view one : elements(operands.at(0)))
          what.out.at(i++) = operand(frame, one);
      for (i = red ? 1 : 2; atom && i < operands.size(); ++i)
        what.in.at(red ? i : i - 1) = operand(frame, operands[i]);
    }
    if (name[0] == "ld") what.used_bytes = std::exchange(used_bytes_, ~0u);
  }

  void compute(Frame& frame, const std::vector<std::string_view>& name,
               const std::vector<std::string_view>& operands, Instruction& what) {
    std::string plain{name[0]};
    for (size_t i = 1; i < name.size(); ++i) {
      if (name[i] == "rn" && is_one_of(name[0], {"add", "sub", "mul"})) continue;
      plain += "." + std::string(name[i]);
    }
    if (name[0] == "cvta") {
      if (plain != "cvta.to.global.u64") refuse("not known: " + plain);
      plain = "mov.u64";
    }
    size_t in = 0, first = 1;
    if (is_one_of(name[0], {"bar", "membar", "nanosleep"}))
      first = plain == "bar.red.or.pred" ? 1 : 0;
    if (name[0] == "mov" && (operands.at(0)[0] == '{' || operands.at(1)[0] == '{')) {
      const bool takes_apart = operands[0][0] == '{';
      const size_t parts = elements(operands[takes_apart ? 0 : 1]).size();
      plain =
          (takes_apart ? "unpack." : "pack.") + std::string(name[1]) + "." + std::to_string(parts);
    }
    if (first == 1) {
      size_t out = 0;
      std::string_view to = operands.at(0);
      if (const size_t bar = to.find('|'); bar != to.npos) {
        what.out[0] = operand(frame, trim(to.substr(0, bar)));
        what.out[1] = operand(frame, trim(to.substr(bar + 1)));
      } else {
        for (std::string_view one : elements(to)) what.out.at(out++) = operand(frame, one);
      }
    }
    for (size_t i = first; i < operands.size(); ++i)
      for (std::string_view one : elements(operands[i])) what.in.at(in++) = operand(frame, one);
    what.run = find_operation(plain);
    if (plain == "bar.sync" || plain == "bar.red.or.pred") {
      what.control = Control::kBlock;
      if (in != (first == 1 ? 2u : 1u)) refuse("a barrier of some threads is not known");
    } else if (is_one_of(name[0], {"shfl", "vote"}) || plain == "bar.warp.sync") {
      what.control = Control::kLanes;
      what.members = what.in.at(in - 1);
    }
  }

  void body(Frame& frame) {
    size_t depth = 0;
    for (const Statement& statement : parse_body(frame.function.body, frame.function.line)) {
      line_ = statement.line;
      const std::string_view text = statement.text;
      if (statement.label) {
        frame.labels[text] = kernel_.code.size();
      } else if (text == "{") {
        frame.scopes.emplace_back();
        ++depth;
      } else if (text == "}") {
        if (depth-- == 0) refuse("a bracket too many");
        frame.scopes.pop_back();
      } else if (text[0] == '.') {
        declare(frame, text);
      } else {
        instruction(frame, text);
      }
    }
    const auto end = static_cast<int32_t>(kernel_.code.size());
    for (size_t at : frame.returns) kernel_.code[at].target = end;
    for (const auto& [at, label] : frame.branches) {
      const auto found = frame.labels.find(label);
      if (found == frame.labels.end()) refuse("no label " + std::string(label));
      kernel_.code[at].target = static_cast<int32_t>(found->second);
    }
  }

  Program::Module& module_;
  Kernel& kernel_;
  int line_ = 0;
  uint32_t used_bytes_ = ~0u;
  std::map<uint64_t, int32_t> constants_;
  std::map<std::string_view, int32_t> specials_;
};

const Kernel* Program::find(const std::string& name) {
  const auto entry = entries_.find(name);
  if (entry == entries_.end()) return nullptr;
  const std::lock_guard lock(mutex_);
  std::unique_ptr<Kernel>& kernel = kernels_[name];
  if (!kernel) {
    auto made = std::make_unique<Kernel>();
    Decoder(*entry->second.first, *entry->second.second, *made);
    kernel = std::move(made);
  }
  return kernel.get();
}

}  // namespace gnnmg::ptx
