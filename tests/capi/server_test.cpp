// Servers of parts from outside: made, started, queried, ended, and refused if they would be open
// to others. tests/server tests their answers.
#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "support.h"
#include "support/temp_dir.h"

namespace gnnmg::test {
namespace {

bool listens(int32_t port) {
  const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  const bool connected =
      connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
  close(fd);
  return connected;
}

class ServerTest : public testing::Test {
 protected:
  ServerTest() {
    PartsConfig config;
    config.num_parts = 3;
    EXPECT_OK(gnnmg_dataset_save_parts(world_.dataset, folder_.c_str(), nullptr, 0, &config,
                                       "fanouts=none", -1));
  }
  gnnmg_status create(Server& server, const char* address = "127.0.0.1:0",
                      const char* token_file = nullptr, std::vector<int32_t> parts = {},
                      const ServerConfig* config = nullptr) {
    return gnnmg_server_create(
        world_.context, folder_.c_str(), parts.empty() ? nullptr : parts.data(),
        static_cast<int64_t>(parts.size()), address, token_file, config, server.out(), -1);
  }
  gnnmg_server_info info_of(const Server& server) {
    auto facts = info<gnnmg_server_info>();
    EXPECT_OK(gnnmg_server_get_info(server, &facts));
    return facts;
  }
  World world_{200};
  TempDir dir_;
  const std::string folder_ = dir_.file("parts");
};

TEST_F(ServerTest, ListensFromStartToShutdown) {
  Server server;
  ASSERT_OK(create(server, "127.0.0.1:0", nullptr, {2, 0}));
  gnnmg_server_info facts = info_of(server);
  EXPECT_EQ(facts.num_parts, 3);
  EXPECT_EQ(facts.num_served, 2);
  EXPECT_EQ(facts.port, 0);
  ASSERT_OK(gnnmg_server_start(server));
  facts = info_of(server);
  EXPECT_GT(facts.port, 0);
  EXPECT_EQ(facts.num_reads, 0);
  EXPECT_TRUE(listens(facts.port));
  EXPECT_FAILS(gnnmg_server_start(server), GNNMG_ERR_BUSY, "started already");
  EXPECT_FAILS(gnnmg_server_set_tls(server, "a", "b", "c"), GNNMG_ERR_BUSY, "set TLS before");
  ASSERT_OK(gnnmg_server_shutdown(server, -1));
  EXPECT_FALSE(listens(facts.port));
  EXPECT_FAILS(gnnmg_server_start(server), GNNMG_ERR_BUSY, "make another one");
  ASSERT_OK(gnnmg_server_shutdown(server, -1));
}

TEST_F(ServerTest, FreedWithoutAShutdownItEnds) {
  Server server;
  ASSERT_OK(create(server));
  ASSERT_OK(gnnmg_server_start(server));
  const int32_t port = info_of(server).port;
  server.reset();
  for (int i = 0; i < 2000 && listens(port); ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  EXPECT_FALSE(listens(port));
}

TEST_F(ServerTest, TwoCannotHaveOneAddress) {
  Server first, second;
  ASSERT_OK(create(first));
  ASSERT_OK(gnnmg_server_start(first));
  const std::string address = "127.0.0.1:" + std::to_string(info_of(first).port);
  ASSERT_OK(create(second, address.c_str()));
  EXPECT_FAILS(gnnmg_server_start(second), GNNMG_ERR_UNAVAILABLE, address);
}

TEST_F(ServerTest, OthersThanThisMachineNeedATokenAndTls) {
  const std::string token = dir_.write("token", std::string(40, 't'));
  Server server;
  ASSERT_OK(create(server, "0.0.0.0:0"));
  EXPECT_FAILS(gnnmg_server_start(server), GNNMG_ERR_INVALID_ARGUMENT, "a token file is needed");
  ASSERT_OK(create(server, "0.0.0.0:0", token.c_str()));
  EXPECT_FAILS(gnnmg_server_start(server), GNNMG_ERR_INVALID_ARGUMENT, "certificates for TLS");
  ASSERT_OK(gnnmg_server_set_tls(server, token.c_str(), token.c_str(), folder_.c_str()));
  chmod(token.c_str(), 0644);
  EXPECT_FAILS(gnnmg_server_start(server), GNNMG_ERR_AUTH, "expected mode 0600");
  chmod(token.c_str(), 0600);
  EXPECT_FAILS(gnnmg_server_start(server), GNNMG_ERR_FORMAT, token.c_str());
  const std::string pem = dir_.write("pem", "-----BEGIN CERTIFICATE-----"),
                    none = dir_.file("none");
  ASSERT_OK(gnnmg_server_set_tls(server, pem.c_str(), pem.c_str(), folder_.c_str()));
  EXPECT_FAILS(gnnmg_server_start(server), GNNMG_ERR_IO, folder_.c_str());
  ASSERT_OK(gnnmg_server_set_tls(server, pem.c_str(), pem.c_str(), none.c_str()));
  EXPECT_FAILS(gnnmg_server_start(server), GNNMG_ERR_NOT_FOUND, none.c_str());
  ServerConfig config;
  config.insecure = 2;
  EXPECT_FAILS(create(server, "127.0.0.1:0", nullptr, {}, &config), GNNMG_ERR_INVALID_ARGUMENT,
               "insecure");
}

TEST_F(ServerTest, WhatCannotBeServed) {
  Server server;
  EXPECT_FAILS(create(server, "127.0.0.1:0", nullptr, {3}), GNNMG_ERR_NOT_FOUND, "expected 0 to 2");
  EXPECT_FAILS(create(server, "127.0.0.1:0", nullptr, {1, 1}), GNNMG_ERR_INVALID_ARGUMENT, "twice");
  EXPECT_FAILS(create(server, "graph-1"), GNNMG_ERR_INVALID_ARGUMENT, "a host and a port");
  const auto of = [&](const std::string& folder) {
    return gnnmg_server_create(world_.context, folder.c_str(), nullptr, 0, "127.0.0.1:0", nullptr,
                               nullptr, server.out(), -1);
  };
  EXPECT_FAILS(of(dir_.path()), GNNMG_ERR_NOT_FOUND, "they lie in");
  const std::string none = dir_.file("none");
  EXPECT_FAILS(of(none), GNNMG_ERR_NOT_FOUND, (none + ": no such folder").c_str());
}

TEST_F(ServerTest, CreatedInManyCalls) {
  Server server;
  gnnmg_status status = GNNMG_PENDING;
  for (int i = 0; i < 10'000 && status == GNNMG_PENDING; ++i)
    status = gnnmg_server_create(world_.context, folder_.c_str(), nullptr, 0, "127.0.0.1:0",
                                 nullptr, nullptr, server.out(), 1);
  ASSERT_OK(status);
  EXPECT_EQ(info_of(server).num_served, 3);
}

}  // namespace
}  // namespace gnnmg::test
