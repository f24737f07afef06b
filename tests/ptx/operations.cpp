// The computation of instructions, lane by lane.
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <type_traits>
#include <unordered_map>

#include "ptx/run.h"

namespace gnnmg::ptx {
namespace {

template <typename T>
T get(uint64_t word) {
  if constexpr (std::is_same_v<T, float>)
    return std::bit_cast<float>(static_cast<uint32_t>(word));
  else if constexpr (std::is_same_v<T, double>)
    return std::bit_cast<double>(word);
  else if constexpr (std::is_same_v<T, bool>)
    return (word & 1) != 0;
  else
    return static_cast<T>(word);
}
template <typename T>
uint64_t word_of(T value) {
  if constexpr (std::is_same_v<T, float>)
    return std::bit_cast<uint32_t>(value);
  else if constexpr (std::is_same_v<T, double>)
    return std::bit_cast<uint64_t>(value);
  else if constexpr (std::is_same_v<T, bool>)
    return value ? 1 : 0;
  else if constexpr (std::is_signed_v<T>)
    return static_cast<uint64_t>(static_cast<int64_t>(value));
  else
    return value;
}

// Applies R f(A), R f(A, B) or R f(A, B, C) to registers.
template <typename F, typename R, typename A>
void one(Warp& warp, const Instruction& what, uint32_t mask) {
  uint64_t* const to = warp.lanes(what.out[0]);
  const uint64_t* const a = warp.lanes(what.in[0]);
  on_lanes(mask, [&](int l) { to[l] = word_of<R>(F{}(get<A>(a[l]))); });
}
template <typename F, typename R, typename A, typename B>
void two(Warp& warp, const Instruction& what, uint32_t mask) {
  uint64_t* const to = warp.lanes(what.out[0]);
  const uint64_t* const a = warp.lanes(what.in[0]);
  const uint64_t* const b = warp.lanes(what.in[1]);
  on_lanes(mask, [&](int l) { to[l] = word_of<R>(F{}(get<A>(a[l]), get<B>(b[l]))); });
}
template <typename F, typename R, typename A, typename B, typename C>
void three(Warp& warp, const Instruction& what, uint32_t mask) {
  uint64_t* const to = warp.lanes(what.out[0]);
  const uint64_t* const a = warp.lanes(what.in[0]);
  const uint64_t* const b = warp.lanes(what.in[1]);
  const uint64_t* const c = warp.lanes(what.in[2]);
  on_lanes(mask, [&](int l) { to[l] = word_of<R>(F{}(get<A>(a[l]), get<B>(b[l]), get<C>(c[l]))); });
}

template <typename T>
struct WideOf;
template <>
struct WideOf<uint16_t> {
  using Type = uint32_t;
};
template <>
struct WideOf<int16_t> {
  using Type = int32_t;
};
template <>
struct WideOf<uint32_t> {
  using Type = uint64_t;
};
template <>
struct WideOf<int32_t> {
  using Type = int64_t;
};
template <>
struct WideOf<uint64_t> {
  using Type = unsigned __int128;
};
template <>
struct WideOf<int64_t> {
  using Type = __int128;
};

// Integers wrap around.
template <typename T>
using Wrapping = std::make_unsigned_t<T>;
template <typename T>
T wrapped(auto value) {
  return static_cast<T>(static_cast<Wrapping<T>>(value));
}

struct Add {
  template <typename T>
  T operator()(T a, T b) const {
    if constexpr (std::is_floating_point_v<T>)
      return a + b;
    else
      return wrapped<T>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
  }
};
struct Subtract {
  template <typename T>
  T operator()(T a, T b) const {
    if constexpr (std::is_floating_point_v<T>)
      return a - b;
    else
      return wrapped<T>(static_cast<uint64_t>(a) - static_cast<uint64_t>(b));
  }
};
struct Multiply {
  template <typename T>
  T operator()(T a, T b) const {
    if constexpr (std::is_floating_point_v<T>)
      return a * b;
    else
      return wrapped<T>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b));
  }
};
struct MultiplyWide {
  template <typename T>
  auto operator()(T a, T b) const {
    using W = typename WideOf<T>::Type;
    return static_cast<W>(static_cast<W>(a) * static_cast<W>(b));
  }
};
struct MultiplyHigh {
  template <typename T>
  T operator()(T a, T b) const {
    using W = typename WideOf<T>::Type;
    return static_cast<T>(static_cast<W>(static_cast<W>(a) * static_cast<W>(b)) >> (8 * sizeof(T)));
  }
};
struct MultiplyAdd {
  template <typename T>
  T operator()(T a, T b, T c) const {
    return Add{}(Multiply{}(a, b), c);
  }
};
struct FusedMultiplyAdd {
  template <typename T>
  T operator()(T a, T b, T c) const {
    return std::fma(a, b, c);
  }
};
struct Divide {
  template <typename T>
  T operator()(T a, T b) const {
    if constexpr (std::is_floating_point_v<T>) {
      return a / b;
    } else {
      if (b == 0) return static_cast<T>(-1);  // the result on a GPU
      if (std::is_signed_v<T> && b == static_cast<T>(-1)) return Subtract{}(T{0}, a);
      return static_cast<T>(a / b);
    }
  }
};
struct Remainder {
  template <typename T>
  T operator()(T a, T b) const {
    if (b == 0) return a;
    if (std::is_signed_v<T> && b == static_cast<T>(-1)) return 0;
    return static_cast<T>(a % b);
  }
};
struct Least {
  template <typename T>
  T operator()(T a, T b) const {
    if constexpr (std::is_floating_point_v<T>)
      return std::fmin(a, b);
    else
      return b < a ? b : a;
  }
};
struct Most {
  template <typename T>
  T operator()(T a, T b) const {
    if constexpr (std::is_floating_point_v<T>)
      return std::fmax(a, b);
    else
      return a < b ? b : a;
  }
};
struct And {
  template <typename T>
  T operator()(T a, T b) const {
    return static_cast<T>(a & b);
  }
};
struct Or {
  template <typename T>
  T operator()(T a, T b) const {
    return static_cast<T>(a | b);
  }
};
struct Xor {
  template <typename T>
  T operator()(T a, T b) const {
    return static_cast<T>(a ^ b);
  }
};
struct Not {
  template <typename T>
  T operator()(T a) const {
    if constexpr (std::is_same_v<T, bool>)
      return !a;
    else
      return static_cast<T>(~a);
  }
};
struct Negative {
  template <typename T>
  T operator()(T a) const {
    if constexpr (std::is_floating_point_v<T>)
      return -a;
    else
      return Subtract{}(T{0}, a);
  }
};
struct Absolute {
  template <typename T>
  T operator()(T a) const {
    if constexpr (std::is_floating_point_v<T>)
      return std::fabs(a);
    else
      return a < 0 ? Negative{}(a) : a;
  }
};
struct Same {
  template <typename T>
  T operator()(T a) const {
    return a;
  }
};
struct SquareRoot {
  template <typename T>
  T operator()(T a) const {
    return std::sqrt(a);
  }
};
struct Reciprocal {
  template <typename T>
  T operator()(T a) const {
    return T{1} / a;
  }
};
// Accurate to about 20 bits, as the instruction is.
struct RoughReciprocal {
  double operator()(double a) const {
    const auto bits = std::bit_cast<uint64_t>(1 / a);
    return std::bit_cast<double>(bits & ~uint64_t{0xFFFFFFFF});
  }
};
// Wider shifts give zero, or the sign.
struct ShiftLeft {
  template <typename T>
  T operator()(T a, uint32_t by) const {
    return by >= 8 * sizeof(T) ? T{0} : wrapped<T>(static_cast<uint64_t>(a) << by);
  }
};
struct ShiftRight {
  template <typename T>
  T operator()(T a, uint32_t by) const {
    if (by >= 8 * sizeof(T)) return a < 0 ? static_cast<T>(-1) : T{0};
    return static_cast<T>(a >> by);
  }
};
struct CountBits {
  template <typename T>
  uint32_t operator()(T a) const {
    return static_cast<uint32_t>(std::popcount(a));
  }
};
struct LeadingZeros {
  template <typename T>
  uint32_t operator()(T a) const {
    return static_cast<uint32_t>(std::countl_zero(a));
  }
};
struct Backwards {
  template <typename T>
  T operator()(T a) const {
    T result = 0;
    for (size_t i = 0; i < 8 * sizeof(T); ++i)
      if (a >> i & 1) result |= T{1} << (8 * sizeof(T) - 1 - i);
    return result;
  }
};
struct BitsFrom {  // bmsk
  uint32_t operator()(uint32_t first, uint32_t count) const {
    if (first >= 32) return 0;
    const uint32_t ones = count >= 32 ? ~0u : (1u << count) - 1;
    return ones << first;
  }
};
struct PickBytes {  // prmt
  uint32_t operator()(uint32_t a, uint32_t b, uint32_t which) const {
    const uint64_t bytes = a | static_cast<uint64_t>(b) << 32;
    uint32_t result = 0;
    for (int i = 0; i < 4; ++i) {
      const uint32_t pick = which >> (4 * i) & 15;
      auto byte = static_cast<uint32_t>(bytes >> (8 * (pick & 7)) & 0xFF);
      if (pick & 8) byte = byte & 0x80 ? 0xFF : 0;
      result |= byte << (8 * i);
    }
    return result;
  }
};
template <typename T>
void insert_bits(Warp& warp, const Instruction& what, uint32_t mask) {  // bfi
  uint64_t* const to = warp.lanes(what.out[0]);
  on_lanes(mask, [&](int l) {
    const T bits = get<T>(warp.lanes(what.in[0])[l]), base = get<T>(warp.lanes(what.in[1])[l]);
    const auto at = get<uint8_t>(warp.lanes(what.in[2])[l]);
    const auto count = get<uint8_t>(warp.lanes(what.in[3])[l]);
    const T ones = count >= 8 * sizeof(T) ? ~T{0} : ShiftLeft{}(T{1}, count) - 1;
    const T place = ShiftLeft{}(ones, at);
    to[l] = (base & ~place) | (ShiftLeft{}(bits, at) & place);
  });
}

