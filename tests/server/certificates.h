// Certificates for tests of TLS, made by openssl.
#pragma once

#include <gtest/gtest.h>
#include <sys/utsname.h>

#include <cstdlib>
#include <string>
#include <vector>

#include "base/error.h"
#include "dist/engine.h"
#include "support/temp_dir.h"

namespace gnnmg::test {

// A certificate authority, and certificates for both ends that it has signed.
struct Certificates {
  explicit Certificates(const test::TempDir& dir) : folder(dir.file("tls")) {
    utsname name{};
    uname(&name);
    run("mkdir " + folder);
    run(kMake + "-subj /CN=authority -keyout " + folder + "/ca.key -out " + folder + "/ca.pem");
    for (const char* end : {"server", "client"})
      make_for(end, base::text("DNS:graph-1,DNS:", name.nodename, ",IP:127.0.0.1"));
  }
  // One more, for these names.
  void make_for(const std::string& end, const std::string& names) const {
    const std::string path = folder + "/" + end, authority = folder + "/ca";
    run(kMake + "-subj /CN=" + end + " -addext subjectAltName=" + names + " -CA " + authority +
        ".pem -CAkey " + authority + ".key -keyout " + path + ".key -out " + path + ".pem");
  }
  // One more, whose last day is over, for the machine `host`.
  void make_expired(const std::string& end, const std::string& host = "graph-1") const {
    const std::string path = folder + "/" + end;
    run("openssl req -new -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -subj /CN=" +
        end + " -addext subjectAltName=DNS:" + host + ",IP:127.0.0.1 -keyout " + path +
        ".key -out " + path + ".csr");
    run("openssl x509 -req -days -1 -copy_extensions copy -in " + path + ".csr -CA " + folder +
        "/ca.pem -CAkey " + folder + "/ca.key -CAcreateserial -out " + path + ".pem");
  }
  static void run(const std::string& command) {
    ASSERT_EQ(std::system((command + " 2>/dev/null").c_str()), 0) << command;
  }
  dist::TlsFiles of(const std::string& end, const std::string& authority = "ca") const {
    return {folder + "/" + end + ".pem", folder + "/" + end + ".key",
            folder + "/" + authority + ".pem"};
  }
  std::vector<std::string> options(const std::string& end = "server") const {
    const dist::TlsFiles files = of(end);
    return {"--tls-cert", files.certificate, "--tls-key", files.key, "--tls-ca", files.authority};
  }
  std::string folder;

 private:
  static inline const std::string kMake =
      "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 ";
};

}  // namespace gnnmg::test
