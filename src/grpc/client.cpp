// A client's connection: one gRPC channel to one address, and the session that was opened there.
#include <grpcpp/create_channel.h>
#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/support/channel_arguments.h>

#include <condition_variable>
#include <mutex>
#include <string>
#include <utility>

#include "base/error.h"
#include "base/signals.h"
#include "dist/tickets.h"
#include "dist/wire.h"
#include "grpc/credentials.h"
#include "grpc/engine.h"
#include "grpc/framing.h"
#include "grpc/refusal.h"
#include "io/bytes.h"

namespace gnnmg::grpc_engine {
namespace {

using base::fail;
using base::Status;

constexpr auto kSlice =
    std::chrono::milliseconds(20);  // interval between checks of the cancel token
constexpr size_t kMostText = 500;   // part of gRPC's text in an error

std::string target_of(const std::string& address) {
  return (address.starts_with('[') ? "ipv6:" : "ipv4:") + address;
}

std::string said(const grpc::Status& status) {
  return io::one_line(base::beginning(status.error_message(), kMostText));
}

// The status that the caller of a finished call gets.
Status meaning_of(grpc::StatusCode code) {
  switch (code) {
    case grpc::StatusCode::OK:
      return Status::kOk;
    case grpc::StatusCode::RESOURCE_EXHAUSTED:
      return Status::kBusy;
    case grpc::StatusCode::UNAUTHENTICATED:
      return Status::kAuth;
    case grpc::StatusCode::INVALID_ARGUMENT:
    case grpc::StatusCode::UNIMPLEMENTED:
      return Status::kProtocol;
    default:  // however a connection breaks off
      return Status::kUnavailable;
  }
}

std::shared_ptr<grpc::Channel> open_channel(const dist::ConnectSettings& settings) {
  grpc::ChannelArguments arguments;
  arguments.SetMaxReceiveMessageSize(-1);  // wire.h limits the size of a message
  arguments.SetMaxSendMessageSize(-1);
  arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);  // a new connection is a new one
  arguments.SetInt(GRPC_ARG_ENABLE_HTTP_PROXY, 0);
  // If a connection ends during a call, gRPC would send the call again, with the same ticket. The
  // client asks again with a new one.
  arguments.SetInt(GRPC_ARG_ENABLE_RETRIES, 0);
  arguments.SetInt(GRPC_ARG_SERVICE_CONFIG_DISABLE_RESOLUTION, 1);
  if (settings.tls.given() && !settings.host.empty())
    arguments.SetSslTargetNameOverride(settings.host);
  return grpc::CreateCustomChannel(target_of(settings.address), client_credentials(settings.tls),
                                   arguments);
}

// gRPC 1.51 joins the threads that call back once the last channel goes, also where one of them is
// the one that lets it go, by a call's context, and then ends the process. So one channel stays.
void keep_one(const std::shared_ptr<grpc::Channel>& channel) {
  static const auto* const kept = new std::shared_ptr<grpc::Channel>(channel);
  (void)kept;
}

// One call, shared by its caller and gRPC.
struct Flight {
  grpc::ClientContext context;
  grpc::ByteBuffer request, response;
  dist::Message answer;  // copy of the response
};

class GrpcAsking : public dist::Asking {
 public:
  explicit GrpcAsking(std::shared_ptr<Flight> flight) : flight_(std::move(flight)) {}
  ~GrpcAsking() override { flight_->context.TryCancel(); }  // nothing where it is over

 private:
  std::shared_ptr<Flight> flight_;
};

class GrpcConnection : public dist::Connection {
 public:
  explicit GrpcConnection(const dist::ConnectSettings& settings)
      : GrpcConnection(settings, open_channel(settings)) {}

  void greet(const base::Deadline& deadline, const base::CancelToken& cancel) {
    struct Greeting : Flight {
      std::mutex mutex;
      std::condition_variable changed;
      bool over = false;
      grpc::Status status;
    };
    const auto greeting = std::make_shared<Greeting>();
    greeting->context.AddMetadata(kGreetingKey, pass_.greeting());
    greeting->request = framed("");
    stub_.UnaryCall(&greeting->context, kGreetMethod, {}, &greeting->request, &greeting->response,
                    [greeting](grpc::Status status) {
                      const std::lock_guard lock(greeting->mutex);
                      greeting->status = std::move(status);
                      greeting->over = true;
                      greeting->changed.notify_all();
                    });
    std::unique_lock lock(greeting->mutex);
    while (!greeting->over && !deadline.passed() && !cancel.cancelled())
      greeting->changed.wait_for(lock, kSlice);
    if (!greeting->over) {
      lock.unlock();
      greeting->context.TryCancel();
      cancel.check("connecting to a server");
      fail(Status::kTimeout, "it did not answer a greeting in time");
    }
    if (!greeting->status.ok()) {
      const Status status = meaning_of(greeting->status.error_code());
      if (status == Status::kUnavailable) fail_to_connect(said(greeting->status), settings_);
      fail(status, said(greeting->status));
    }
    dist::Message answer;
    if (!unframe(greeting->response, answer))
      fail(Status::kProtocol, "what listens there is no server of this library");
    pass_.accept(io::as_text(answer.span()));
  }

  std::unique_ptr<dist::Asking> ask(std::span<const uint8_t> message, dist::Message spare,
                                    dist::Replied replied) override {
    const auto flight = std::make_shared<Flight>();
    flight->context.AddMetadata(kTicketKey, pass_.ticket(message));
    flight->request = framed(io::as_text(message));
    flight->answer = std::move(spare);
    stub_.UnaryCall(&flight->context, kAskMethod, {}, &flight->request, &flight->response,
                    [flight, replied = std::move(replied)](const grpc::Status& status) {
                      replied(reply_of(*flight, status));
                    });
    return std::make_unique<GrpcAsking>(flight);
  }

 private:
  GrpcConnection(const dist::ConnectSettings& settings,
                 const std::shared_ptr<grpc::Channel>& channel)
      : settings_(settings), stub_(channel), pass_(settings.token, settings.address) {
    keep_one(channel);
  }
  static dist::Reply reply_of(Flight& flight, const grpc::Status& status) {
    dist::Reply reply{meaning_of(status.error_code()), said(status), {}};
    try {
      if (status.ok() && !unframe(flight.response, flight.answer))
        reply = {Status::kProtocol, "an answer in no frame", {}};
      else
        reply.message = std::move(flight.answer);
    } catch (const base::Error& error) {  // no memory for it
      reply = {error.status(), error.what(), {}};
    }
    return reply;
  }

  const dist::ConnectSettings settings_;
  grpc::GenericStub stub_;
  dist::Pass pass_;
};

}  // namespace

std::unique_ptr<dist::Connection> connect(const dist::ConnectSettings& settings,
                                          const base::Deadline& deadline,
                                          const base::CancelToken& cancel) {
  const base::SignalGuard guard;  // gRPC starts threads with its first channel
  auto connection = std::make_unique<GrpcConnection>(settings);
  connection->greet(deadline, cancel);
  return connection;
}

}  // namespace gnnmg::grpc_engine