template <typename T>
void select(Warp& warp, const Instruction& what, uint32_t mask) {
  uint64_t* const to = warp.lanes(what.out[0]);
  const uint64_t* const a = warp.lanes(what.in[0]);
  const uint64_t* const b = warp.lanes(what.in[1]);
  const uint64_t* const which = warp.lanes(what.in[2]);
  on_lanes(mask, [&](int l) { to[l] = which[l] & 1 ? a[l] : b[l]; });
}

#define GNNMG_COMPARISON(Name, expression) \
  struct Name {                            \
    template <typename T>                  \
    bool operator()(T a, T b) const {      \
      return expression;                   \
    }                                      \
  };
GNNMG_COMPARISON(Equal, a == b)
GNNMG_COMPARISON(Less, a < b)
GNNMG_COMPARISON(LessOrEqual, a <= b)
GNNMG_COMPARISON(Greater, a > b)
GNNMG_COMPARISON(GreaterOrEqual, a >= b)
GNNMG_COMPARISON(Different, a < b || b < a)
GNNMG_COMPARISON(EqualOrNan, !(a < b) && !(b < a))
GNNMG_COMPARISON(DifferentOrNan, !(a == b))
GNNMG_COMPARISON(LessOrNan, !(a >= b))
GNNMG_COMPARISON(LessOrEqualOrNan, !(a > b))
GNNMG_COMPARISON(GreaterOrNan, !(a <= b))
GNNMG_COMPARISON(GreaterOrEqualOrNan, !(a < b))
GNNMG_COMPARISON(Numbers, a == a && b == b)
GNNMG_COMPARISON(AnyNan, a != a || b != b)
#undef GNNMG_COMPARISON

