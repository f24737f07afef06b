#include "io/pickle.h"

#include <gtest/gtest.h>

#include <deque>

#include "base/file.h"
#include "io/damage.h"
#include "io/files.h"
#include "support/data.h"

namespace gnnmg::test {
namespace {

using namespace std::string_literals;
using base::Status;
using io::as_bytes;
using io::parse_pickle;
using io::PickleBytes;
using io::PickleDict;
using io::PickleGlobal;
using io::PickleList;
using io::PickleNone;
using io::PickleObject;
using io::PickleOptions;
using io::PicklePersistent;
using io::PickleRef;
using io::PickleText;
using io::PickleTuple;

constexpr char kStart[] = "\x80\x02";

bool accept_some(std::string_view module, std::string_view name) {
  return module == "collections" && (name == "OrderedDict" || name == "defaultdict");
}

PickleRef parse(const std::string& bytes, PickleOptions options = {}) {
  if (!options.accept) options.accept = accept_some;
  static std::deque<std::string> kept;  // texts are views of it
  return parse_pickle(as_bytes(kept.emplace_back(bytes)), options, "a.pkl");
}
// The value that the opcodes make.
PickleRef value(const std::string& opcodes) { return parse(kStart + opcodes + "."); }

void expect_refused(const std::string& opcodes, std::string_view part,
                    const PickleOptions& options = {}) {
  expect_error(Status::kFormat, part, [&] { parse(kStart + opcodes, options); });
}

TEST(Pickle, ReadsNumbers) {
  EXPECT_EQ(*value("K\xff")->as<int64_t>(), 255);
  EXPECT_EQ(*value("M\xff\xff")->as<int64_t>(), 65535);
  EXPECT_EQ(*value("J\xff\xff\xff\xff")->as<int64_t>(), -1);
  EXPECT_EQ(*value("J\0\0\0\x80"s)->as<int64_t>(), INT32_MIN);
  EXPECT_EQ(*value("\x8a\0"s)->as<int64_t>(), 0);
  EXPECT_EQ(*value("\x8a\1\xff")->as<int64_t>(), -1);
  EXPECT_EQ(*value("\x8a\2\xff\0"s)->as<int64_t>(), 255);
  EXPECT_EQ(*value("\x8a\x08"s + std::string(7, '\0') + "\x80")->as<int64_t>(), INT64_MIN);
  expect_refused("\x8a\x09"s + std::string(9, '\1') + ".", "does not fit 64 bits");
  EXPECT_EQ(*value("G\x3f\xf8\0\0\0\0\0\0"s)->as<double>(), 1.5);
  EXPECT_TRUE(*value("\x88")->as<bool>());
  EXPECT_FALSE(*value("\x89")->as<bool>());
  EXPECT_NE(value("N")->as<PickleNone>(), nullptr);
  EXPECT_EQ(value("N")->as<int64_t>(), nullptr);
}

TEST(Pickle, ReadsTexts) {
  EXPECT_EQ(value("U\3abc")->as<PickleBytes>()->bytes, "abc");
  EXPECT_EQ(value("T\3\0\0\0a\0c"s)->as<PickleBytes>()->bytes, "a\0c"s);
  EXPECT_EQ(value("X\2\0\0\0\xc3\xa9"s)->as<PickleText>()->text, "\xc3\xa9");
  EXPECT_EQ(*value("U\1a")->as_text(), "a");
  EXPECT_EQ(*value("X\1\0\0\0a"s)->as_text(), "a");
  EXPECT_EQ(value("N")->as_text(), nullptr);
  expect_refused("X\1\0\0\0\xff."s, "not UTF-8");
  expect_refused("X\xff\xff\xff\xff.", "cut");
  expect_refused("T\xff\xff\xff\xff.", "cut");  // a length of -1
  expect_refused("U\xff.", "cut");
}

TEST(Pickle, ReadsContainers) {
  EXPECT_TRUE(value(")")->as<PickleTuple>()->items.empty());
  EXPECT_EQ(value("K\1\x85")->as<PickleTuple>()->items.size(), 1u);
  EXPECT_EQ(value("K\1K\2\x86")->as<PickleTuple>()->items.size(), 2u);
  const PickleRef three = value("K\1K\2K\3\x87");
  EXPECT_EQ(*three->as<PickleTuple>()->items[0]->as<int64_t>(), 1);
  EXPECT_EQ(*three->as<PickleTuple>()->items[2]->as<int64_t>(), 3);
  EXPECT_EQ(value("(K\1K\2K\3K\4t")->as<PickleTuple>()->items.size(), 4u);
  EXPECT_EQ(value("]K\1a(K\2K\3e")->as<PickleList>()->items.size(), 3u);
  const PickleRef dict = value("}K\1K\2s(K\3K\4K\3K\5u");
  ASSERT_EQ(dict->as<PickleDict>()->items.size(), 3u);
  EXPECT_EQ(*dict->as<PickleDict>()->items[2].second->as<int64_t>(), 5);
  expect_refused("}(K\1u.", "a key without a value");
  expect_refused("](K\1K\2u.", "no dict");
  expect_refused("}K\1a.", "no list");
  expect_refused("K\1(K\1e.", "no list");
}

TEST(Pickle, SharesWhatTheMemoHolds) {
  const PickleRef pair = value("]q\0K\1ah\0\x86"s);
  const auto& items = pair->as<PickleTuple>()->items;
  EXPECT_EQ(items[0], items[1]);
  EXPECT_EQ(items[0]->as<PickleList>()->items.size(), 1u);
  EXPECT_EQ(*value("(K\7r\1\2\3\4j\1\2\3\4t")->as<PickleTuple>()->items[1]->as<int64_t>(), 7);
  expect_refused("h\1.", "memo entry 1 was never made");
  expect_refused("j\1\2\3\4.", "memo entry 67305985");
  expect_refused("q\1.", "stack is empty");
}

TEST(Pickle, BuildsAcceptedGlobals) {
  const PickleRef dict = value("ccollections\nOrderedDict\n)RU\1aK\1s}U\1bK\2sb");
  const auto* object = dict->as<PickleObject>();
  ASSERT_NE(object, nullptr);
  EXPECT_TRUE(object->is("collections", "OrderedDict"));
  EXPECT_EQ(object->items.items.size(), 1u);
  EXPECT_EQ(object->state->as<PickleDict>()->items.size(), 1u);
  EXPECT_TRUE(object->arguments->as<PickleTuple>()->items.empty());
  const PickleRef made = value("ccollections\ndefaultdict\n)\x81");
  EXPECT_TRUE(made->as<PickleObject>()->is("collections", "defaultdict"));
  const PickleRef filled = value("ccollections\ndefaultdict\n)R(K\1K\2eK\3a");
  EXPECT_EQ(filled->as<PickleObject>()->list.items.size(), 3u);
  const PickleRef global = value("ccollections\nOrderedDict\n");
  EXPECT_EQ(global->as<PickleGlobal>()->name, "OrderedDict");
  const PickleRef persistent = value("U\2idQ");
  EXPECT_EQ(*persistent->as<PicklePersistent>()->id->as_text(), "id");
}

TEST(Pickle, RunsNothing) {
  const std::pair<const char*, std::string> hostile[] = {
      {"os.system", "cos\nsystem\nU\4exit\x85R."},
      {"posix.system", "cposix\nsystem\nU\4exit\x85R."},
      {"builtins.eval",
       "cbuiltins\neval\nU\1"
       "1\x85R."},
      {"builtins.exec",
       "cbuiltins\nexec\nU\1"
       "1\x85R."},
      {"builtins.getattr", "cbuiltins\ngetattr\n(cbuiltins\n__import__\nU\2os\x85RU\6systemtR."},
      {"__builtin__.eval",
       "c__builtin__\neval\nU\1"
       "1\x85R."},
      {"subprocess.Popen", "csubprocess\nPopen\nU\2id\x85R."},
      {"nt.system", "cnt\nsystem\nU\2id\x85R."},
      {"torch.serialization.load", "ctorch.serialization\nload\nU\1x\x85R."},
      {"collections.OrderedDict.__init__", "ccollections\nOrderedDict.__init__\n)R."},
      {"collections.os", "ccollections\nos\n)R."},
      {".", "c\n\n)R."},
      {"a\\x00b.c", "ca\0b\nc\n)R."s},
  };
  for (const auto& [name, opcodes] : hostile)
    expect_refused(opcodes, "names "s + name + ", which is not accepted");
  PickleOptions none;
  none.accept = nullptr;
  expect_error(Status::kFormat, "not accepted",
               [&] { parse_pickle(as_bytes("ccollections\nOrderedDict\n."), none, "a.pkl"); });
  expect_refused("c"s + std::string(1000, 'm') + "\nx\n.", "no end");
  expect_refused("ccollections", "no end");
  expect_refused("ccollections\nOrdered", "no end");
}

TEST(Pickle, CallsOnlyGlobals) {
  // The result of an accepted global is not callable; nor are texts, or a global's arguments.
  expect_refused("ccollections\nOrderedDict\n)R)R.", "called that is no global");
  expect_refused("U\4eval)R.", "called that is no global");
  expect_refused("ccollections\nOrderedDict\n)\x81)\x81.", "called that is no global");
  expect_refused("ccollections\nOrderedDict\n]R.", "no tuple");
  expect_refused("]}b.", "takes none");
  expect_refused("ccollections\nOrderedDict\n}b.", "takes none");
  expect_refused("ccollections\nOrderedDict\n)R}b}b.", "takes none");
}

TEST(Pickle, RefusesOtherOpcodes) {
  // Every opcode of protocols 0 to 5 that is not accepted: INST, OBJ, EXT1, NEXT_BUFFER and others.
  const std::string known =
      "().0BCFGIJKLMNQRSTUVX]abcdeghjlpqrstu}\x80\x81\x85\x86\x87\x88\x89\x8a"
      "\x8c\x8d\x8e\x8f\x90\x91\x92\x93\x94\x95\x96";
  for (int opcode = 0; opcode < 256; ++opcode) {
    const char c = static_cast<char>(opcode);
    if (known.find(c) != known.npos) continue;
    expect_refused(c + std::string(40, '\n') + ".",
                   "opcode " + std::to_string(opcode) + " is not accepted");
  }
}

std::string global(const std::string& module, const std::string& name) {
  return "c" + module + "\n" + name + "\n";
}

// A name that is not accepted keeps no arguments, no state, no items.
TEST(Pickle, KeepsOtherNamesOpaqueWhereAsked) {
  PickleOptions options;
  options.opaque_others = true;
  const auto opaque = [&](const std::string& opcodes) {
    const PickleRef found = parse(kStart + opcodes + ".", options);
    const auto* kept = found->as<io::PickleOpaque>();
    return kept ? base::text(kept->module, ".", kept->name) : "another";
  };
  const std::string name = global("a", "B");
  EXPECT_EQ(opaque(name), "a.B");
  EXPECT_EQ(opaque(name + ")R"), "a.B");
  EXPECT_EQ(opaque(name + "K\1\x85R)R"), "a.B") << "what it gave is called";
  EXPECT_EQ(opaque(name + ")\x81}K\1K\2sb"), "a.B");
  EXPECT_EQ(opaque(name + ")}K\1K\2s\x92"), "a.B");
  EXPECT_EQ(opaque(name + ")R(K\1K\2e"), "a.B");
  EXPECT_EQ(opaque(name + ")R(K\1K\2u"), "a.B");
  EXPECT_EQ(opaque(name + ")\x81q\0]h\0ab"s), "a.B") << "its state names it";
  EXPECT_EQ(opaque("U\6module" + name + "N\x87Q)R"), "a.B");
  EXPECT_EQ(opaque("\x8a\x09"s + std::string(9, '\1')), "builtins.int");
  EXPECT_EQ(opaque(global("collections", "OrderedDict") + ")R"), "another");
  EXPECT_EQ(parse(kStart + "("s + name + "K\1\x91.", options)->as<PickleList>()->items.size(), 2u)
      << "a frozen set";
  const auto refused = [&](const std::string& opcodes, std::string_view part) {
    expect_error(Status::kFormat, part, [&] { parse(kStart + opcodes + ".", options); });
  };
  refused(name + "NR", "arguments that are no tuple");
  refused("N)R", "called that is no global");
  refused(global("collections", "OrderedDict") + ")}K\1K\2s\x92", "keyword arguments");
  refused("]q\0h\0a"s, "changed");
  refused("c" + std::string(300, 'x') + "\ny\n", "no end");
}

// A million dates are one value, and integers beyond 64 bits in any form are opaque.
TEST(Pickle, OpaqueValuesTakeLittle) {
  PickleOptions options;
  options.opaque_others = true;
  options.max_growth = 16;
  std::string many = "](";
  for (int i = 0; i < 100000; ++i) many += i == 0 ? global("a", "B") + "q\1)R" : "h\1)R"s;
  EXPECT_EQ(parse(kStart + many + "e.", options)->as<PickleList>()->items.size(), 100000u);
  for (const char* number : {"L123456789012345678901234567890L\n", "I99999999999999999999\n"})
    EXPECT_TRUE(parse(std::string(kStart) + number + ".", options)->as<io::PickleOpaque>())
        << number;
  std::vector<int64_t> ids;
  options.on_persistent = [&](const io::PickleValue& id) { ids.push_back(*id.as<int64_t>()); };
  parse(kStart + global("a", "B") + "K\1Q\x85RK\2Q\x86.", options);
  EXPECT_EQ(ids, (std::vector<int64_t>{1, 2})) << "also of what it has forgotten";
}

TEST(Pickle, ReadsWhatPython3Writes) {
  const auto bytes = [](const PickleRef& value) { return value->as<PickleBytes>()->bytes; };
  EXPECT_EQ(bytes(parse("\x80\3C\2\xff\1."s)), "\xff\1");
  EXPECT_EQ(bytes(parse("\x80\3B\1\0\0\0x."s)), "x");
  EXPECT_EQ(bytes(parse("\x80\4\x8e\1\0\0\0\0\0\0\0x."s)), "x");
  EXPECT_EQ(bytes(parse("\x80\5\x96\1\0\0\0\0\0\0\0x."s)), "x");
  EXPECT_EQ(parse("\x80\4\x8c\2\xc3\xa4."s)->as<PickleText>()->text, "\xc3\xa4");
  EXPECT_EQ(parse("\x80\4\x8d\1\0\0\0\0\0\0\0x."s)->as<PickleText>()->text, "x");
  EXPECT_EQ(parse("\x80\4\x8f\x94(K\1K\2\x90."s)->as<PickleList>()->items.size(), 2u) << "a set";
  const PickleRef twice = parse("\x80\4\x95\7\0\0\0\0\0\0\0K\7\x94h\0\x86."s);
  EXPECT_EQ(*twice->as<PickleTuple>()->items[1]->as<int64_t>(), 7) << "by the memo";
  expect_refused("\x95\7\0\0\0\0\0\0\0."s, "the pickle is cut");
  expect_refused("\x8d\xff\xff\xff\xff\xff\xff\xff\xff."s, "the pickle is cut");
  expect_refused("\x8c\2os\x8c\6system\x93."s, "names os.system");
  expect_refused("NN\x93."s, "no short text");
}

// Numbers, texts, places in the memo and containers as lines.
TEST(Pickle, ReadsProtocols0And1) {
  EXPECT_EQ(*parse("I-7\n.")->as<int64_t>(), -7);
  EXPECT_TRUE(*parse("I01\n.")->as<bool>());
  EXPECT_FALSE(*parse("I00\n.")->as<bool>());
  EXPECT_EQ(*parse("L9223372036854775807L\n.")->as<int64_t>(), INT64_MAX);
  EXPECT_EQ(*parse("L-3\n.")->as<int64_t>(), -3);
  EXPECT_EQ(*parse("F-1.5e+3\n.")->as<double>(), -1500);
  EXPECT_EQ(parse("S'a\\x00\\xff\\n\\\\\\''\n.")->as<PickleBytes>()->bytes, "a\0\xff\n\\'"s);
  EXPECT_EQ(parse("S\"it's\"\np0\n.")->as<PickleBytes>()->bytes, "it's");
  EXPECT_EQ(parse("V\xe9\\u20ac\\U0001f600\\n\n.")->as<PickleText>()->text,
            "\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80\\n");
  const PickleRef list = parse("(lp0\nI1\naI2\na.");
  EXPECT_EQ(list->as<PickleList>()->items.size(), 2u);
  const PickleRef dict = parse("(dp0\nS'a'\np1\nI1\nsS'b'\np2\ng1\ns.");
  ASSERT_EQ(dict->as<PickleDict>()->items.size(), 2u);
  EXPECT_EQ(*dict->as<PickleDict>()->items[1].second->as_text(), "a") << "by the memo";
  EXPECT_EQ(parse("(I1\nI2\nl.")->as<PickleList>()->items.size(), 2u);
  EXPECT_EQ(parse("(I1\nI2\nd.")->as<PickleDict>()->items.size(), 1u);
  EXPECT_EQ(*parse("I1\nI2\n0.")->as<int64_t>(), 1);
  const auto refused = [](const std::string& bytes, const char* part) {
    expect_error(Status::kFormat, part, [&] { parse(bytes); });
  };
  refused("I9223372036854775808\n.", "does not fit 64 bits");
  refused("I1.5\n.", "does not fit 64 bits");
  refused("Fone\n.", "a number that is none");
  refused("I1", "a number has no end");
  refused("I"s + std::string(100, '0') + "\n.", "a number has no end");
  refused("S'a", "a text has no end");
  for (const char* text : {"a", "'", "'a\"", "'\\'", "'\\x0'", "'\\q'", "'\\xg0'"})
    refused(base::text("S", text, "\n."), "an escape that is none");
  for (const char* text : {"\\u12", "\\ud800", "\\U00110000", "\\uzzzz"})
    refused(base::text("V", text, "\n."), "an escape that is none");
  refused("I1\np-1\n.", "a place in the memo");
  refused("I1\np4294967296\n.", "a place in the memo");
  refused("g5\n.", "never made");
}

TEST(Pickle, SeveralInARow) {
  const std::string bytes = "\x80\x02K\1.I2\n.rest";
  std::span<const uint8_t> rest = as_bytes(bytes);
  EXPECT_EQ(*io::take_pickle(rest, {}, "a")->as<int64_t>(), 1);
  EXPECT_EQ(*io::take_pickle(rest, {}, "a")->as<int64_t>(), 2);
  EXPECT_EQ(io::as_text(rest), "rest");
  // The memory limit depends on the pickle's size, not on the bytes after it.
  const std::string many = "(" + std::string(200'000, ']') + "l." + std::string(1 << 24, 'x');
  std::span<const uint8_t> all = as_bytes(many);
  expect_error(Status::kFormat, "more memory than", [&] { io::take_pickle(all, {}, "a"); });
}

TEST(Pickle, RefusesOtherProtocols) {
  EXPECT_EQ(*parse("K\1.")->as<int64_t>(), 1);
  EXPECT_EQ(*parse("\x80\1K\1.")->as<int64_t>(), 1);
  for (const int protocol : {2, 3, 4, 5})
    EXPECT_EQ(*parse("\x80"s + static_cast<char>(protocol) + "K\1.")->as<int64_t>(), 1);
  for (const int protocol : {6, 255})
    expect_error(Status::kFormat, "protocol " + std::to_string(protocol),
                 [&] { parse("\x80"s + static_cast<char>(protocol) + "K\1."); });
  expect_refused("\x80\2N.", "at the start");
}

TEST(Pickle, RefusesBrokenStacks) {
  for (const char* opcodes :
       {"\x85.", "N\x86.", "NN\x87.", "a.", "s.", "Ns.", "R.", "b.", "Q.", "]a.", "N(\x85."})
    expect_refused(opcodes, "stack is empty");
  for (const char* opcodes : {"t.", "e.", "u.", "Nt."}) expect_refused(opcodes, "has no mark");
  expect_refused(".", "0 values on the stack");
  expect_refused("NN.", "2 values on the stack");
  expect_refused("N(.", "1 values on the stack");
  expect_refused("(.", "0 values");
  expect_refused("N.N", "1 surplus bytes");
  expect_refused("", "has no STOP");
  expect_refused("N", "has no STOP");
}

TEST(Pickle, RefusesCycles) {
  expect_refused("]q\0h\0a."s, "lies in another one");
  expect_refused("}q\0K\1h\0s."s, "lies in another one");
  expect_refused("]q\0]q\1h\0ah\0h\1a."s, "lies in another one");  // through a second list
  expect_refused("ccollections\nOrderedDict\n)Rq\0h\0b."s, "lies in another one");
  // A list in a tuple must not grow any more, or its depth would be wrong.
  expect_refused("]q\0\x85h\0K\1a\x86."s, "lies in another one");
}

TEST(Pickle, LimitsDepth) {
  PickleOptions options;
  options.max_depth = 10;
  const auto nested = [](int depth) { return ")" + std::string(depth - 1, '\x85'); };
  EXPECT_EQ(parse(kStart + nested(10) + ".", options)->depth, 10);
  expect_refused(nested(11) + ".", "more than 10 levels", options);
  expect_refused(nested(100'000) + ".", "more than 200 levels");
  std::string lists;
  for (int i = 0; i < 1000; ++i) lists += "]";
  expect_refused(lists + std::string(999, 'a') + ".", "more than 200 levels");
}

TEST(Pickle, LimitsWhatSharingMultiplies) {
  // Each list has the previous one four times: a small pickle, a huge tree.
  std::string laughs = "]q"s + '\0' + "K\1a";
  for (int i = 0; i < 100; ++i) {
    laughs += "](";
    for (int copy = 0; copy < 4; ++copy) laughs += "h"s + static_cast<char>(i);
    laughs += "eq"s + static_cast<char>(i + 1);
  }
  // A tuple takes the rest of the stack, so that only the size is wrong.
  expect_refused("(" + laughs + "t.", "more than 67108864 values");

  // One long text, with many references to it.
  std::string texts = "(T" + raw<int32_t>({100'000}) + std::string(100'000, 'x') + "q"s + '\0';
  for (int i = 0; i < 100; ++i) texts += "h"s + '\0';
  PickleOptions options;
  options.max_values = 100'000;
  expect_refused(texts + "t.", "more than 100000 values", options);
  options.max_values = 200'000;
  EXPECT_EQ(parse(kStart + texts + "t.", options)->as<PickleTuple>()->items.size(), 101u);
}

TEST(Pickle, LimitsStackMemoAndValues) {
  PickleOptions options;
  options.max_values = 1000;
  for (const char* opcode : {"N", "]", "(", ")"}) {
    std::string many;
    for (int i = 0; i < 2000; ++i) many += opcode;
    expect_refused(many, "more than 1000 values", options);
  }
  std::string memo = "N";
  for (int i = 0; i < 2000; ++i) memo += "r" + raw<int32_t>({i});
  expect_refused(memo + ".", "more than 1000 values", options);
  std::string thrown_away = "}";  // each list replaces the one before
  for (int i = 0; i < 2000; ++i) thrown_away += "]q"s + '\0';
  expect_refused(thrown_away, "more than 1000 values", options);
  options.max_bytes = 10;
  expect_refused(std::string(9, 'N'), "has 11 bytes, at most 10", options);
}

TEST(Pickle, NamesFileAndByte) {
  expect_refused("NN\xff", "a.pkl, byte 4 of the pickle: opcode 255");
}

const std::string kSample =  // {"a": [1, 2.5, None], 300: ("x", OrderedDict())} with memo
    "\x80\x02}q"s + '\0' + "(X\1\0\0\0aq\1]q\2(K\1G\x40\4\0\0\0\0\0\0NeM\x2c\1X\1\0\0\0x"s +
    "ccollections\nOrderedDict\nq\3)Rq\4\x86q\5u.";

TEST(Pickle, RefusesEveryBeginning) {
  EXPECT_EQ(parse(kSample)->as<PickleDict>()->items.size(), 2u);
  expect_no_beginning(kSample,
                      [](Bytes bytes) { parse_pickle(bytes, {.accept = accept_some}, "a.pkl"); });
}

TEST(Pickle, SurvivesEveryFlippedByte) {
  EXPECT_GT(
      flip_each_byte(kSample, 0, kSample.size(),
                     [](Bytes bytes) { parse_pickle(bytes, {.accept = accept_some}, "a.pkl"); }),
      100);
}

TEST(Pickle, ReadsPlanetoidFiles) {
  GNNMG_NEEDS_DATA("cora/planetoid/ind.cora.graph");
  const auto read = [](const char* part) {
    const std::string path = data_path("cora/planetoid/ind.cora."s + part);
    PickleOptions options;
    options.accept = [](std::string_view module, std::string_view name) {
      return (module == "scipy.sparse.csr" && name == "csr_matrix") ||
             (module == "numpy.core.multiarray" && name == "_reconstruct") ||
             (module == "numpy" && (name == "ndarray" || name == "dtype")) ||
             (module == "collections" && name == "defaultdict") ||
             (module == "__builtin__" && name == "list");
    };
    static std::deque<std::vector<uint8_t>> kept;
    return parse_pickle(kept.emplace_back(base::read_file(path, 1 << 20)), options, path);
  };
  const PickleRef graph = read("graph");
  const auto* dict = graph->as<PickleObject>();
  ASSERT_NE(dict, nullptr);
  EXPECT_TRUE(dict->is("collections", "defaultdict"));
  ASSERT_EQ(dict->items.items.size(), 2708u);
  EXPECT_EQ(*dict->items.items[1].first->as<int64_t>(), 1);
  EXPECT_EQ(*dict->items.items[1].second->as<PickleList>()->items[2]->as<int64_t>(), 654);
  for (const char* part : {"x", "tx", "allx"}) {
    const PickleRef matrix = read(part);
    ASSERT_NE(matrix->as<PickleObject>(), nullptr);
    EXPECT_TRUE(matrix->as<PickleObject>()->is("scipy.sparse.csr", "csr_matrix"));
    EXPECT_EQ(matrix->as<PickleObject>()->state->as<PickleDict>()->items.size(), 7u);
  }
  for (const char* part : {"y", "ty", "ally"}) {
    const PickleRef array = read(part);
    EXPECT_TRUE(array->as<PickleObject>()->is("numpy.core.multiarray", "_reconstruct"));
  }
}

}  // namespace
}  // namespace gnnmg::test
