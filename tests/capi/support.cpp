#include "capi/support.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

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

std::vector<int64_t> shape_of(const DLManagedTensorVersioned* tensor) {
  auto facts = info<gnnmg_tensor_info>();
  EXPECT_OK(gnnmg_tensor_get_info(tensor, &facts));
  return {facts.shape, facts.shape + facts.num_dims};
}

std::vector<double> weights_of(const gnnmg_model* model) {
  Tensor tensor;
  EXPECT_OK(gnnmg_model_export_parameters(model, tensor.out()));
  return values<double>(tensor);
}

World::World(int64_t num_nodes, int32_t threads) {
  auto config = init(gnnmg_context_config_init);
  config.num_threads = threads;
  EXPECT_OK(gnnmg_context_create(GNNMG_VERSION, &config, context.out()));
  auto planted = init(gnnmg_planted_partition_config_init);
  planted.num_nodes = num_nodes;
  planted.num_classes = 3;
  planted.num_features = 8;
  planted.mean_degree = 6;
  EXPECT_OK(gnnmg_graph_create_planted_partition(context, &planted, graph.out()));
  EXPECT_OK(gnnmg_dataset_create(graph, "x", "y", GNNMG_TASK_MULTICLASS, 3, dataset.out()));
  EXPECT_OK(gnnmg_dataset_add_random_split(dataset, "random", nullptr));
  sampling.fanouts[0] = 4;
  sampling.fanouts[1] = 3;
  layers.hidden_dim = 8;
  training.num_epochs = 2;
  training.batch_size = 32;
  plan.batch_size = 32;
}

Sampler World::make_sampler() {
  Sampler sampler;
  EXPECT_OK(gnnmg_sampler_create(graph, &sampling, sampler.out()));
  return sampler;
}

Model World::make_model() {
  Model model;
  EXPECT_OK(gnnmg_model_create(context, dataset, &layers, model.out()));
  return model;
}

Loader World::make_loader(const gnnmg_sampler* sampler) {
  Loader loader;
  EXPECT_OK(gnnmg_loader_create(dataset, sampler, &plan, loader.out()));
  return loader;
}

Trainer World::make_trainer(gnnmg_model* model, const gnnmg_sampler* sampler) {
  Trainer trainer;
  EXPECT_OK(gnnmg_trainer_create(model, dataset, sampler, nullptr, &training, trainer.out()));
  return trainer;
}

std::vector<float> weights(const gnnmg_model* model) {
  Tensor flat;
  EXPECT_OK(gnnmg_model_export_parameters(model, flat.out()));
  return values<float>(flat);
}

}  // namespace gnnmg::test