// Conversions between types, named as in "cvt.rn.f32.s64".
template <typename To>
struct Nearest {
  template <typename From>
  To operator()(From from) const {
    return static_cast<To>(from);
  }
};
template <typename To>
struct TowardsZero {
  template <typename From>
  To operator()(From from) const {
    if constexpr (std::is_floating_point_v<To>) {
      return static_cast<To>(std::trunc(from));
    } else {
      if (from != from) return 0;
      using Limits = std::numeric_limits<To>;
      if (from <= static_cast<From>(Limits::min())) return Limits::min();
      if (from >= static_cast<From>(Limits::max())) return Limits::max();
      return static_cast<To>(from);
    }
  }
};

// The same as reach_slowly(); fast for valid accesses to recently used memory.
template <int kBytes, bool kWrites>
uint8_t* reach(Warp& warp, const Instruction& what, const Range* range, int lane,
               uint64_t address) {
  static constexpr auto kOnes = [] {
    std::array<uint8_t, kBytes> ones{};
    ones.fill(1);
    return ones;
  }();
  if (range != nullptr && address % kBytes == 0 && address >= range->begin &&
      address + kBytes <= range->end) {
    if (range->written == nullptr) return reinterpret_cast<uint8_t*>(address);
    uint8_t* const written = range->written + (address - range->begin);
    if constexpr (kWrites) std::memcpy(written, kOnes.data(), kBytes);
    if (kWrites || std::memcmp(written, kOnes.data(), kBytes) == 0)
      return reinterpret_cast<uint8_t*>(address);
  }
  return reach_slowly(warp, what, lane, address, kBytes, kWrites);
}
// Returns the memory that the instruction accessed last; null if it is not device memory.
const Range* last_range(const Warp& warp, const Instruction& what) {
  const bool global = what.space == Space::kGlobal || what.space == Space::kGeneric;
  const Launch& launch = *warp.launch;
  return global ? launch.last_ranges[static_cast<size_t>(&what - launch.kernel.code.data())]
                : nullptr;
}

