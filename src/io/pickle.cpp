#include "io/pickle.h"

#include <algorithm>
#include <array>
#include <bit>
#include <deque>
#include <limits>
#include <unordered_map>

#include "base/cancel.h"
#include "base/error.h"
#include "base/memory_charge.h"
#include "io/bytes.h"
#include "io/pickle_lines.h"
#include "io/text.h"

namespace gnnmg::io {
namespace {

using base::fail;
using base::Status;

// The accepted opcodes, with the names of Python's pickletools.
enum Opcode : uint8_t {
  kMark = '(',
  kEmptyTuple = ')',
  kStop = '.',
  kPop = '0',
  kBinBytes = 'B',
  kShortBinBytes = 'C',
  kFloat = 'F',
  kBinFloat = 'G',
  kInt = 'I',
  kBinInt = 'J',
  kBinInt1 = 'K',
  kLong = 'L',
  kBinInt2 = 'M',
  kNone = 'N',
  kBinPersId = 'Q',
  kReduce = 'R',
  kString = 'S',
  kBinString = 'T',
  kShortBinString = 'U',
  kUnicode = 'V',
  kBinUnicode = 'X',
  kEmptyList = ']',
  kAppend = 'a',
  kBuild = 'b',
  kGlobal = 'c',
  kDict = 'd',
  kAppends = 'e',
  kGet = 'g',
  kBinGet = 'h',
  kLongBinGet = 'j',
  kList = 'l',
  kPut = 'p',
  kBinPut = 'q',
  kLongBinPut = 'r',
  kSetItem = 's',
  kTuple = 't',
  kSetItems = 'u',
  kEmptyDict = '}',
  kProto = 0x80,
  kNewObj = 0x81,
  kTuple1 = 0x85,
  kTuple2 = 0x86,
  kTuple3 = 0x87,
  kNewTrue = 0x88,
  kNewFalse = 0x89,
  kLong1 = 0x8a,
  kShortBinUnicode = 0x8c,
  kBinUnicode8 = 0x8d,
  kBinBytes8 = 0x8e,
  kEmptySet = 0x8f,
  kAddItems = 0x90,
  kFrozenSet = 0x91,
  kNewObjEx = 0x92,
  kStackGlobal = 0x93,
  kMemoize = 0x94,
  kFrame = 0x95,
  kByteArray8 = 0x96,
};

constexpr int kHighestProtocol = 5;
constexpr size_t kMaxGlobalName = 256;
constexpr size_t kMaxNumber = 64;  // characters
constexpr size_t kTextPerWeight = 64;
constexpr int64_t kUnitsPerStep = 64;  // units of cancelable work
constexpr int64_t kFreeMemory = int64_t{1} << 20;
constexpr int64_t kBlock = 16;  // overhead of a heap block, rounding included
constexpr int64_t kCountedBlock =
    24;  // overhead of a heap block with the counts of a shared pointer

// Runs a pickle. A value may change (items, state) only until it is placed in another one: so there
// are no cycles, and depth and weight of a placed value are final.
class Machine {
 public:
  // `in_row`: other bytes may follow.
  Machine(std::span<const uint8_t> bytes, const PickleOptions& options, std::string_view name,
          bool in_row)
      : bytes_(bytes),
        options_(options),
        name_(name),
        in_row_(in_row),
        most_(std::clamp<int64_t>(options.max_values, 0, std::numeric_limits<uint32_t>::max())) {}

  // Returns the value with its memory charge and the texts that are not views.
  PickleRef run() {
    struct Result {
      base::MemoryCharge charge;
      std::deque<std::string> texts;
      PickleRef root;
    };
    auto result = std::make_shared<Result>();
    result->root = value();
    forget(stack_);
    forget(memo_);
    result->charge = std::move(memory_);
    result->texts = std::move(texts_);
    return {result, result->root.get()};
  }
  size_t end() const { return at_; }  // end of the pickle

