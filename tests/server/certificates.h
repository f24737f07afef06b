// Certificates for tests of TLS, made by openssl.
#pragma once

#include <gtest/gtest.h>
#include <sys/utsname.h>

#include <cstdlib>
#include <string>
#include <vector>

#include "dist/engine.h"
#include "support/temp_dir.h"

namespace gnnmg::test {

// A certificate authority, and certificates for both ends that it has signed.
struct Certificates {
  explicit Certificates(const test::TempDir& dir) : folder(dir.file("tls")) {
    const std::string make =
        "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 ";
    utsname name{};
    uname(&name);
    run("mkdir " + folder);
    run(make + "-subj /CN=authority -keyout " + folder + "/ca.key -out " + folder + "/ca.pem");
    for (const char* end : {"server", "client"})
      run(make + "-subj /CN=" + end + " -addext subjectAltName=DNS:graph-1,DNS:" + name.nodename +
          ",IP:127.0.0.1 -CA " + folder + "/ca.pem -CAkey " + folder + "/ca.key -keyout " + folder +
          "/" + end + ".key -out " + folder + "/" + end + ".pem");
  }
  // One more of a client, whose last day is over.
  void make_expired(const std::string& end) const {
    const std::string path = folder + "/" + end;
    run("openssl req -new -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -subj /CN=" +
        end + " -addext subjectAltName=DNS:graph-1,IP:127.0.0.1 -keyout " + path + ".key -out " +
        path + ".csr");
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
};

}  // namespace gnnmg::test