template <typename T, int kWidth>
void load(Warp& warp, const Instruction& what, uint32_t mask) {
  constexpr int kBytes = kWidth * static_cast<int>(sizeof(T));
  const uint64_t* const address = warp.lanes(what.in[0]);
  const Range* const range = last_range(warp, what);
  on_lanes(mask, [&](int l) {
    std::array<T, kWidth> values;
    std::memcpy(
        values.data(),
        reach<kBytes, false>(warp, what, range, l, address[l] + static_cast<uint64_t>(what.offset)),
        kBytes);
    for (size_t i = 0; i < kWidth; ++i)
      if (what.out[i] >= 0) warp.lanes(what.out[i])[l] = word_of<T>(values[i]);
  });
}
template <typename T, int kWidth>
void store(Warp& warp, const Instruction& what, uint32_t mask) {
  constexpr int kBytes = kWidth * static_cast<int>(sizeof(T));
  const uint64_t* const address = warp.lanes(what.in[0]);
  const Range* const range = last_range(warp, what);
  on_lanes(mask, [&](int l) {
    std::array<T, kWidth> values;
    for (size_t i = 0; i < kWidth; ++i) values[i] = get<T>(warp.lanes(what.in[i + 1])[l]);
    std::memcpy(
        reach<kBytes, true>(warp, what, range, l, address[l] + static_cast<uint64_t>(what.offset)),
        values.data(), kBytes);
  });
}
template <typename F, typename T>
void change(Warp& warp, const Instruction& what, uint32_t mask) {  // atom, red
  const uint64_t* const address = warp.lanes(what.in[0]);
  on_lanes(mask, [&](int l) {
    const uint64_t place = address[l] + static_cast<uint64_t>(what.offset);
    const Range* const range = last_range(warp, what);
    reach<sizeof(T), false>(warp, what, range, l, place);  // the old value must have been written
    uint8_t* const at = reach<sizeof(T), true>(warp, what, range, l, place);
    T old;
    std::memcpy(&old, at, sizeof(T));
    const T value = F{}(warp, what, l, old);
    std::memcpy(at, &value, sizeof(T));
    if (what.out[0] >= 0) warp.lanes(what.out[0])[l] = word_of<T>(old);
  });
}
template <typename F>
struct WithOne {
  template <typename T>
  T operator()(Warp& warp, const Instruction& what, int lane, T old) const {
    return F{}(old, get<T>(warp.lanes(what.in[1])[lane]));
  }
};
struct Exchange {
  template <typename T>
  T operator()(Warp& warp, const Instruction& what, int lane, T) const {
    return get<T>(warp.lanes(what.in[1])[lane]);
  }
};
struct CompareExchange {
  template <typename T>
  T operator()(Warp& warp, const Instruction& what, int lane, T old) const {
    if (old != get<T>(warp.lanes(what.in[1])[lane])) return old;
    return get<T>(warp.lanes(what.in[2])[lane]);
  }
};