 private:
  PickleRef value() {
    for (;;) {
      opcode_at_ = at_;
      if (at_ == bytes_.size()) refuse("the pickle is cut: it has no STOP");
      opcode_ = bytes_[at_++];
      if (opcode_ == kStop) break;
      cancel_.add(kUnitsPerStep);
      step();
      if (made_ + stack_.size() + marks_.size() + memo_.size() + scattered_.size() > most_)
        refuse_many();
    }
    if (stack_.size() != 1 || !marks_.empty())
      refuse(base::text("STOP with ", stack_.size(), " values on the stack, expected one"));
    if (at_ != bytes_.size() && !in_row_)
      refuse(base::text(bytes_.size() - at_, " surplus bytes after the pickle"));
    return stack_.back();
  }

  [[noreturn]] void refuse(std::string_view what) const {
    fail(Status::kFormat, name_, ", byte ", opcode_at_, " of the pickle: ", what);
  }

  [[noreturn]] void refuse_many() const {
    refuse(base::text("more than ", options_.max_values, " values"));
  }

  // Called before memory is allocated.
  void charge(int64_t bytes) {
    const int64_t size = static_cast<int64_t>(in_row_ ? at_ : bytes_.size());
    if (memory_.bytes() + bytes > kFreeMemory + options_.max_growth * size)
      refuse(base::text("its values take more memory than ", options_.max_growth,
                        " times the pickle and a MiB"));
    memory_.take(bytes, name_);
  }
  template <typename T>
  void make_room(std::vector<T>& vector, size_t more) {
    const size_t needed = vector.size() + more, had = vector.capacity();
    if (needed <= had) return;
    const size_t capacity = had == 0 ? needed : std::max(needed, had + had / 2);
    charge(static_cast<int64_t>(capacity * sizeof(T)) + kBlock);
    vector.reserve(capacity);
    memory_.give_back(had == 0 ? 0 : static_cast<int64_t>(had * sizeof(T)) + kBlock);
  }
  // A list of values that is being destroyed.
  void forget(const std::vector<PickleRef>& values) {
    if (values.capacity() > 0)
      memory_.give_back(static_cast<int64_t>(values.capacity() * sizeof(PickleRef)) + kBlock);
  }

  std::span<const uint8_t> take(size_t count) {
    if (count > bytes_.size() - at_) refuse("the pickle is cut");
    at_ += count;
    return bytes_.subspan(at_ - count, count);
  }
  template <typename T>
  T take_little() {
    return load_little<T>(take(sizeof(T)), 0);
  }
  std::string_view take_line(size_t most, const char* what) {
    const auto rest = bytes_.subspan(at_, std::min(bytes_.size() - at_, most));
    const auto end = std::find(rest.begin(), rest.end(), '\n');
    if (end == rest.end()) refuse(base::text(what, " has no end"));
    const auto line = take(end - rest.begin());
    take(1);
    return as_text(line);
  }

  void push(PickleRef value) {
    make_room(stack_, 1);
    stack_.push_back(std::move(value));
  }
  template <typename T>
  PickleRef make(T value) {
    ++made_;
    charge(sizeof(PickleValue) + kCountedBlock);
    auto made = std::make_shared<PickleValue>();
    made->value = std::move(value);
    return made;
  }
  void push_text(PickleRef value, size_t size) {
    add_weight(*value, size / kTextPerWeight);
    push(std::move(value));
  }
  // Values without contents are shared: a pickle of a million Nones stays small.
  template <typename T>
  void push_shared(PickleRef& shared, T value) {
    if (!shared) shared = make(std::move(value));
    push(shared);
  }
  void push_int(int64_t value) {
    if (value >= 0 && value < static_cast<int64_t>(small_ints_.size()))
      return push_shared(small_ints_[value], value);
    // Graphs repeat the names of nodes, so equal texts are shared.
    const auto [place, added] = ints_.try_emplace(value);
    if (added) charge(sizeof(*place) + 2 * sizeof(void*) + kCountedBlock);
    push_shared(place->second, value);
  }

