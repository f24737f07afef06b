// Settings that are given as text: words "name=value" with blanks between them.
#pragma once

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/names.h"

namespace gnnmg::capi {

struct Word {
  std::string_view name, value;
  [[noreturn]] void refuse(std::string_view expected) const {
    base::fail(base::Status::kInvalidArgument, "settings: ", name, "=", value, ", expected ",
               expected);
  }
  double number(double least, double most, std::string_view expected) const {
    double found = 0;
    const auto [end, error] = std::from_chars(value.begin(), value.end(), found);
    if (error != std::errc() || end != value.end() || !(found >= least && found <= most))
      refuse(expected);
    return found;
  }
  int64_t integer(int64_t least, int64_t most, std::string_view expected) const {
    return integer(value, least, most, expected);
  }
  // The value of a part of the word.
  int64_t integer(std::string_view text, int64_t least, int64_t most,
                  std::string_view expected) const {
    int64_t found = 0;
    const auto [end, error] = std::from_chars(text.begin(), text.end(), found);
    if (error != std::errc() || end != text.end() || found < least || found > most)
      refuse(expected);
    return found;
  }
  // With commas between them.
  std::vector<int64_t> integers(int64_t least, int64_t most, std::string_view expected) const {
    std::vector<int64_t> list;
    for (size_t begin = 0; begin <= value.size();) {
      const size_t end = std::min(value.find(',', begin), value.size());
      list.push_back(integer(value.substr(begin, end - begin), least, most, expected));
      begin = end + 1;
    }
    return list;
  }
};

// The setting of a word of this name.
template <typename Settings>
struct Setting {
  const char* name;
  void (*set)(Settings& settings, const Word& word);
};

// Error(kInvalidArgument) with the names that there are, and the one that was meant, as it seems.
template <typename Settings>
[[noreturn]] void refuse_name(std::string_view name, std::span<const Setting<Settings>> known) {
  std::vector<std::string_view> names;
  for (const Setting<Settings>& setting : known) names.emplace_back(setting.name);
  base::fail(base::Status::kInvalidArgument, "settings: unknown name '", name, "'",
             base::known_names(name, names));
}

// Applies each word of the text. Error(kInvalidArgument) naming the word, and the names that there
// are where it is none of them; or a name that occurs twice.
template <typename Settings>
void apply_words(std::string_view words, std::span<const Setting<Settings>> known,
                 Settings& settings) {
  constexpr std::string_view kBlanks = " \t\n";
  std::vector<bool> given(known.size());
  const auto apply = [&](const Word& word) {
    for (size_t i = 0; i < known.size(); ++i) {
      if (word.name != known[i].name) continue;
      if (given[i])
        base::fail(base::Status::kInvalidArgument, "settings: ", word.name, " is given twice");
      given[i] = true;
      return known[i].set(settings, word);
    }
    refuse_name(word.name, known);
  };
  for (size_t begin = words.find_first_not_of(kBlanks); begin != words.npos;) {
    const size_t end = std::min(words.find_first_of(kBlanks, begin), words.size());
    const std::string_view text = words.substr(begin, end - begin);
    const size_t equals = text.find('=');
    apply({text.substr(0, equals),
           equals == text.npos ? std::string_view() : text.substr(equals + 1)});
    begin = words.find_first_not_of(kBlanks, end);
  }
}

}  // namespace gnnmg::capi