// Packs several registers into one with as many bits.
template <typename Whole, typename Part>
void pack(Warp& warp, const Instruction& what, uint32_t mask) {
  on_lanes(mask, [&](int l) {
    Whole whole = 0;
    for (size_t i = 0; i < sizeof(Whole) / sizeof(Part); ++i)
      whole |= static_cast<Whole>(get<Part>(warp.lanes(what.in[i])[l])) << (8 * sizeof(Part) * i);
    warp.lanes(what.out[0])[l] = whole;
  });
}
template <typename Whole, typename Part>
void unpack(Warp& warp, const Instruction& what, uint32_t mask) {
  on_lanes(mask, [&](int l) {
    const Whole whole = get<Whole>(warp.lanes(what.in[0])[l]);
    for (size_t i = 0; i < sizeof(Whole) / sizeof(Part); ++i)
      if (what.out[i] >= 0)
        warp.lanes(what.out[i])[l] = static_cast<Part>(whole >> (8 * sizeof(Part) * i));
  });
}

// d | p = a of another lane: b selects it; c's low bits are the last lane of its part, and its high
// bits the bits of a lane's number that select the part.
template <typename From>
void shuffle(Warp& warp, const Instruction& what, uint32_t mask) {
  const uint64_t* const value = warp.lanes(what.in[0]);
  std::array<uint64_t, kLanes> taken{};
  std::array<bool, kLanes> inside{};
  on_lanes(mask, [&](int l) {
    const uint32_t by = get<uint32_t>(warp.lanes(what.in[1])[l]) & 31;
    const uint32_t c = get<uint32_t>(warp.lanes(what.in[2])[l]);
    const uint32_t part = c >> 8 & 31, clamp = c & 31, lane = static_cast<uint32_t>(l);
    const uint32_t last = (lane & part) | (clamp & ~part), first = lane & part;
    const auto [from, in] = From{}(lane, by, first, last, part);
    const auto source = static_cast<int>(in ? from : lane);
    if (!(mask >> source & 1))
      fail(warp, what, l,
           "reads from lane " + std::to_string(source) + ", which does not take part");
    taken[static_cast<size_t>(l)] = value[source];
    inside[static_cast<size_t>(l)] = in;
  });
  on_lanes(mask, [&](int l) {
    warp.lanes(what.out[0])[l] = get<uint32_t>(taken[static_cast<size_t>(l)]);
    if (what.out[1] >= 0) warp.lanes(what.out[1])[l] = inside[static_cast<size_t>(l)];
  });
}
struct FromLane {
  uint32_t lane;
  bool inside;
};
struct Butterfly {
  FromLane operator()(uint32_t lane, uint32_t by, uint32_t, uint32_t last, uint32_t) const {
    return {lane ^ by, (lane ^ by) <= last};
  }
};
struct Index {
  FromLane operator()(uint32_t, uint32_t by, uint32_t first, uint32_t last, uint32_t part) const {
    const uint32_t from = first | (by & ~part);
    return {from, from <= last};
  }
};
struct Down {
  FromLane operator()(uint32_t lane, uint32_t by, uint32_t, uint32_t last, uint32_t) const {
    return {lane + by, lane + by <= last};
  }
};
struct Up {
  FromLane operator()(uint32_t lane, uint32_t by, uint32_t, uint32_t last, uint32_t) const {
    return {lane - by, static_cast<int>(lane) - static_cast<int>(by) >= static_cast<int>(last)};
  }
};