  size_t floor() const { return marks_.empty() ? 0 : marks_.back(); }
  PickleRef pop() {
    if (stack_.size() <= floor()) refuse("the stack is empty");
    PickleRef value = std::move(stack_.back());
    stack_.pop_back();
    return value;
  }
  PickleValue& top() {
    if (stack_.size() <= floor()) refuse("the stack is empty");
    return *stack_.back();
  }
  // Pops the values since the last mark.
  std::vector<PickleRef> pop_marked() {
    if (marks_.empty()) refuse("the stack has no mark");
    const auto begin = stack_.begin() + static_cast<ptrdiff_t>(marks_.back());
    std::vector<PickleRef> values;
    make_room(values, static_cast<size_t>(stack_.end() - begin));
    values.assign(std::make_move_iterator(begin), std::make_move_iterator(stack_.end()));
    stack_.erase(begin, stack_.end());
    marks_.pop_back();
    return values;
  }

  void add_weight(PickleValue& value, uint64_t weight) {
    const uint64_t sum = value.weight + weight;
    if (sum > most_) refuse_many();
    value.weight = static_cast<uint32_t>(sum);
  }
  void place(PickleValue& parent, PickleValue& child) {
    child.placed = true;
    if (parent.placed) refuse("a value that lies in another one is changed");
    if (child.depth >= options_.max_depth)
      refuse(base::text("nested more than ", options_.max_depth, " levels deep"));
    parent.depth = std::max<uint16_t>(parent.depth, child.depth + 1);
    add_weight(parent, child.weight);
  }

