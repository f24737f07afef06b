#include "data/number_lines.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "base/cancel.h"
#include "io/text.h"

namespace gnnmg::data {
namespace {

constexpr size_t kBlock = size_t{64} << 10;
// A round of several threads takes long compared with the waking of a thread.
constexpr int64_t kBlocksOfThread = 32, kMostBlocks = 256;

// Characters of fields that stand for themselves wherever they are. Others may be quotes, marks of
// comments or attributes, or no text.
constexpr auto kPlain = [] {
  std::array<bool, 256> plain{};
  for (int c = 0x20; c < 256; ++c) plain[c] = c != 0x7f;
  plain['\t'] = true;
  for (const unsigned char c : {'"', '#', '%', '/', '{', '}'}) plain[c] = false;
  return plain;
}();

// Parses one block.
class BlockParser {
 public:
  BlockParser(const NumberShape& shape, char end_of_line, NumberBlock& block)
      : shape_(shape),
        end_of_line_(end_of_line),
        block_(block),
        roles_(shape.columns, kIgnored),
        at_(block.text.data()),
        end_(block.text.data() + block.text.size()) {
    roles_[shape.source] = kSource;
    roles_[shape.target] = kTarget;
    for (size_t i = 0; i < shape.values.size(); ++i)
      roles_[shape.values[i].column] = static_cast<int>(i);
  }

  void parse() {
    NumberBlock& block = block_;
    block.plain = false;
    block.lines = block.returns = block.largest_line = 0;
    block.smallest = std::numeric_limits<int64_t>::max();
    block.largest = -1;
    const int64_t lines = std::ranges::count(block.text, end_of_line_);
    block.wide_sources.resize_discard(shape_.wide ? lines : 0);
    block.wide_targets.resize_discard(shape_.wide ? lines : 0);
    block.sources.resize_discard(shape_.wide ? 0 : lines);
    block.targets.resize_discard(shape_.wide ? 0 : lines);
    block.numbers.resize_discard(lines * static_cast<int64_t>(shape_.values.size()));
    block.plain = shape_.wide ? parse_lines(block.wide_sources.data(), block.wide_targets.data())
                              : parse_lines(block.sources.data(), block.targets.data());
  }

 private:
  static constexpr int kIgnored = -1, kSource = -2, kTarget = -3;

  // A tab that separates fields is not a blank.
  bool is_blank(char c) const { return c == ' ' || (c == '\t' && shape_.separator != '\t'); }
  bool separates(char c) const {
    return c == shape_.separator || (c == '\t' && shape_.separator == ' ');
  }
  bool ends_line(char c) const { return c == end_of_line_ || c == '\r'; }
  void skip_blanks() {
    while (is_blank(*at_)) ++at_;
  }

  // Every block ends with the end of a line, which stops all scans.
  template <typename Id>
  bool parse_lines(Id* sources, Id* targets) {
    Number* numbers = block_.numbers.data();
    for (; at_ < end_; ++block_.lines) {
      const char* const line = at_;
      int64_t source = 0, target = 0;
      for (size_t column = 0; column < shape_.columns; ++column) {
        const int role = roles_[column];
        skip_blanks();
        if (role == kSource   ? !take_end(source)
            : role == kTarget ? !take_end(target)
                              : !take_other(role, numbers))
          return false;
        skip_blanks();
        const bool last = column + 1 == shape_.columns;
        if (last != ends_line(*at_)) return false;
        if (last) break;
        if (shape_.separator == ' ') continue;
        if (*at_ != shape_.separator) return false;
        ++at_;
      }
      const int64_t larger = std::max(source, target);
      if (larger > block_.largest) block_.largest = larger, block_.largest_line = block_.lines;
      block_.smallest = std::min({block_.smallest, source, target});
      sources[block_.lines] = static_cast<Id>(source - shape_.least);
      targets[block_.lines] = static_cast<Id>(target - shape_.least);
      numbers += shape_.values.size();
      while (*at_ != end_of_line_) {
        if (*at_++ != '\r') return false;
        ++block_.returns;
      }
      if (at_ - line > kMostBytesOfEdge) return false;
      ++at_;
    }
    return true;
  }