template <typename F>
void vote(Warp& warp, const Instruction& what, uint32_t mask) {
  uint32_t yes = 0;
  on_lanes(mask, [&](int l) { yes |= (warp.lanes(what.in[0])[l] & 1u) << l; });
  const uint64_t result = F{}(yes, mask);
  on_lanes(mask, [&](int l) { warp.lanes(what.out[0])[l] = result; });
}
struct Ballot {
  uint64_t operator()(uint32_t yes, uint32_t) const { return yes; }
};
struct Any {
  uint64_t operator()(uint32_t yes, uint32_t) const { return yes != 0; }
};
struct All {
  uint64_t operator()(uint32_t yes, uint32_t mask) const { return yes == mask; }
};

void nothing(Warp&, const Instruction&, uint32_t) {}

using Table = std::unordered_map<std::string, Operation>;

template <typename F, typename T>
void put_comparison(Table& table, const std::string& name, const char* type) {
  table["setp." + name + "." + type] = two<F, bool, T, T>;
}
template <typename T>
void put_whole(Table& table, const char* type) {
  const std::string of = std::string(".") + type;
  using U = std::make_unsigned_t<T>;
  table["add" + of] = two<Add, T, T, T>;
  table["sub" + of] = two<Subtract, T, T, T>;
  table["mul.lo" + of] = two<Multiply, T, T, T>;
  table["mul.hi" + of] = two<MultiplyHigh, T, T, T>;
  table["mad.lo" + of] = three<MultiplyAdd, T, T, T, T>;
  table["div" + of] = two<Divide, T, T, T>;
  table["rem" + of] = two<Remainder, T, T, T>;
  table["min" + of] = two<Least, T, T, T>;
  table["max" + of] = two<Most, T, T, T>;
  table["neg" + of] = one<Negative, T, T>;
  table["abs" + of] = one<Absolute, T, T>;
  table["shr" + of] = two<ShiftRight, T, T, uint32_t>;
  if constexpr (sizeof(T) < 8)
    table["mul.wide" + of] = two<MultiplyWide, typename WideOf<T>::Type, T, T>;
  put_comparison<Equal, T>(table, "eq", type);
  put_comparison<DifferentOrNan, T>(table, "ne", type);
  put_comparison<Less, T>(table, "lt", type);
  put_comparison<LessOrEqual, T>(table, "le", type);
  put_comparison<Greater, T>(table, "gt", type);
  put_comparison<GreaterOrEqual, T>(table, "ge", type);
  for (const char* const place : {"global", "shared"}) {
    const std::string atom = std::string("atom.") + place + ".",
                      red = std::string("red.") + place + ".";
    for (const std::string& start : {atom, red}) {
      table[start + "add" + of] = change<WithOne<Add>, T>;
      table[start + "min" + of] = change<WithOne<Least>, T>;
      table[start + "max" + of] = change<WithOne<Most>, T>;
    }
  }
  static_assert(sizeof(U) == sizeof(T));
}
template <typename T>
void put_bits(Table& table, const char* type) {
  const std::string of = std::string(".") + type;
  table["and" + of] = two<And, T, T, T>;
  table["or" + of] = two<Or, T, T, T>;
  table["xor" + of] = two<Xor, T, T, T>;
  table["not" + of] = one<Not, T, T>;
  if constexpr (!std::is_same_v<T, bool>) {
    table["shl" + of] = two<ShiftLeft, T, T, uint32_t>;
    table["shr" + of] = two<ShiftRight, T, T, uint32_t>;
    put_comparison<Equal, T>(table, "eq", type);
    put_comparison<DifferentOrNan, T>(table, "ne", type);
  }
  if constexpr (sizeof(T) >= 4) {
    table["popc" + of] = one<CountBits, uint32_t, T>;
    table["clz" + of] = one<LeadingZeros, uint32_t, T>;
    table["brev" + of] = one<Backwards, T, T>;
    table["bfi" + of] = insert_bits<T>;
    for (const char* const place : {"global", "shared"}) {
      const std::string atom = std::string("atom.") + place + ".";
      table[atom + "cas" + of] = change<CompareExchange, T>;
      table[atom + "exch" + of] = change<Exchange, T>;
      for (const std::string& start : {atom, std::string("red.") + place + "."}) {
        table[start + "and" + of] = change<WithOne<And>, T>;
        table[start + "or" + of] = change<WithOne<Or>, T>;
        table[start + "xor" + of] = change<WithOne<Xor>, T>;
      }
    }
  }
}
template <typename T>
void put_numbers(Table& table, const char* type) {
  const std::string of = std::string(".") + type;
  table["add" + of] = two<Add, T, T, T>;
  table["sub" + of] = two<Subtract, T, T, T>;
  table["mul" + of] = two<Multiply, T, T, T>;
  table["div.rn" + of] = two<Divide, T, T, T>;
  table["fma.rn" + of] = three<FusedMultiplyAdd, T, T, T, T>;
  table["min" + of] = two<Least, T, T, T>;
  table["max" + of] = two<Most, T, T, T>;
  table["neg" + of] = one<Negative, T, T>;
  table["abs" + of] = one<Absolute, T, T>;
  table["sqrt.rn" + of] = one<SquareRoot, T, T>;
  table["rcp.rn" + of] = one<Reciprocal, T, T>;
  put_comparison<Equal, T>(table, "eq", type);
  put_comparison<Different, T>(table, "ne", type);
  put_comparison<Less, T>(table, "lt", type);
  put_comparison<LessOrEqual, T>(table, "le", type);
  put_comparison<Greater, T>(table, "gt", type);
  put_comparison<GreaterOrEqual, T>(table, "ge", type);
  put_comparison<EqualOrNan, T>(table, "equ", type);
  put_comparison<DifferentOrNan, T>(table, "neu", type);
  put_comparison<LessOrNan, T>(table, "ltu", type);
  put_comparison<LessOrEqualOrNan, T>(table, "leu", type);
  put_comparison<GreaterOrNan, T>(table, "gtu", type);
  put_comparison<GreaterOrEqualOrNan, T>(table, "geu", type);
  put_comparison<Numbers, T>(table, "num", type);
  put_comparison<AnyNan, T>(table, "nan", type);
}
template <typename T>
void put_moves(Table& table, const char* type) {
  const std::string of = std::string(".") + type;
  table["mov" + of] = one<Same, T, T>;
  table["selp" + of] = select<T>;
  table["ld" + of] = load<T, 1>;
  table["st" + of] = store<T, 1>;
  table["ld.v2" + of] = load<T, 2>;
  table["st.v2" + of] = store<T, 2>;
  table["ld.v4" + of] = load<T, 4>;
  table["st.v4" + of] = store<T, 4>;
}