  void push_tuple(std::vector<PickleRef> items) {
    PickleRef tuple = make(PickleTuple{});
    for (const PickleRef& item : items) place(*tuple, *item);
    std::get<PickleTuple>(tuple->value).items = std::move(items);
    push(std::move(tuple));
  }
  void push_tuple_of(size_t count) {
    std::vector<PickleRef> items;
    make_room(items, count);
    items.resize(count);
    while (count > 0) items[--count] = pop();
    push_tuple(std::move(items));
  }
  void append(std::vector<PickleRef> items) {
    PickleValue& target = top();
    if (target.as<PickleOpaque>()) return forget(items);
    auto* list = std::get_if<PickleList>(&target.value);
    if (auto* object = std::get_if<std::unique_ptr<PickleObject>>(&target.value))
      list = &(*object)->list;
    if (!list) refuse("items for something that is no list");
    for (const PickleRef& item : items) place(target, *item);
    if (list->items.empty()) {
      list->items = std::move(items);
      return;
    }
    make_room(list->items, items.size());
    for (PickleRef& item : items) list->items.push_back(std::move(item));
    forget(items);
  }
  void set_items(std::vector<PickleRef> flat) {
    if (flat.size() % 2 != 0) refuse("a key without a value");
    PickleValue& target = top();
    if (target.as<PickleOpaque>()) return forget(flat);
    auto* dict = std::get_if<PickleDict>(&target.value);
    if (auto* object = std::get_if<std::unique_ptr<PickleObject>>(&target.value))
      dict = &(*object)->items;
    if (!dict) refuse("items for something that is no dict");
    make_room(dict->items, flat.size() / 2);
    for (size_t i = 0; i < flat.size(); i += 2) {
      place(target, *flat[i]);
      place(target, *flat[i + 1]);
      dict->items.emplace_back(std::move(flat[i]), std::move(flat[i + 1]));
    }
    forget(flat);
  }
  // The callable. PyTorch before 1.6 stores the class of a module as a persistent id ("module",
  // class, file, text of the file): the class in it.
  static PickleRef callable_in(const PickleRef& value) {
    const auto* persistent = value->as<PicklePersistent>();
    const auto* parts = persistent ? persistent->id->as<PickleTuple>() : nullptr;
    const bool named = parts && parts->items.size() > 1 && parts->items[1]->as<PickleOpaque>();
    return named ? parts->items[1] : value;
  }
  void apply() {
    PickleRef arguments = pop();
    const PickleRef callable = callable_in(pop());
    if (!arguments->as<PickleTuple>()) refuse("arguments that are no tuple");
    // The name represents everything made by it, so that a million dates need no memory.
    if (callable->as<PickleOpaque>()) return push(callable);
    const auto* global = callable->as<PickleGlobal>();
    if (!global) refuse("something is called that is no global");
    charge(sizeof(PickleObject) + kBlock);
    auto object = std::make_unique<PickleObject>();
    object->module = global->module;
    object->name = global->name;
    object->arguments = arguments;
    PickleRef made = make(std::move(object));
    place(*made, *arguments);
    push(std::move(made));
  }
  // Applies a class with keyword arguments; no accepted class has any.
  void apply_with_keywords() {
    const PickleRef keywords = pop();
    apply();
    const auto* dict = keywords->as<PickleDict>();
    if (!top().as<PickleOpaque>() && !(dict && dict->items.empty())) refuse("keyword arguments");
  }
  void build() {
    PickleRef state = pop();
    PickleValue& target = top();
    if (target.as<PickleOpaque>()) return;
    auto* object = std::get_if<std::unique_ptr<PickleObject>>(&target.value);
    if (!object || (*object)->state) refuse("a state for something that takes none");
    place(target, *state);
    (*object)->state = std::move(state);
  }
  void push_global() {
    constexpr const char* kWhat = "the name of a global";
    const std::string_view module = take_line(kMaxGlobalName, kWhat);
    push_global(module, take_line(kMaxGlobalName, kWhat));
  }
  void push_stack_global() {
    const PickleRef name = pop(), module = pop();
    const auto* name_text = name->as<PickleText>();
    const auto* module_text = module->as<PickleText>();
    if (!name_text || !module_text || name_text->text.size() > kMaxGlobalName ||
        module_text->text.size() > kMaxGlobalName)
      refuse("the name of a global is no short text");
    push_global(module_text->text, name_text->text);
  }
  void push_global(std::string_view module, std::string_view name) {
    if (!options_.accept || !options_.accept(module, name)) {
      if (options_.opaque_others) return push_opaque(module, name);
      refuse(base::text("names ", printable(module), ".", printable(name),
                        ", which is not accepted here"));
    }
    charge(sizeof(PickleGlobal) + kBlock);
    push(make(std::make_unique<PickleGlobal>(PickleGlobal{module, name})));
  }
  void push_opaque(std::string_view module, std::string_view name) {
    charge(sizeof(PickleOpaque) + kBlock);
    push(make(std::make_unique<PickleOpaque>(PickleOpaque{module, name})));
  }
  void push_large_int() {
    if (!options_.opaque_others) refuse("an integer that does not fit 64 bits");
    push_opaque("builtins", "int");
  }
  void push_long() {
    const auto raw = take(take_little<uint8_t>());
    if (raw.size() > 8) return push_large_int();
    uint64_t value = !raw.empty() && raw.back() >= 0x80 ? ~uint64_t{0} : 0;  // two's complement
    for (size_t i = raw.size(); i-- > 0;) value = value << 8 | raw[i];
    push_int(static_cast<int64_t>(value));
  }
  // "5", "5L", or "01" for true.
  void push_decimal() {
    std::string_view line = take_line(kMaxNumber, "a number");
    if (opcode_ == kInt && line == "00") return push_shared(false_, false);
    if (opcode_ == kInt && line == "01") return push_shared(true_, true);
    if (opcode_ == kLong && line.ends_with('L')) line.remove_suffix(1);
    if (const auto value = parse_int(line)) return push_int(*value);
    push_large_int();
  }
  void push_float() {
    const auto value = parse_double(take_line(kMaxNumber, "a number"));
    if (!value) refuse("a number that is none");
    push(make(*value));
  }
  // A text made from a line.
  std::string_view keep(std::optional<std::string> text) {
    if (!text) refuse("a text with an escape that is none");
    charge(static_cast<int64_t>(text->capacity() + sizeof(std::string)) + kBlock);
    return texts_.emplace_back(std::move(*text));
  }
  void push_quoted() {
    const std::string_view bytes = keep(unquoted_bytes(take_line(bytes_.size(), "a text")));
    push_text(make(PickleBytes{bytes}), bytes.size());
  }
  void push_escaped() {
    const std::string_view text = keep(utf8_of_escaped(take_line(bytes_.size(), "a text")));
    push_text(make(PickleText{text}), text.size());
  }
  uint32_t take_index() {
    const auto index = parse_int(take_line(kMaxNumber, "a number"));
    if (!index || *index < 0 || *index > std::numeric_limits<uint32_t>::max())
      refuse("a place in the memo that is none");
    return static_cast<uint32_t>(*index);
  }
  void push_list() {
    std::vector<PickleRef> items = pop_marked();
    push(make(PickleList{}));
    append(std::move(items));
  }
  void push_dict() {
    std::vector<PickleRef> items = pop_marked();
    push(make(PickleDict{}));
    set_items(std::move(items));
  }
  void push_bytes(size_t size) { push_text(make(PickleBytes{as_text(take(size))}), size); }
  void push_unicode(size_t size) {
    const auto raw = take(size);
    if (!is_utf8(as_text(raw))) refuse("text that is not UTF-8");
    push_text(make(PickleText{as_text(raw)}), raw.size());
  }
  // Appends to the memo.
  void memoize() {
    if (memo_.size() + scattered_.size() >= std::numeric_limits<uint32_t>::max()) refuse_many();
    put(static_cast<uint32_t>(memo_.size() + scattered_.size()));
  }
  void put(uint32_t index) {
    top();
    // Writers count from 0 or 1; others may leave gaps.
    if (index <= memo_.size() + 1) {
      if (index >= memo_.size()) {
        make_room(memo_, index + 1 - memo_.size());
        memo_.resize(index + 1);
      }
      memo_[index] = stack_.back();
      return;
    }
    const auto [place, added] = scattered_.try_emplace(index);
    if (added) charge(sizeof(*place) + 2 * sizeof(void*) + kBlock);
    place->second = stack_.back();
  }
  void get(uint32_t index) {
    if (index < memo_.size() && memo_[index]) return push(memo_[index]);
    const auto found = scattered_.find(index);
    if (found == scattered_.end()) refuse(base::text("memo entry ", index, " was never made"));
    push(found->second);
  }

