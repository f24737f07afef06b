#include "dist/hello.h"

#include <algorithm>

#include "base/error.h"
#include "dist/frame.h"
#include "io/bytes.h"
#include "partition/book.h"

namespace gnnmg::dist {
namespace {

using base::fail;
using base::Status;

constexpr uint32_t kMaxText = 4096, kMaxFacts = 256;

void append_text(std::string& out, std::string_view text) {
  const std::string_view shown = base::beginning(text, kMaxText);
  io::append_little(out, static_cast<uint32_t>(shown.size()));
  out += shown;
}

void check_parts(const Hello& hello) {
  if (hello.num_parts < 1 || hello.num_parts > partition::kMaxParts)
    fail(Status::kProtocol, "a server says that its data have ", hello.num_parts, " parts");
  for (size_t i = 0; i < hello.parts.size(); ++i)
    if (hello.parts[i] < 0 || hello.parts[i] >= hello.num_parts ||
        (i > 0 && hello.parts[i] <= hello.parts[i - 1]))
      fail(Status::kProtocol, "a server says that it has part ", hello.parts[i], " of ",
           hello.num_parts);
}

}  // namespace

void write_hello_question(uint64_t request, Message& out) {
  begin_message(plain_head(Op::kHello, request, 0), 0, out);
  seal(out);
}

void write_hello(uint64_t request, const Hello& hello, Message& out) {
  Head head = plain_head(Op::kHello, request, hello.stamp);
  head.flags |= kAnswer;
  std::string body;
  append_text(body, hello.version);
  io::append_little(body, hello.num_parts);
  io::append_little(body, static_cast<int32_t>(hello.parts.size()));
  for (const int32_t part : hello.parts) io::append_little(body, part);
  const auto count = std::min<size_t>(hello.facts.size(), kMaxFacts);
  io::append_little(body, static_cast<uint32_t>(count));
  for (size_t i = 0; i < count; ++i) {
    append_text(body, hello.facts[i].first);
    append_text(body, hello.facts[i].second);
  }
  put_array(io::as_bytes(body), begin_message(head, static_cast<int64_t>(body.size()), out));
  seal(out);
}

Hello read_hello(uint64_t request, std::span<const uint8_t> message) {
  Hello hello;
  hello.stamp = read_head(message).stamp;  // any stamp: later questions repeat it
  read_answer_head(plain_head(Op::kHello, request, hello.stamp), message);
  Body body(message);
  hello.version = io::one_line(body.text(kMaxText));
  hello.num_parts = body.number<int32_t>();
  const Numbers parts = body.numbers(std::max(0, body.number<int32_t>()), 4);
  std::vector<int64_t> numbers(static_cast<size_t>(parts.size()));
  parts.copy_to(numbers.data());
  for (const int64_t part : numbers) hello.parts.push_back(static_cast<int32_t>(part));
  const auto facts = body.number<uint32_t>();
  if (facts > kMaxFacts)
    fail(Status::kProtocol, "a server tells ", facts, " facts, expected ", kMaxFacts, " at most");
  for (uint32_t i = 0; i < facts; ++i) {
    std::string name = io::one_line(body.text(kMaxText));
    hello.facts.emplace_back(std::move(name), io::one_line(body.text(kMaxText)));
  }
  body.end();
  check_parts(hello);
  return hello;
}

std::string difference(const Hello& a, std::string_view a_name, const Hello& b,
                       std::string_view b_name) {
  const auto differ = [&](const auto&... what) {
    return [&, head = base::text(what...)](const auto& one, const auto& other) {
      return base::text(head, " is ", one, " at ", a_name, " and ", other, " at ", b_name);
    };
  };
  if (a.version != b.version) return differ("the library's version")(a.version, b.version);
  if (a.num_parts != b.num_parts) return differ("the number of parts")(a.num_parts, b.num_parts);
  for (size_t i = 0; i < std::min(a.facts.size(), b.facts.size()); ++i) {
    if (a.facts[i].first != b.facts[i].first)
      return differ("the name of fact ", i)(a.facts[i].first, b.facts[i].first);
    if (a.facts[i].second != b.facts[i].second)
      return differ("the fact '", a.facts[i].first, "'")(a.facts[i].second, b.facts[i].second);
  }
  if (a.facts.size() != b.facts.size())
    return differ("the number of facts")(a.facts.size(), b.facts.size());
  if (a.stamp != b.stamp) return differ("the stamp")(a.stamp, b.stamp);
  return "";
}

}  // namespace gnnmg::dist