template <typename To, typename From>
void put_conversion(Table& table, const char* to, const char* from) {
  const std::string types = std::string(".") + to + "." + from;
  constexpr bool number_to = std::is_floating_point_v<To>, number = std::is_floating_point_v<From>;
  if constexpr (number_to && number) {
    table[(sizeof(To) < sizeof(From) ? "cvt.rn" : "cvt") + types] = one<Nearest<To>, To, From>;
    if constexpr (std::is_same_v<To, From>)
      table["cvt.rzi" + types] = one<TowardsZero<To>, To, From>;
  } else if constexpr (number_to) {
    table["cvt.rn" + types] = one<Nearest<To>, To, From>;
  } else if constexpr (number) {
    table["cvt.rzi" + types] = one<TowardsZero<To>, To, From>;
  } else {
    table["cvt" + types] = one<Nearest<To>, To, From>;
  }
}
template <typename To>
void put_conversions(Table& table, const char* to) {
  put_conversion<To, int8_t>(table, to, "s8");
  put_conversion<To, uint8_t>(table, to, "u8");
  put_conversion<To, int16_t>(table, to, "s16");
  put_conversion<To, uint16_t>(table, to, "u16");
  put_conversion<To, int32_t>(table, to, "s32");
  put_conversion<To, uint32_t>(table, to, "u32");
  put_conversion<To, int64_t>(table, to, "s64");
  put_conversion<To, uint64_t>(table, to, "u64");
  put_conversion<To, float>(table, to, "f32");
  put_conversion<To, double>(table, to, "f64");
}

