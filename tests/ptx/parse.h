// The outer form of a PTX text: modules, functions and their statements.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "ptx/program.h"

namespace gnnmg::ptx {

// "{", "}", a label, or a text that ends with a semicolon.
struct Statement {
  std::string_view text;
  int line = 0;
  bool label = false;
};

struct Variable {
  std::string_view name;
  int64_t align = 1, bytes = 0;
};

struct Program::Function {
  std::string_view name, head, body;
  int line = 0;  // line of the body
  std::vector<Variable> parameters, results;
  int max_threads = 0;
};

struct Program::Module {
  std::map<std::string_view, Function> functions;
  // Device memory that the module declares, initially empty.
  std::map<std::string_view, std::vector<uint8_t>> globals;
};

// Removes blanks at both ends.
std::string_view trim(std::string_view text);
// Splits at commas that are outside of brackets.
std::vector<std::string_view> split(std::string_view text, char at = ',');
// ".param .align 8 .b8 name[32]", ".shared .align 4 .b8 name[1024]", ".param .u64 name".
Variable parse_variable(std::string_view text);
std::vector<Statement> parse_body(std::string_view body, int line);

}  // namespace gnnmg::ptx
