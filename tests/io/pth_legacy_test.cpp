// Files of torch.save() in the layout of PyTorch before 1.6, and plain pickles.
#include <gtest/gtest.h>

#include "io/bytes.h"
#include "io/damage.h"
#include "io/files.h"
#include "io/pth_file.h"
#include "io/state_file.h"
#include "support/temp_dir.h"

namespace gnnmg::test {
namespace {

using namespace std::string_literals;
using base::Status;
using io::as_bytes;
using io::StateFile;

const std::string kMagic = "\x80\x02\x8a\x0a\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19."s;

std::string short_text(const std::string& text) {
  return "X" + raw<uint32_t>({static_cast<uint32_t>(text.size())}) + text;
}
std::string small(int value) { return "K" + std::string(1, static_cast<char>(value)); }

// A storage of six floats with this key, as the pickle refers to it.
std::string storage(const std::string& key, const std::string& end = "Nt",
                    const std::string& type = "FloatStorage") {
  return "(" + short_text("storage") + "ctorch\n" + type + "\n" + short_text(key) +
         short_text("cpu") + small(6) + end + "Q";
}
// The elements of a storage as a tensor [2, 3].
std::string matrix(const std::string& of) {
  return "ctorch._utils\n_rebuild_tensor_v2\n(" + of + small(0) + small(2) + small(3) + "\x86" +
         small(3) + small(1) + "\x86\x89" + "ccollections\nOrderedDict\n)RtR";
}

struct Parts {
  std::string magic = kMagic, version = "\x80\x02M\xe9\x03.",
              machine = "\x80\x02}" + short_text("little_endian") + "\x88s.",
              object = "\x80\x02}" + short_text("w") + matrix(storage("7")) + "s.",
              keys = "\x80\x02]" + short_text("7") + "a.",
              storages = raw<int64_t>({6}) + raw<float>({1, 2, 3, 4, 5, 6});
  std::string all() const { return magic + version + machine + object + keys + storages; }
};

StateFile parse_legacy(const std::string& bytes, std::string_view path = "") {
  return io::parse_pth(as_bytes(bytes), "old.pt", path);
}

std::vector<float> floats_of(const StateFile& state, const char* name = "w") {
  const auto span = state.find(name)->as<const float>();
  return {span.begin(), span.end()};
}

TEST(LegacyPth, ReadsTensors) {
  const std::vector<float> expected{1, 2, 3, 4, 5, 6};
  EXPECT_EQ(floats_of(parse_legacy(Parts().all())), expected);
  const TempDir folder;
  folder.write("old.pt", Parts().all());
  EXPECT_EQ(floats_of(io::read_pth(folder.file("old.pt"))), expected) << "from a file";
  EXPECT_EQ(io::state_format(folder.file("old.pt")), io::StateFormat::kPth);
  Parts parts;
  parts.magic = "L119547037146038801333356L\n.";
  parts.version = "M\xe9\x03.";
  EXPECT_EQ(floats_of(parse_legacy(parts.all())), expected) << "protocol 1";
  parts = {};
  parts.magic = "\x80\x04\x95\x0d\0\0\0\0\0\0\0"s + kMagic.substr(2);
  EXPECT_EQ(floats_of(parse_legacy(parts.all())), expected) << "protocol 4";
  parts = {};
  parts.object = "\x80\x02}" + short_text("w") + "ctorch._utils\n_rebuild_tensor\n(" +
                 storage("7", "t") + small(0) + small(2) + small(3) + "\x86" + small(3) + small(1) +
                 "\x86tRs.";
  EXPECT_EQ(floats_of(parse_legacy(parts.all())), expected) << "before 0.4";
  parts = {};
  parts.object = "\x80\x02}(" + short_text("w") + matrix(storage("7")) + short_text("b") +
                 matrix(storage("8")) + short_text("same") + matrix(storage("7")) + "u.";
  parts.keys = "\x80\x02](" + short_text("7") + short_text("8") + "e.";
  parts.storages += raw<int64_t>({6}) + raw<float>({9, 8, 7, 6, 5, 4});
  const StateFile two = parse_legacy(parts.all());
  EXPECT_EQ(floats_of(two, "b"), (std::vector<float>{9, 8, 7, 6, 5, 4}));
  EXPECT_EQ(two.find("same")->data(), two.find("w")->data()) << "one storage";
}

TEST(LegacyPth, RefusesWhatIsWrong) {
  const auto refused = [](std::string_view part, const std::function<void(Parts&)>& change,
                          Status status = Status::kFormat) {
    Parts parts;
    change(parts);
    expect_error(status, part, [&] { parse_legacy(parts.all()); });
  };
  refused("version 1000", [](Parts& p) { p.version = "\x80\x02M\xe8\x03."; }, Status::kVersion);
  refused("version is no number", [](Parts& p) { p.version = "N."; });
  refused("says nothing about the machine", [](Parts& p) { p.machine = "N."; });
  refused(
      "byte order \"big\"",
      [](Parts& p) { p.machine = "}" + short_text("little_endian") + "\x89s."; },
      Status::kUnsupported);
  refused("no list of its storages", [](Parts& p) { p.keys = "N."; });
  refused("a storage \"8\" of no known type",
          [](Parts& p) { p.keys = "]" + short_text("8") + "a."; });
  refused("has no storage \"7\"", [](Parts& p) { p.keys = "].", p.storages = ""; });
  refused("28 surplus bytes", [](Parts& p) { p.storages += std::string(28, 'x'); });
  refused("6 elements, but the file is cut", [](Parts& p) { p.storages.pop_back(); });
  refused("a storage of -1 elements", [](Parts& p) { p.storages.replace(0, 8, 8, '\xff'); });
  refused("the file 5 of FloatStorage",
          [](Parts& p) { p.storages = raw<int64_t>({5}) + raw<float>({1, 2, 3, 4, 5}); });
  refused("the storage \"7\" has 6 elements, but the file is cut", [](Parts& p) {
    p.object = "}" + short_text("w") + matrix(storage("7", "Nt", "ComplexFloatStorage")) + "s.";
  });
  refused("its storage is no known one but a torch.ComplexFloatStorage", [](Parts& p) {
    p.object = "}" + short_text("w") + matrix(storage("7", "Nt", "ComplexFloatStorage")) + "s.";
    p.storages += std::string(24, 'x');
  });
  refused("a storage \"7\" of no known type", [](Parts& p) {
    p.object = "}" + short_text("w") + matrix(storage("7", "Nt", "OddStorage")) + "s.";
  });
  refused("a part of another one", [](Parts& p) {
    p.object = "}" + short_text("w") + matrix(storage("7", small(1) + "\x85t")) + "s.";
  });
  refused("names os.system", [](Parts& p) { p.machine = "cos\nsystem\n."; });
  refused("holds an os.system, expected a dict of tensors",
          [](Parts& p) { p.object = "cos\nsystem\n.", p.keys = "].", p.storages = ""; });
}

// A checkpoint's other objects are opaque, although the file has their storages.
TEST(LegacyPth, WhatIsBesideTheTensorsIsOpaque) {
  Parts parts;
  const std::string net = "U\6module" + ("cnets\nNet\n" + short_text("net.py")) + "U\4text" + "tQ";
  parts.object = "\x80\x02}(" + short_text("args") + "cargparse\nNamespace\n)\x81}" +
                 short_text("scale") + storage("8", "Nt", "ComplexFloatStorage") + "sb" +
                 short_text("net") + "(" + net + ")R" + short_text("model") + "}" +
                 short_text("w") + matrix(storage("7")) + "su.";
  parts.keys = "\x80\x02](" + short_text("7") + short_text("8") + "e.";
  parts.storages += raw<int64_t>({6}) + std::string(48, '\1');
  for (const char* path : {"", "model"})
    EXPECT_EQ(floats_of(parse_legacy(parts.all(), path)), (std::vector<float>{1, 2, 3, 4, 5, 6}));
}

TEST(LegacyPth, EveryBeginningIsAnError) {
  const std::string whole = Parts().all();
  for (size_t size = 0; size < whole.size(); ++size)
    expect_error(Status::kFormat, "old.pt", [&] { parse_legacy(whole.substr(0, size)); });
}

// pickle.dump() of a dict in place of torch.save().
TEST(LegacyPth, PicklesAlone) {
  expect_error(Status::kFormat, "holds no dict of tensors",
               [] { parse_legacy("\x80\x02}" + short_text("epoch") + "K\3s."); });
  expect_error(Status::kFormat, "holds a list", [] { parse_legacy("(lp0\n."); });
  expect_error(Status::kFormat, "surplus bytes", [] { parse_legacy("\x80\x02}.}."); });
  expect_error(Status::kFormat, "holds a numpy.dtype, expected a dict of tensors", [] {
    parse_legacy(
        "\x80\x02"
        "cnumpy\ndtype\n.");
  });
  const std::string bytes = "ctorch.storage\n_load_from_bytes\nU\1x\x85R";
  expect_error(Status::kFormat, "write the state dict with torch.save()",
               [&] { parse_legacy("\x80\x02}" + short_text("w") + matrix(bytes) + "s."); });
}

}  // namespace
}  // namespace gnnmg::test