  // NOLINTNEXTLINE(readability-function-size): two lines for each opcode
  void step() {
    switch (opcode_) {
      case kProto: {
        const int protocol = take_little<uint8_t>();
        if (opcode_at_ != 0 || protocol > kHighestProtocol)
          refuse(base::text("protocol ", protocol, ", expected at most ", kHighestProtocol,
                            " at the start"));
        return;
      }
      case kMark:
        make_room(marks_, 1);
        marks_.push_back(stack_.size());
        return;
      case kPop:
        pop();
        return;
      case kInt:
      case kLong:
        return push_decimal();
      case kFloat:
        return push_float();
      case kString:
        return push_quoted();
      case kUnicode:
        return push_escaped();
      case kList:
      case kFrozenSet:
        return push_list();
      case kDict:
        return push_dict();
      case kPut:
        return put(take_index());
      case kGet:
        return get(take_index());
      case kNone:
        return push_shared(none_, PickleNone{});
      case kNewTrue:
        return push_shared(true_, true);
      case kNewFalse:
        return push_shared(false_, false);
      case kBinInt1:
        return push_int(take_little<uint8_t>());
      case kBinInt2:
        return push_int(take_little<uint16_t>());
      case kBinInt:
        return push_int(take_little<int32_t>());
      case kLong1:
        return push_long();
      case kBinFloat:  // the only big-endian number
        return push(make(std::bit_cast<double>(__builtin_bswap64(take_little<uint64_t>()))));
      case kShortBinString:
        return push_bytes(take_little<uint8_t>());
      case kBinString:  // a negative length becomes one that no file has
        return push_bytes(static_cast<size_t>(int64_t{take_little<int32_t>()}));
      case kBinBytes:
        return push_bytes(take_little<uint32_t>());
      case kShortBinBytes:
        return push_bytes(take_little<uint8_t>());
      case kBinBytes8:
      case kByteArray8:
        return push_bytes(take_little<uint64_t>());
      case kBinUnicode:
        return push_unicode(take_little<uint32_t>());
      case kShortBinUnicode:
        return push_unicode(take_little<uint8_t>());
      case kBinUnicode8:
        return push_unicode(take_little<uint64_t>());
      case kEmptyTuple:
        return push_shared(empty_tuple_, PickleTuple{});
      case kTuple:
        return push_tuple(pop_marked());
      case kTuple1:
        return push_tuple_of(1);
      case kTuple2:
        return push_tuple_of(2);
      case kTuple3:
        return push_tuple_of(3);
      case kEmptyList:
      case kEmptySet:
        return push(make(PickleList{}));
      case kAppend: {
        std::vector<PickleRef> item;
        make_room(item, 1);
        item.push_back(pop());
        return append(std::move(item));
      }
      case kAppends:
      case kAddItems:
        return append(pop_marked());
      case kEmptyDict:
        return push(make(PickleDict{}));
      case kSetItem: {
        std::vector<PickleRef> pair;
        make_room(pair, 2);
        pair.resize(2);
        pair[1] = pop();
        pair[0] = pop();
        return set_items(std::move(pair));
      }
      case kSetItems:
        return set_items(pop_marked());
      case kGlobal:
        return push_global();
      case kStackGlobal:
        return push_stack_global();
      case kReduce:
      case kNewObj:
        return apply();
      case kNewObjEx:
        return apply_with_keywords();
      case kBuild:
        return build();
      case kBinPersId: {
        PickleRef id = pop();
        if (options_.on_persistent) options_.on_persistent(*id);
        PickleRef persistent = make(PicklePersistent{id});
        place(*persistent, *id);
        return push(std::move(persistent));
      }
      case kBinPut:
        return put(take_little<uint8_t>());
      case kLongBinPut:
        return put(take_little<uint32_t>());
      case kMemoize:
        return memoize();
      case kFrame:  // bytes to read ahead; all of the file is already here
        if (take_little<uint64_t>() > bytes_.size() - at_) refuse("the pickle is cut");
        return;
      case kBinGet:
        return get(take_little<uint8_t>());
      case kLongBinGet:
        return get(take_little<uint32_t>());
      default:
        refuse(base::text("opcode ", int{opcode_}, " is not accepted"));
    }
  }

