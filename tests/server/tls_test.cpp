// Certificates of servers and clients: right ones, and each wrong one that is named at once, by the
// end that can tell.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "comm/children.h"
#include "server/certificates.h"
#include "server/server_process.h"

namespace gnnmg {
namespace {

using base::Status;
using test::Child;
using test::ServerProcess;
using testing::AllOf;
using testing::HasSubstr;
using testing::Pair;
using testing::StartsWith;

class Tls : public testing::Test {
 protected:
  // The error of meeting the server, for which there is a second: enough for an answer.
  std::pair<Status, std::string> failure(const std::string& address, const dist::TlsFiles& tls) {
    dist::PeersConfig config;
    config.tls = tls;
    try {
      dist::Peers::meet(test::engine(), address, config, log_, base::Deadline::after_ms(1'000), {});
    } catch (const base::Error& error) {
      return {error.status(), error.what()};
    }
    return {Status::kOk, ""};
  }

  const test::ServedGraph served_{1};
  const test::TempDir elsewhere_;
  const test::Certificates certificates_{served_.dir}, foreign_{elsewhere_};
  base::Log log_;
};

TEST_F(Tls, BothEndsHaveCertificates) {
  const ServerProcess server(served_.folder(), certificates_.options());
  dist::PeersConfig config;
  config.tls = certificates_.of("client");
  test::expect_same_batch(served_, served_.over(test::meet(server.address(), config)), 1);
  EXPECT_EQ(server.errors(), "");
}

TEST_F(Tls, AClientSaysAtOnceWhyItDoesNotAcceptAServer) {
  const ServerProcess server(served_.folder(), certificates_.options()),
      plain(served_.folder(), {});
  dist::TlsFiles files = certificates_.of("client");
  EXPECT_THAT(failure(plain.address(), files),
              Pair(Status::kProtocol,
                   AllOf(StartsWith(plain.address()), HasSubstr("it does not use TLS"))));
  const std::string by_name = base::text("localhost:", server.port());
  EXPECT_THAT(failure(by_name, files),
              Pair(Status::kAuth, AllOf(HasSubstr(by_name), HasSubstr("its certificate is not "),
                                        HasSubstr("expected one for the name localhost"))));
  files.authority = foreign_.of("client").authority;
  EXPECT_THAT(failure(server.address(), files),
              Pair(Status::kAuth,
                   AllOf(StartsWith(server.address()), HasSubstr("its certificate is not accepted"),
                         HasSubstr(files.authority))));
  EXPECT_EQ(server.errors(), "") << "what gRPC says of handshakes that fail";
}

// A server closes the connection without a word; a proxy does the same while its server starts.
TEST_F(Tls, AClientThatAServerDoesNotAcceptNamesItsCertificateInTheLog) {
  const ServerProcess server(served_.folder(), certificates_.options());
  const dist::TlsFiles foreign = foreign_.of("client");
  const std::string text = "it may not accept the certificate " + foreign.certificate;
  EXPECT_THAT(failure(server.address(),
                      {foreign.certificate, foreign.key, certificates_.of("client").authority}),
              Pair(Status::kTimeout, HasSubstr(text)));
  const auto record = log_.next();
  ASSERT_TRUE(record);
  EXPECT_THAT(record->text,
              AllOf(StartsWith("waiting for the server " + server.address()), HasSubstr(text)));
  EXPECT_FALSE(log_.next());
  EXPECT_THAT(failure(server.address(), {}),
              Pair(Status::kTimeout, HasSubstr("it may use TLS and expect a certificate")));
  EXPECT_EQ(server.errors(), "");
}

TEST_F(Tls, BothEndsNameTheFileThatIsWrong) {
  certificates_.make_expired("old");
  const ServerProcess server(served_.folder(), certificates_.options());
  const dist::TlsFiles good = certificates_.of("client");
  const std::string none = served_.dir.file("none"), junk = served_.dir.write("junk", "junk"),
                    hollow = served_.dir.write("hollow", "-----BEGIN CERTIFICATE-----\n");
  struct Case {
    dist::TlsFiles files;
    Status status;
    std::string text;
  };
  const Case cases[] = {
      {certificates_.of("old"), Status::kAuth, "old.pem: the certificate has expired, on "},
      {{good.certificate, foreign_.of("client").key, good.authority},
       Status::kAuth,
       "client.key: not the key of the certificate " + good.certificate},
      {{good.certificate, "", good.authority}, Status::kInvalidArgument, "three files"},
      {{good.certificate, good.key, none}, Status::kNotFound, none},
      {{good.certificate, good.key, junk}, Status::kFormat, junk + ": no PEM file"},
      {{good.certificate, good.key, hollow}, Status::kFormat, hollow + ": no certificate in it"},
      {{hollow, good.key, good.authority}, Status::kFormat, hollow + ": no certificate in it"},
      {{good.certificate, hollow, good.authority}, Status::kFormat, hollow + ": no private key"},
  };
  for (const Case& c : cases) {
    EXPECT_THAT(failure(server.address(), c.files), Pair(c.status, HasSubstr(c.text)));
    ServerProcess wrong(served_.folder(), {"--tls-cert", c.files.certificate, "--tls-key",
                                           c.files.key, "--tls-ca", c.files.authority});
    EXPECT_THAT(wrong.join(), testing::AnyOf(1, 2));
    EXPECT_THAT(wrong.errors(), HasSubstr(c.text));
  }
}

// A probe has certificates and no token.
TEST_F(Tls, TheHealthServiceAnswersProbes) {
  const ServerProcess server(served_.folder(), certificates_.options());
  const dist::TlsFiles files = certificates_.of("client");
  const std::string question = served_.dir.write("question", std::string(5, '\0')),
                    answer = served_.dir.file("answer");
  const auto ask = [&](const std::vector<std::string>& words) {
    std::vector<std::string> all = {"--silent",
                                    "--http2",
                                    "--data-binary",
                                    "@" + question,
                                    "--output",
                                    answer,
                                    "--max-time",
                                    "10",
                                    "--header",
                                    "te: trailers",
                                    "--header",
                                    "content-type: application/grpc",
                                    "https://" + server.address() + "/grpc.health.v1.Health/Check"};
    all.insert(all.end(), words.begin(), words.end());
    return Child("curl", all).wait_end(20'000);
  };
  EXPECT_EQ(ask({"--cert", files.certificate, "--key", files.key, "--cacert", files.authority}), 0);
  EXPECT_EQ(test::slurp(answer), std::string("\0\0\0\0\2\x08\1", 7)) << "field 1, SERVING";
  EXPECT_NE(ask({"--cacert", files.authority}), 0) << "without a certificate";
}

// Certificates whose last day ends while a program runs, as openssl has them at the other end.
TEST_F(Tls, ExpiredCertificatesAreRefusedByBothEnds) {
  certificates_.make_expired("old");
  const auto openssl = [&](const char* end, std::vector<std::string> words) {
    const dist::TlsFiles files = certificates_.of(end);
    for (const std::string& word : {std::string("-cert"), files.certificate, std::string("-key"),
                                    files.key, std::string("-CAfile"), files.authority})
      words.push_back(word);
    return std::make_unique<Child>("openssl", words);
  };
  // A handshake of TLS 1.2 ends once the server has seen the client's certificate.
  const ServerProcess server(served_.folder(), certificates_.options());
  for (const bool good : {true, false}) {
    const auto client = openssl(good ? "client" : "old", {"s_client", "-tls1_2", "-alpn", "h2",
                                                          "-connect", server.address()});
    client->wait_end(10'000);
    EXPECT_EQ(client->all().find("unexpected eof") == std::string::npos, good) << client->all();
  }
  EXPECT_EQ(server.errors(), "");

  const auto expired = openssl("old", {"s_server", "-www", "-accept", "127.0.0.1:0"});
  const std::string line = expired->wait_for("ACCEPT ", 10'000);
  ASSERT_NE(line, "") << expired->all();
  EXPECT_THAT(failure("127.0.0.1" + line.substr(line.rfind(':')), certificates_.of("client")),
              Pair(Status::kAuth, HasSubstr("its certificate is not accepted: expected a valid")));
}

}  // namespace
}  // namespace gnnmg