Table make_table() {
  Table table;
  put_whole<int16_t>(table, "s16");
  put_whole<uint16_t>(table, "u16");
  put_whole<int32_t>(table, "s32");
  put_whole<uint32_t>(table, "u32");
  put_whole<int64_t>(table, "s64");
  put_whole<uint64_t>(table, "u64");
  put_bits<bool>(table, "pred");
  put_bits<uint16_t>(table, "b16");
  put_bits<uint32_t>(table, "b32");
  put_bits<uint64_t>(table, "b64");
  put_numbers<float>(table, "f32");
  put_numbers<double>(table, "f64");
  put_moves<bool>(table, "pred");
  put_moves<int8_t>(table, "s8");
  put_moves<int16_t>(table, "s16");
  put_moves<int32_t>(table, "s32");
  put_moves<int64_t>(table, "s64");
  for (const char* const type : {"u8", "b8"}) put_moves<uint8_t>(table, type);
  for (const char* const type : {"u16", "b16"}) put_moves<uint16_t>(table, type);
  for (const char* const type : {"u32", "b32", "f32"}) put_moves<uint32_t>(table, type);
  for (const char* const type : {"u64", "b64", "f64"}) put_moves<uint64_t>(table, type);
  put_conversions<int8_t>(table, "s8");
  put_conversions<uint8_t>(table, "u8");
  put_conversions<int16_t>(table, "s16");
  put_conversions<uint16_t>(table, "u16");
  put_conversions<int32_t>(table, "s32");
  put_conversions<uint32_t>(table, "u32");
  put_conversions<int64_t>(table, "s64");
  put_conversions<uint64_t>(table, "u64");
  put_conversions<float>(table, "f32");
  put_conversions<double>(table, "f64");
  table["rcp.approx.ftz.f64"] = one<RoughReciprocal, double, double>;
  table["prmt.b32"] = three<PickBytes, uint32_t, uint32_t, uint32_t, uint32_t>;
  table["bmsk.clamp.b32"] = two<BitsFrom, uint32_t, uint32_t, uint32_t>;
  table["pack.b64.2"] = pack<uint64_t, uint32_t>;
  table["pack.b64.4"] = pack<uint64_t, uint16_t>;
  table["pack.b32.2"] = pack<uint32_t, uint16_t>;
  table["pack.b32.4"] = pack<uint32_t, uint8_t>;
  table["unpack.b64.2"] = unpack<uint64_t, uint32_t>;
  table["unpack.b64.4"] = unpack<uint64_t, uint16_t>;
  table["unpack.b32.2"] = unpack<uint32_t, uint16_t>;
  table["unpack.b32.4"] = unpack<uint32_t, uint8_t>;
  table["shfl.sync.bfly.b32"] = shuffle<Butterfly>;
  table["shfl.sync.idx.b32"] = shuffle<Index>;
  table["shfl.sync.down.b32"] = shuffle<Down>;
  table["shfl.sync.up.b32"] = shuffle<Up>;
  for (const auto& [name, run] : {std::pair<const char*, Operation>{"ballot", vote<Ballot>},
                                  {"any", vote<Any>},
                                  {"all", vote<All>}}) {
    const std::string type = name == std::string("ballot") ? "b32" : "pred";
    table[std::string("vote.sync.") + name + "." + type] = run;
    table[std::string("vote.") + name + ".sync." + type] = run;
  }
  for (const char* const name : {"bar.warp.sync", "membar.cta", "membar.gl", "nanosleep.u32",
                                 "bar.sync", "bar.red.or.pred", "bra", "ret", "exit"})
    table[name] = nothing;
  return table;
}

}  // namespace

Operation find_operation(std::string_view name) {
  static const Table table = make_table();
  const auto found = table.find(std::string(name));
  return found == table.end() ? nullptr : found->second;
}

}  // namespace gnnmg::ptx