  std::span<const uint8_t> bytes_;
  const PickleOptions& options_;
  std::string_view name_;
  const bool in_row_;
  uint64_t most_;  // limit of values
  uint64_t made_ = 0;
  size_t at_ = 0, opcode_at_ = 0;
  uint8_t opcode_ = 0;
  base::CancelPoll cancel_;
  std::vector<PickleRef> stack_;
  std::vector<size_t> marks_;                          // sizes of the stack
  std::vector<PickleRef> memo_;                        // null: a gap
  std::unordered_map<uint32_t, PickleRef> scattered_;  // memo entries after larger gaps
  std::unordered_map<int64_t, PickleRef> ints_;
  std::deque<std::string> texts_;
  base::MemoryCharge memory_;
  PickleRef none_, true_, false_, empty_tuple_;
  std::array<PickleRef, 256> small_ints_;
};

}  // namespace

const std::string_view* PickleValue::as_text() const {
  if (const auto* bytes = as<PickleBytes>()) return &bytes->bytes;
  const auto* text = as<PickleText>();
  return text ? &text->text : nullptr;
}

PickleRef take_pickle(std::span<const uint8_t>& bytes, const PickleOptions& options,
                      std::string_view name) {
  Machine machine(bytes, options, name, true);
  PickleRef value = machine.run();
  bytes = bytes.subspan(machine.end());
  return value;
}

PickleRef parse_pickle(std::span<const uint8_t> bytes, const PickleOptions& options,
                       std::string_view name) {
  if (static_cast<int64_t>(bytes.size()) > options.max_bytes)
    fail(Status::kFormat, name, ": the pickle has ", bytes.size(), " bytes, at most ",
         options.max_bytes, " are accepted");
  return Machine(bytes, options, name, false).run();
}

}  // namespace gnnmg::io
