#include "capi/support.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <sstream>

namespace gnnmg::test {

int32_t free_port() {
  const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  EXPECT_EQ(bind(fd, reinterpret_cast<sockaddr*>(&address), size), 0);
  EXPECT_EQ(getsockname(fd, reinterpret_cast<sockaddr*>(&address), &size), 0);
  close(fd);
  return ntohs(address.sin_port);
}

std::vector<int64_t> shape_of(const gnnmg_tensor* tensor) {
  auto facts = info<gnnmg_tensor_info>();
  EXPECT_OK(gnnmg_tensor_get_info(tensor, &facts));
  return {facts.shape, facts.shape + facts.num_dims};
}

std::vector<double> weights_of(const gnnmg_model* model) {
  Tensor tensor;
  EXPECT_OK(gnnmg_model_export_parameters(model, tensor.out()));
  return values<double>(tensor);
}

std::string with_words(const std::string& text, const std::string& words) {
  std::string result = text;
  std::istringstream in(words);
  for (std::string word; in >> word;) {
    const std::string name = word.substr(0, word.find('=') + 1);
    std::istringstream before(result);
    std::string others;
    for (std::string other; before >> other;)
      if (!other.starts_with(name)) others += other + " ";
    result = others + word;
  }
  return result;
}

World::World(int64_t num_nodes, int32_t threads) {
  ContextConfig config;
  config.num_threads = threads;
  EXPECT_OK(gnnmg_context_create(GNNMG_VERSION, &config, context.out()));
  const std::string planted = "num_classes=3 num_features=8 mean_degree=6 num_nodes=";
  EXPECT_OK(gnnmg_graph_generate(context, "planted", (planted + std::to_string(num_nodes)).c_str(),
                                 graph.out()));
  EXPECT_OK(gnnmg_dataset_create(graph, "x", "y", GNNMG_TASK_MULTICLASS, 3, dataset.out()));
  EXPECT_OK(gnnmg_dataset_add_random_split(dataset, "random", nullptr));
  sampling.num_fanouts = 2;
  sampling.fanouts[0] = 4;
  sampling.fanouts[1] = 3;
  layers.hidden_dim = 8;
  training.num_epochs = 2;
  training.batch_size = 32;
  plan.batch_size = 32;
}

Sampler World::make_sampler() {
  Sampler sampler;
  EXPECT_OK(gnnmg_sampler_create(graph, &sampling, sampling.text(), sampler.out()));
  return sampler;
}

Model World::make_model() {
  Model model;
  EXPECT_OK(gnnmg_model_create(context, dataset, &layers, layers.text(), model.out()));
  return model;
}

Loader World::make_loader(const gnnmg_sampler* sampler) {
  Loader loader;
  EXPECT_OK(gnnmg_loader_create(dataset, sampler, &plan, plan.text(), loader.out()));
  return loader;
}

Trainer World::make_trainer(gnnmg_model* model, const gnnmg_sampler* sampler) {
  Trainer trainer;
  EXPECT_OK(gnnmg_trainer_create(model, dataset, sampler, nullptr, &training, training.text(),
                                 trainer.out()));
  return trainer;
}

std::vector<float> weights(const gnnmg_model* model) {
  Tensor flat;
  EXPECT_OK(gnnmg_model_export_parameters(model, flat.out()));
  return values<float>(flat);
}

}  // namespace gnnmg::test
