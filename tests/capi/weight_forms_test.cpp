// Weights that torch stores as the arguments of a function, from files of real torch:
// weight_forms.py is the other side.
#include <gmock/gmock.h>
#include <sys/wait.h>

#include <cmath>
#include <cstdlib>

#include "capi/support.h"
#include "support/data.h"
#include "support/temp_dir.h"

namespace gnnmg::test {
namespace {

using testing::HasSubstr;

class WeightForms : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_OK(gnnmg_context_create(GNNMG_VERSION, nullptr, context_.out()));
    const std::string command = "'" + python_path() + "' '" + source_path("capi/weight_forms.py") +
                                "' '" + folder_.path() + "'";
    const int status = std::system(command.c_str());
    GNNMG_NEEDS(!WIFEXITED(status) || WEXITSTATUS(status) != 77,
                python_path() + " with PyTorch Geometric");
    ASSERT_EQ(status, 0) << command;
  }
  std::string path(const std::string& name) { return folder_.file(name + ".pth"); }
  Model make(const std::string& kind, bool single) {
    Model model;
    const std::string settings =
        "input_dim=6 hidden_dim=8 output_dim=4 architecture=" + kind + (single ? "" : " dtype=f64");
    EXPECT_OK(gnnmg_model_create(context_, nullptr, nullptr, settings.c_str(), model.out()));
    return model;
  }
  // The largest difference between the tensors of two models.
  template <typename T>
  double distance(const gnnmg_model* a, const gnnmg_model* b) {
    double largest = 0;
    const char* key = nullptr;
    int32_t trained = 0;
    for (int64_t i = 0; gnnmg_model_tensor_key(a, i, &key, &trained) == GNNMG_OK; ++i) {
      Tensor of_a, of_b;
      EXPECT_OK(gnnmg_model_export_tensor(a, key, of_a.out()));
      EXPECT_OK(gnnmg_model_export_tensor(b, key, of_b.out()));
      const auto x = values<T>(of_a), y = values<T>(of_b);
      for (size_t j = 0; j < x.size(); ++j)
        largest = std::max(largest, static_cast<double>(std::abs(x[j] - y[j])));
    }
    return largest;
  }

  std::string logged() {
    auto facts = info<gnnmg_log_info>();
    char text[4000];
    size_t needed = 0;
    std::string all;
    while (gnnmg_log_next(context_, &facts, text, sizeof text, &needed) == GNNMG_OK) all += text;
    return all;
  }

  TempDir folder_;
  Context context_;
};

TEST_F(WeightForms, AreComputed) {
  for (const std::string kind : {"gin", "sage"})
    for (const std::string form : {"older", "older_columns", "older_whole", "registered",
                                   "registered_columns", "registered_whole", "pruned"})
      for (const bool single : {false, true}) {
        SCOPED_TRACE(kind + " " + form);
        const std::string name = kind + "_" + form + (single ? ".f32" : "");
        const Model model = make(kind, single), plain = make(kind, single);
        ASSERT_OK(gnnmg_model_load(model, path(name).c_str(), nullptr, -1));
        ASSERT_OK(gnnmg_model_load(plain, path(name + ".plain").c_str(), nullptr, -1));
        if (single)
          EXPECT_LE(distance<float>(model, plain), 1e-6);
        else
          EXPECT_LE(distance<double>(model, plain), 1e-14);
      }
  EXPECT_THAT(logged(), HasSubstr("as weight_norm and pruning store a weight: "
                                  "convs.0.nn.0.weight, convs.0.nn.2.weight"));
}

// PyG's linear layers write the weight itself too, whatever the function.
TEST_F(WeightForms, OtherFunctionsAreNamed) {
  const auto refused = [&](const char* name, const char* part) {
    EXPECT_FAILS(gnnmg_model_load(make("gin", false), path(name).c_str(), nullptr, -1),
                 GNNMG_ERR_FORMAT, part);
  };
  const std::string remove =
      ": call torch.nn.utils.parametrize.remove_parametrizations(module, name) before saving";
  const std::string stored = "convs.0.nn.0.weight is stored as the argument of ";
  refused("gin_spectral", (stored + "spectral_norm" + remove).c_str());
  refused("gin_orthogonal", (stored + "orthogonal" + remove).c_str());
  refused("gin_twice", (stored + "a function of Python" + remove).c_str());
  refused("gin_older_spectral",
          (stored + "spectral_norm: call torch.nn.utils.remove_spectral_norm(module)").c_str());
  for (const std::string form : {"spectral", "orthogonal", "twice"}) {
    const Model model = make("sage", false), plain = make("sage", false);
    EXPECT_OK(gnnmg_model_load(model, path("sage_" + form).c_str(), nullptr, -1));
    EXPECT_OK(gnnmg_model_load(plain, path("sage_" + form + ".plain").c_str(), nullptr, -1));
    EXPECT_EQ(distance<double>(model, plain), 0) << form;
  }
}

}  // namespace
}  // namespace gnnmg::test
