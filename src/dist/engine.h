// The engine that carries messages between machines, as a table of functions that the plug-in
// libgnnmg_grpc.so fills. Nothing links the plug-in: it is opened when the first server is to be
// reached or started, and without it all else works.
//
// Every function throws base::Error unless it is noexcept. Any thread.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>

#include "base/cancel.h"
#include "dist/message.h"

namespace gnnmg::dist {

// PEM files by which one end proves its identity, and checks the other's. All or none are given.
struct TlsFiles {
  std::string certificate, key;  // this end's
  std::string authority;         // the certificate that the other end's is signed with
  bool given() const { return !certificate.empty() || !key.empty() || !authority.empty(); }
};

struct ConnectSettings {
  std::string address;  // digits: "10.0.0.7:7300", "[::1]:7300"
  std::string host;     // the host as the user wrote it: the name in the server's certificate
  std::string token;    // bytes; empty: none
  TlsFiles tls;
};

// The end of a question. kOk: with an answer. kUnavailable: the connection cannot carry it, nor
// others any more. kBusy: the server has too many questions; it can be asked again later. kAuth:
// the server does not know this session (any more). kProtocol, kCancelled.
struct Reply {
  base::Status status = base::Status::kOk;
  std::string text;  // the reason if there is no answer
  Message message;
};
// Called once, on a thread of the engine's, possibly within ask(); throws nothing and waits for
// nothing.
using Replied = std::function<void(Reply&& reply)>;

// A question under way. Its end gives the question up; a reply may still arrive.
class Asking {
 public:
  virtual ~Asking() = default;
};

class Connection {
 public:
  virtual ~Connection() = default;
  // Copies the message, a whole one of wire.h, and sends it. The answer's message takes the memory
  // of `spare`, if it is enough.
  virtual std::unique_ptr<Asking> ask(std::span<const uint8_t> message, Message spare,
                                      Replied replied) = 0;
};

struct ListenSettings {
  std::string address;  // "127.0.0.1:7300", "[::]:0"; port 0: a free one
  std::string token;    // bytes; empty: none is asked for
  TlsFiles tls;
  int32_t threads = 2;          // that answer
  int32_t max_questions = 64;   // limit for each client; more get kBusy
  int64_t patience_ms = 5'000;  // limit for a client that sends nothing, or slowly
};

// Writes the answer to a message, on one of several threads. An exception's text is sent to the
// client, which then takes its connection for broken.
using Handler = std::function<void(std::span<const uint8_t> message, Message& answer)>;

struct ListenerCounts {
  int64_t clients = 0;    // that asked something in the last minute
  int64_t questions = 0;  // being answered or waiting
  int64_t busy = 0;       // told to come later, so far
  int64_t refused = 0;    // calls without a ticket, or with a wrong one, so far
};

class Listener {
 public:
  virtual ~Listener() = default;  // ends at once all that shutdown() has left
  virtual int32_t port() const = 0;
  virtual ListenerCounts counts() const = 0;
  // Takes no new questions and answers those that have come. False where the deadline passed
  // before; they are given up then.
  virtual bool shutdown(const base::Deadline& deadline) = 0;
};

struct Engine {
  int64_t size;         // sizeof(Engine), by which a plug-in of another build is known
  const char* version;  // device::build_version() of the plug-in

  // Until both ends have proven themselves. Error(kUnavailable) saying why the server cannot be
  // reached, kAuth for its certificate or the token, kTimeout, kCancelled, kProtocol for a server
  // of another kind, kNotFound, kIo, kFormat and kAuth for files.
  std::unique_ptr<Connection> (*connect)(const ConnectSettings& settings,
                                         const base::Deadline& deadline,
                                         const base::CancelToken& cancel);
  // Error(kUnavailable) where the address cannot be had, as because another listens there.
  std::unique_ptr<Listener> (*listen)(const ListenSettings& settings, Handler handler);
  // For processes that reach each other with certificates of one authority: Error(kAuth) where the
  // others would not accept that of this process, on the machine `host`; errors of the files as of
  // connect().
  void (*check_certificate)(const TlsFiles& files, const std::string& host);
};

// The one function that the plug-in exports. `first`: the process had no gRPC before, so the
// plug-in keeps gRPC's log from standard error. Never null.
using EngineFunction = const Engine* (*)(bool first) noexcept;
inline constexpr const char* kEngineFunction = "gnnmg_grpc_engine";

// Opens the plug-in beside the library that holds this function or, in a program, in the folder of
// installed libraries. The file may be a link. It stays open. Error(kDependency) names the missing
// file and the remedy, also if the process has loaded another version of gRPC.
const Engine& open_engine();
// The same for a file.
const Engine& open_engine_at(const std::string& path);

}  // namespace gnnmg::dist
