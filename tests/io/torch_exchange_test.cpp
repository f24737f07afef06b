// State dicts to PyTorch and back: torch_exchange.py is the other side.
#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>

#include "base/file.h"
#include "io/damage.h"
#include "io/npy.h"
#include "io/state_file.h"
#include "support/data.h"
#include "support/temp_dir.h"

namespace gnnmg::test {
namespace {

using base::DType;
using base::Shape;
using base::Status;
using base::Tensor;
using io::StateFile;

StateFile sample_state() {
  StateFile state;
  state.metadata = {{"format", "pt"}, {"by", "test"}};
  for (const DType dtype : {DType::kI64, DType::kF32, DType::kF64, DType::kF16, DType::kBF16,
                            DType::kI32, DType::kU8, DType::kBool})
    for (const Shape& shape :
         {Shape(), Shape({0, 4}), Shape({7}), Shape({2, 300}), Shape({2, 1, 3, 2})}) {
      Tensor tensor = Tensor::empty(dtype, shape);
      // Bytes below 0x7c keep every float finite.
      for (int64_t i = 0; i < tensor.view().num_bytes(); ++i)
        static_cast<uint8_t*>(tensor.data())[i] =
            static_cast<uint8_t>(dtype == DType::kBool ? i % 2 : i * 31 % 0x7c);
      state.tensors.emplace_back(
          base::text(base::dtype_name(dtype), shape.to_string(), ".w\xc3\xa9ight"), tensor);
    }
  return state;
}

void expect_same(const StateFile& expected, const StateFile& found, bool ordered) {
  ASSERT_EQ(found.tensors.size(), expected.tensors.size());
  for (size_t i = 0; i < expected.tensors.size(); ++i) {
    const auto& [name, tensor] = expected.tensors[i];
    if (ordered) {
      EXPECT_EQ(found.tensors[i].first, name);
    }
    const Tensor* other = found.find(name);
    ASSERT_NE(other, nullptr) << name;
    EXPECT_EQ(other->dtype(), tensor.dtype()) << name;
    ASSERT_EQ(other->shape(), tensor.shape()) << name;
    EXPECT_EQ(std::memcmp(other->data(), tensor.data(), tensor.view().num_bytes()), 0) << name;
  }
}

TEST(TorchExchange, LoadsThereAndBack) {
  const std::string python = python_path();
  GNNMG_NEEDS(std::system(("'" + python + "' -c 'import numpy, torch' 2>/dev/null").c_str()) == 0,
              python + " with torch and NumPy (GNNMG_TEST_PYTHON names another Python)");
  const TempDir folder;
  const StateFile state = sample_state();
  io::write_pth(folder.file("ours.pth"), state);
  io::write_safetensors(folder.file("ours.safetensors"), state);
  std::string names;
  for (size_t i = 0; i < state.tensors.size(); ++i) {
    names += state.tensors[i].first + "\n";
    io::write_npy(folder.file(std::to_string(i) + ".npy"), state.tensors[i].second.view());
  }
  folder.write("names.txt", names);
  const std::string command = base::text("'", python, "' '", source_path("io/torch_exchange.py"),
                                         "' '", folder.path(), "'");
  ASSERT_EQ(std::system(command.c_str()), 0) << command;

  expect_same(state, io::read_pth(folder.file("theirs.pth")), true);
  for (const char* path : {"module", "model.module"})  // every key begins with "module."
    expect_same(state, io::read_pth(folder.file("nested.pth"), path), true);
  expect_same(state, io::read_safetensors(folder.file("by_hand.safetensors")), false);
  if (base::exists(folder.file("theirs.safetensors")))
    expect_same(state, io::read_safetensors(folder.file("theirs.safetensors")), false);

  const StateFile views = io::read_pth(folder.file("views.pth"));
  ASSERT_EQ(views.tensors.size(), 6u);
  const auto values = [&](const char* name) {
    const std::span<float> span = views.find(name)->as<float>();
    return std::vector<float>(span.begin(), span.end());
  };
  EXPECT_EQ(values("row"), (std::vector<float>{6, 7, 8, 9, 10, 11}));
  EXPECT_EQ(values("column"), (std::vector<float>{2, 8, 14, 20}));
  EXPECT_EQ(values("wide"), (std::vector<float>{0, 0, 0, 0, 0}));
  EXPECT_EQ(values("turned")[1], 6);
  EXPECT_EQ(views.find("turned")->shape(), Shape({6, 4}));
  EXPECT_EQ(views.find("parameter")->as<float>().data(),
            views.find("whole")->as<float>().data() + 12);

  const StateFile model = io::read_pth(folder.file("model.pth"));
  ASSERT_EQ(model.tensors.size(), 7u);
  EXPECT_EQ(model.tensors[6].first, "1.num_batches_tracked");
  EXPECT_EQ(model.tensors[6].second.shape(), Shape());
  const StateFile optimizer = io::read_pth(folder.file("optimizer.pth"), "state.0");
  EXPECT_EQ(optimizer.find("step")->as<float>()[0], 1);
  EXPECT_EQ(optimizer.find("exp_avg")->shape(), Shape({4, 3}));
  const StateFile many = io::read_pth(folder.file("many.pth"));
  ASSERT_EQ(many.tensors.size(), 1500u);
  EXPECT_EQ(many.tensors[1234].second.as<float>()[1], 1234);
  for (int protocol = 1; protocol <= 5; ++protocol) {  // PyTorch before 1.6
    const std::string legacy = folder.file("legacy" + std::to_string(protocol) + ".pth");
    expect_same(state, io::read_pth(legacy, "model"), true);
    const StateFile moments = io::read_pth(legacy, "optimizer.state.0");
    EXPECT_EQ(moments.find("exp_avg")->shape(), Shape({4, 3})) << protocol;
  }
  // All values that scripts keep beside a state and among its tensors.
  for (const char* name : {"beside.pth", "beside_old.pth"}) {
    SCOPED_TRACE(name);
    expect_same(state, io::read_pth(folder.file(name)), true);
    EXPECT_TRUE(io::read_pth(folder.file(name)).passed_over.empty());
  }
  for (const char* name : {"among.pth", "among_old.pth"}) {
    SCOPED_TRACE(name);
    const StateFile among = io::read_pth(folder.file(name));
    expect_same(state, among, true);
    EXPECT_EQ(among.passed_over.size(), 16u);
    EXPECT_EQ(among.passed_over.front(), "epoch (an int)");
  }
}

}  // namespace
}  // namespace gnnmg::test
