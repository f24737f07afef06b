#include "capi/settings.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>

#include "base/names.h"
#include "io/bytes.h"

namespace gnnmg::capi {
namespace {

constexpr std::string_view kBlanks = " \t\r\n";

// Reads the value that begins at `at` and ends before a blank.
std::string take_plain(std::string_view text, size_t& at) {
  const size_t begin = at;
  at = std::min(text.find_first_of(kBlanks, at), text.size());
  return std::string(text.substr(begin, at - begin));
}

// Reads the value whose opening quote is at `at`.
std::string take_quoted(std::string_view text, const Word& word, size_t& at) {
  std::string value;
  for (++at; at < text.size() && text[at] != '"'; ++at) {
    const bool escape =
        text[at] == '\\' && at + 1 < text.size() && (text[at + 1] == '"' || text[at + 1] == '\\');
    value += text[escape ? ++at : at];
  }
  if (at == text.size())
    fail(Status::kInvalidArgument, word.subject, " settings: the value of ", word.name,
         " has no closing quote");
  ++at;
  if (at < text.size() && kBlanks.find(text[at]) == kBlanks.npos)
    fail(Status::kInvalidArgument, word.subject, " settings: the value of ", word.name,
         " goes on after its closing quote, expected a blank");
  return value;
}

// Takes a prefix off a text, if it has it.
bool skip_prefix(std::string_view& text, std::string_view prefix) {
  if (!text.starts_with(prefix)) return false;
  text.remove_prefix(prefix.size());
  return true;
}

bool take_number(std::string_view& text, double& number) {
  const auto [end, error] = std::from_chars(text.begin(), text.end(), number);
  if (error != std::errc()) return false;
  text.remove_prefix(static_cast<size_t>(end - text.begin()));
  return true;
}

// False if a number is outside a range such as "1 to 64"; true for a text that is no range.
bool within(const char* values, double number) {
  if (values == nullptr) return true;
  std::string_view text = values;
  const bool above = skip_prefix(text, "above ");
  double low = 0, high = 0;
  if (!take_number(text, low)) return true;
  const bool has_low = above ? number > low : number >= low;
  if (text == " or more" || (above && text.empty())) return has_low;
  if (!skip_prefix(text, " to ")) return true;
  const bool below = skip_prefix(text, "below ");
  if (!take_number(text, high) || !text.empty()) return true;
  return has_low && (below ? number < high : number <= high);
}

template <typename Number>
Number parse_number(const Word& word, std::string_view text, std::string_view expected) {
  Number value{};
  const auto [end, error] = std::from_chars(text.begin(), text.end(), value);
  if (error == std::errc::result_out_of_range)
    word.refuse(base::text(expected, " that fits ", 8 * sizeof(Number), " bits"));
  if (error != std::errc() || end != text.end()) word.refuse(expected);
  const auto number = static_cast<double>(value);
  if (!std::isfinite(number) || !within(word.values, number)) word.refuse(expected);
  return value;
}

template <typename Number>
void read_list(const Word& word, std::vector<Number>& value) {
  value.clear();
  for (const std::string_view part : split_list(word.value))
    value.push_back(parse_number<Number>(word, part, "integers with commas between them"));
}

}  // namespace

void Word::refuse(std::string_view expected) const {
  const bool has_values = values != nullptr && values[0] != '\0';
  fail(Status::kInvalidArgument, subject, " settings: ", name, "=", io::printable(value),
       ", expected ", expected, has_values ? ", " : "", has_values ? values : "");
}

std::vector<Word> split_words(const char* subject, const char* settings) {
  std::vector<Word> words;
  if (settings == nullptr) return words;
  const std::string_view text = read_text(settings, "settings");
  size_t at = 0;
  while ((at = text.find_first_not_of(kBlanks, at)) != text.npos) {
    const size_t equals = text.find('=', at);
    const size_t blank = std::min(text.find_first_of(kBlanks, at), text.size());
    if (equals == text.npos || equals >= blank || equals == at)
      fail(Status::kInvalidArgument, subject, " settings: '",
           io::printable(text.substr(at, blank - at)), "', expected name=value");
    Word word{subject, io::printable(text.substr(at, equals - at)), {}};
    at = equals + 1;
    const bool quoted = at < text.size() && text[at] == '"';
    word.value = quoted ? take_quoted(text, word, at) : take_plain(text, at);
    if (word.value.empty()) word.refuse("a value");
    for (const Word& other : words)
      if (other.name == word.name)
        fail(Status::kInvalidArgument, subject, " settings: ", word.name, " is given twice");
    words.push_back(std::move(word));
  }
  return words;
}

void read_value(const Word& word, bool& value) {
  if (word.value != "0" && word.value != "1") word.refuse("0 or 1");
  value = word.value == "1";
}
void read_value(const Word& word, int32_t& value) {
  value = parse_number<int32_t>(word, word.value, "an integer");
}
void read_value(const Word& word, int64_t& value) {
  value = parse_number<int64_t>(word, word.value, "an integer");
}
void read_value(const Word& word, uint64_t& value) {
  value = parse_number<uint64_t>(word, word.value,
                                 word.values ? "an integer" : "an integer of 0 or more");
}
void read_value(const Word& word, double& value) {
  value = parse_number<double>(word, word.value, "a number");
}
void read_value(const Word& word, std::string& value) { value = word.value; }
void read_value(const Word& word, std::vector<int32_t>& value) { read_list(word, value); }
void read_value(const Word& word, std::vector<int64_t>& value) { read_list(word, value); }

int read_choice(const Word& word, std::string_view text, const nn::Choices& choices) {
  const std::optional<int> found = choices.find(text);
  if (found) return *found;
  const std::vector<std::string_view> known(choices.words.begin(), choices.words.end());
  const std::string meant = base::meant_names(text, known);
  word.refuse(base::text("one of ", choices.list(),
                         meant.empty() ? "" : base::text("; did you mean ", meant, "?")));
}

std::vector<std::string_view> split_list(std::string_view text) {
  std::vector<std::string_view> parts;
  for (size_t begin = 0; begin <= text.size();) {
    const size_t end = std::min(text.find(',', begin), text.size());
    parts.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

std::string value_text(bool value) { return value ? "1" : "0"; }
std::string value_text(double value) {  // the shortest digits that read back as the same number
  char digits[32];
  return {static_cast<char*>(digits), std::to_chars(digits, digits + sizeof digits, value).ptr};
}
std::string value_text(const std::string& value) { return value; }

std::string range_text(double low, bool above_low, double high, bool below_high) {
  constexpr double kLargest = std::numeric_limits<double>::max();
  if (low <= -kLargest) return {};
  const std::string from = (above_low ? "above " : "") + value_text(low);
  if (high >= kLargest) return above_low ? from : from + " or more";
  return base::text(from, " to ", below_high ? "below " : "", value_text(high));
}

void refuse_setting(const Word& word, std::span<const std::string_view> names) {
  fail(Status::kInvalidArgument, word.subject, " settings: unknown name '", word.name, "'",
       base::known_names(word.name, names));
}

void refuse_second(const Word& word) {
  fail(Status::kInvalidArgument, word.subject, " settings: ", word.name, "=",
       io::printable(word.value), ", and config.", word.name, " is set too: leave one of them out");
}

void refuse_without_effect(const Word& word, std::string_view condition) {
  fail(Status::kInvalidArgument, word.subject, " settings: ", word.name, "=",
       io::printable(word.value), " has an effect only ", condition, "; leave it out");
}

}  // namespace gnnmg::capi
