#include "ptx/parse.h"

#include <algorithm>
#include <charconv>

namespace gnnmg::ptx {
namespace {

constexpr std::string_view kBlanks = " \t\r\n";

bool starts(std::string_view text, std::string_view with) {
  return text.substr(0, with.size()) == with;
}

// Replaces comments by blanks, keeping the lines.
void blank_comments(std::string& text) {
  for (size_t i = 0; i + 1 < text.size(); ++i) {
    if (text[i] != '/' || (text[i + 1] != '/' && text[i + 1] != '*')) continue;
    const bool line = text[i + 1] == '/';
    size_t end = text.find(line ? "\n" : "*/", i);
    end = std::min(end, text.size());
    if (!line) end = std::min(end + 2, text.size());
    std::replace_if(
        text.begin() + static_cast<int64_t>(i), text.begin() + static_cast<int64_t>(end),
        [](char c) { return c != '\n'; }, ' ');
    i = end - 1;
  }
}

int64_t number_at(std::string_view text) {
  int64_t value = 0;
  text = trim(text);
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

int64_t bytes_of_type(std::string_view type) {
  const int64_t bits =
      number_at(type.substr(std::min(type.size(), type.find_first_of("0123456789"))));
  return bits / 8;
}

std::vector<std::string_view> words(std::string_view text) {
  std::vector<std::string_view> found;
  while (!(text = trim(text)).empty()) {
    const size_t end = std::min(text.size(), text.find_first_of(kBlanks));
    found.push_back(text.substr(0, end));
    text.remove_prefix(end);
  }
  return found;
}

size_t closing(std::string_view text, size_t open, char left, char right) {
  int depth = 0;
  for (size_t i = open; i < text.size(); ++i) {
    if (text[i] == left) ++depth;
    if (text[i] == right && --depth == 0) return i;
  }
  throw Error("a bracket is not closed");
}

std::vector<Variable> parse_parameters(std::string_view text) {
  std::vector<Variable> parameters;
  for (std::string_view one : split(text))
    if (!trim(one).empty()) parameters.push_back(parse_variable(one));
  return parameters;
}

}  // namespace

std::string_view trim(std::string_view text) {
  const size_t first = text.find_first_not_of(kBlanks);
  if (first == text.npos) return {};
  return text.substr(first, text.find_last_not_of(kBlanks) - first + 1);
}

std::vector<std::string_view> split(std::string_view text, char at) {
  std::vector<std::string_view> parts;
  int depth = 0;
  size_t begin = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    depth += text[i] == '{' || text[i] == '[' || text[i] == '(';
    depth -= text[i] == '}' || text[i] == ']' || text[i] == ')';
    if (text[i] != at || depth != 0) continue;
    parts.push_back(trim(text.substr(begin, i - begin)));
    begin = i + 1;
  }
  parts.push_back(trim(text.substr(begin)));
  return parts;
}

Variable parse_variable(std::string_view text) {
  Variable variable;
  const std::vector<std::string_view> parts = words(text);
  for (size_t i = 0; i < parts.size(); ++i) {
    if (parts[i] == ".align")
      variable.align = number_at(parts[++i]);
    else if (starts(parts[i], ".") && bytes_of_type(parts[i]) > 0)
      variable.bytes = bytes_of_type(parts[i]);
    else if (!starts(parts[i], ".") && variable.name.empty())
      variable.name = parts[i];
  }
  variable.align = std::max(variable.align, variable.bytes);
  if (const size_t open = variable.name.find('['); open != variable.name.npos) {
    variable.bytes *= number_at(variable.name.substr(open + 1));
    variable.name = variable.name.substr(0, open);
  }
  if (variable.name.empty() || variable.bytes <= 0)
    throw Error("not a variable: " + std::string(text.substr(0, 200)));
  return variable;
}

std::vector<Statement> parse_body(std::string_view body, int line) {
  std::vector<Statement> statements;
  size_t begin = 0;
  int depth = 0, line_of_begin = line;
  const auto put = [&](size_t end, bool label) {
    const std::string_view text = trim(body.substr(begin, end - begin));
    if (!text.empty()) statements.push_back({text, line_of_begin, label});
    begin = end + 1;
  };
  for (size_t i = 0; i < body.size(); ++i) {
    const char c = body[i];
    if (trim(body.substr(begin, i - begin)).empty()) line_of_begin = line;
    if (c == '\n') ++line;
    if (c == '(' || c == '[') ++depth;
    if (c == ')' || c == ']') --depth;
    if (c == ';' && depth == 0) put(i, false);
    if (c == ':' && depth == 0) put(i, true);
    if (c == '{' || c == '}') {
      // Scope brackets are at the beginning of a statement, all others inside one.
      const std::string_view before = trim(body.substr(begin, i - begin));
      if (!before.empty()) continue;
      statements.push_back({body.substr(i, 1), line, false});
      begin = i + 1;
    }
  }
  return statements;
}

Program::~Program() = default;

Program::Program(std::string text) : text_(std::move(text)) {
  blank_comments(text_);
  const std::string_view all = text_;
  int line = 1;
  size_t counted = 0;
  const auto line_of = [&](size_t at) {
    line += static_cast<int>(std::count(text_.begin() + static_cast<int64_t>(counted),
                                        text_.begin() + static_cast<int64_t>(at), '\n'));
    counted = at;
    return line;
  };
  for (size_t at = all.find(".version"); at < all.size();) {
    const size_t first = all.find_first_not_of(kBlanks, at);
    if (first == all.npos) break;
    const std::string_view rest = all.substr(first);
    if (starts(rest, ".version")) modules_.push_back(std::make_unique<Module>());
    if (starts(rest, ".version") || starts(rest, ".target") || starts(rest, ".address_size")) {
      at = all.find('\n', first);
      continue;
    }
    if (!starts(rest, ".")) {  // text between modules in a list
      at = std::min(all.find(".version", first), all.size());
      continue;
    }
    const size_t stop = all.find_first_of(";{", first);
    const std::string_view head = all.substr(first, stop - first);
    Module& module = *modules_.back();
    const bool entry = head.find(".entry") != head.npos;
    if (!entry && head.find(".func") == head.npos) {
      const size_t end = all.find(';', first);
      if (head.find(".global") != head.npos) {
        if (all.substr(first, end - first).find('=') != all.npos)
          throw Error("memory that begins with values is not known: " + std::string(head));
        const Variable variable = parse_variable(head);
        module.globals[variable.name].resize(static_cast<size_t>(variable.bytes));
      }
      at = end + 1;
      continue;
    }
    Function function;
    size_t open = head.find('(');
    std::string_view before = head.substr(0, open);
    if (!entry && words(before).back() == ".func") {  // a result in brackets comes first
      const size_t close = closing(head, open, '(', ')');
      function.results = parse_parameters(head.substr(open + 1, close - open - 1));
      open = head.find('(', close);
      before = head.substr(close + 1, open - close - 1);
    }
    function.name = words(before).back();
    const size_t close = closing(head, open, '(', ')');
    function.parameters = parse_parameters(head.substr(open + 1, close - open - 1));
    if (const size_t most = head.find(".maxntid"); most != head.npos)
      function.max_threads = static_cast<int>(number_at(head.substr(most + 8)));
    if (all[stop] == ';') {
      at = stop + 1;
      continue;
    }
    const size_t end = closing(all, stop, '{', '}');
    function.line = line_of(stop);
    function.body = all.substr(stop + 1, end - stop - 1);
    Function& kept = module.functions[function.name] = function;
    if (entry) entries_.try_emplace(std::string(function.name), &module, &kept);
    at = end + 1;
  }
}

std::vector<std::string> Program::names() const {
  std::vector<std::string> names;
  for (const auto& [name, entry] : entries_) names.push_back(name);
  return names;
}

}  // namespace gnnmg::ptx