  bool take_end(int64_t& id) {
    constexpr ptrdiff_t kMostDigits = 18;
    const char* const begin = at_;
    uint64_t value = 0;
    for (unsigned digit; (digit = static_cast<unsigned char>(*at_) - unsigned{'0'}) < 10; ++at_)
      value = 10 * value + digit;
    const ptrdiff_t digits = at_ - begin;
    if (digits == 0 || digits > kMostDigits) return false;
    if (!shape_.zeros && digits > 1 && *begin == '0') return false;
    id = static_cast<int64_t>(value);
    return id >= shape_.least && id <= shape_.most;
  }

  bool take_other(int role, Number* numbers) {
    const char* const begin = at_;
    while (!separates(*at_) && !ends_line(*at_))
      if (!kPlain[static_cast<unsigned char>(*at_++)]) return false;
    const char* last = at_;
    while (last > begin && is_blank(last[-1])) --last;
    const std::string_view field(begin, last - begin);
    if (role == kIgnored) return shape_.separator != ' ' || !field.empty();
    return take_number(field, shape_.values[role].reals, numbers[role]);
  }

  static bool take_number(std::string_view field, bool reals, Number& number) {
    if (const auto integer = io::parse_int(field)) {
      const double real = std::copysign(static_cast<double>(*integer), field[0] == '-' ? -1 : 1);
      number = {.whole = true, .integer = *integer, .real = real};
      return true;
    }
    if (!reals) return false;
    const auto real = io::parse_double(field);
    if (!real || !std::isfinite(static_cast<float>(*real))) return false;
    number = {.has_point = field.find('.') != field.npos, .real = *real};
    return true;
  }

  const NumberShape& shape_;
  const char end_of_line_;
  NumberBlock& block_;
  // One per column: an index of NumberShape::values, or one of the constants above.
  std::vector<int> roles_;
  const char *at_, *const end_;
};

}  // namespace

// Cuts whole lines into blocks; returns their number.
size_t NumberLines::cut(std::string_view text) {
  size_t count = 0;
  for (; !text.empty(); ++count) {
    if (count == blocks_.size()) blocks_.emplace_back();
    const size_t last = text.find(lines_.end_of_line(), std::min(kBlock, text.size()) - 1);
    blocks_[count].text = text.substr(0, last + 1);
    text.remove_prefix(last + 1);
  }
  return count;
}

int64_t NumberLines::take(const NumberShape& shape,
                          const std::function<bool(const NumberBlock&)>& take) {
  base::ThreadPool& pool = reading_.context.pool;
  const int64_t threads = pool.num_threads();
  const int64_t blocks = threads == 1 ? 1 : std::min(kBlocksOfThread * threads, kMostBlocks);
  const int64_t round = blocks * static_cast<int64_t>(kBlock);
  for (;;) {
    const size_t count = cut(lines_.ahead(round));
    if (count == 0) return 1;
    // The first task reads the bytes of the next round meanwhile.
    const bool read = threads > 1;
    pool.parallel_for(static_cast<int64_t>(count) + read, 1, [&](int64_t task, int64_t) {
      const base::CancelScope scope(reading_.context.cancel, "opening a data set");
      if (read && task == 0) return lines_.read_ahead(round);
      NumberBlock& block = blocks_[task - read];
      try {
        BlockParser(shape, lines_.end_of_line(), block).parse();
      } catch (const base::Error&) {  // no memory: lines one by one need less
        block.plain = false;
      }
    });
    for (size_t i = 0; i < count; ++i) {
      const NumberBlock& block = blocks_[i];
      if (!block.plain || !take(block)) return std::ranges::count(block.text, lines_.end_of_line());
      lines_.skip(static_cast<int64_t>(block.text.size()), block.returns, block.lines);
    }
  }
}

}  // namespace gnnmg::data
