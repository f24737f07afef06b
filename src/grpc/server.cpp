// A server's listener. gRPC's threads check tickets and receive messages; the listener's own
// threads answer them. A request without a ticket is refused before any of its message is read.
#include <grpcpp/generic/async_generic_service.h>
#include <grpcpp/health_check_service_interface.h>
#include <grpcpp/server.h>
#include <grpcpp/server_builder.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <deque>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/background.h"
#include "base/error.h"
#include "dist/tickets.h"
#include "grpc/credentials.h"
#include "grpc/engine.h"
#include "grpc/framing.h"
#include "grpc/own_addresses.h"
#include "io/bytes.h"

namespace gnnmg::grpc_engine {
namespace {

using base::fail;
using base::Status;
using base::SteadyClock;

constexpr size_t kClient = 32;  // bytes of a ticket that name the client
constexpr auto kSweep = std::chrono::milliseconds(250);

// The address in "ipv4:10.0.0.9:4242", without scheme and port.
std::string host_of(const std::string& peer) {
  const size_t begin = peer.find(':') + 1, end = peer.rfind(':');
  return end > begin ? peer.substr(begin, end - begin) : peer;
}

std::string metadata(const grpc::CallbackServerContext& context, const char* key) {
  const auto found = context.client_metadata().find(key);
  if (found == context.client_metadata().end()) return "";
  return {found->second.data(), found->second.size()};
}

class GrpcListener;

// A call that was refused, or greeted: nothing of the client's is read.
class Farewell : public grpc::ServerGenericBidiReactor {
 public:
  Farewell(grpc::StatusCode code, const std::string& text) { Finish(grpc::Status(code, text)); }
  explicit Farewell(std::string_view answer) : answer_(framed(answer)) {
    StartWriteAndFinish(&answer_, {}, grpc::Status::OK);
  }
  void OnDone() override { delete this; }

 private:
  grpc::ByteBuffer answer_;
};

// A question with a ticket: it is read, waits for a thread, and is answered.
class Question : public grpc::ServerGenericBidiReactor {
 public:
  Question(GrpcListener& listener, grpc::CallbackServerContext& context, std::string client,
           std::string head);
  void OnReadDone(bool ok) override;
  void OnCancel() override { cancelled_.store(true, std::memory_order_relaxed); }
  void OnDone() override;

  const std::string& client() const { return client_; }
  SteadyClock::time_point since() const { return since_; }
  void give_up() { context_.TryCancel(); }
  // On a thread of the listener's.
  void answer(const dist::Handler& handler, const std::shared_ptr<Messages>& pool);

 private:
  GrpcListener& listener_;
  grpc::CallbackServerContext& context_;
  const std::string client_, head_;
  const SteadyClock::time_point since_ = SteadyClock::now();
  std::atomic<bool> cancelled_{false};
  grpc::ByteBuffer request_, response_;
};

class GrpcListener : public dist::Listener, public grpc::CallbackGenericService {
 public:
  GrpcListener(const dist::ListenSettings& settings, dist::Handler handler)
      : settings_(settings),
        handler_(std::move(handler)),
        gate_(
            settings.token, settings.tls.given() ? dist::Gate::OwnAddress() : [this](auto& called) {
              return is_own_address(called, port_);
            }) {
    start();
    try {
      for (int32_t i = 0; i < settings_.threads; ++i)
        threads_.push_back(base::start_thread([this] { work(); }));
      threads_.push_back(base::start_thread([this] { sweep(); }));
    } catch (...) {
      stop();
      throw;
    }
  }
  ~GrpcListener() override { stop(); }

  int32_t port() const override { return port_; }
  dist::ListenerCounts counts() const override {
    const std::lock_guard lock(mutex_);
    return {gate_.num_sessions(), open_, busy_, refused_};
  }
  bool shutdown(const base::Deadline& deadline) override {
    if (server_->GetHealthCheckService()) server_->GetHealthCheckService()->SetServingStatus(false);
    const auto left =
        std::chrono::milliseconds(std::min<int64_t>(deadline.remaining_ms(), 1 << 30));
    server_->Shutdown(std::chrono::system_clock::now() + left);
    return !deadline.passed();
  }

  grpc::ServerGenericBidiReactor* CreateReactor(
      grpc::GenericCallbackServerContext* context) override {
    const std::string from = host_of(context->peer());
    try {
      if (context->method() == kGreetMethod)
        return new Farewell(gate_.greet(metadata(*context, kGreetingKey), from));
      if (context->method() != kAskMethod)
        return new Farewell(grpc::StatusCode::UNIMPLEMENTED, "no such method");
      const std::string ticket = metadata(*context, kTicketKey);
      std::string head = gate_.admit(ticket, from);
      std::string client = ticket.substr(0, kClient);
      if (!enter(client))
        return new Farewell(
            grpc::StatusCode::RESOURCE_EXHAUSTED,
            base::text("more than ", settings_.max_questions, " questions at once"));
      return new Question(*this, *context, std::move(client), std::move(head));
    } catch (const base::Error& error) {
      const std::lock_guard lock(mutex_);
      ++refused_;
      return new Farewell(error.status() == Status::kProtocol ? grpc::StatusCode::INVALID_ARGUMENT
                                                              : grpc::StatusCode::UNAUTHENTICATED,
                          error.what());
    }
  }

  // Events of a question, each once, in this order; the last always occurs.
  void opened(Question* question) {
    const std::lock_guard lock(reading_mutex_);
    reading_.insert(question);
  }
  void read(Question* question) {
    stop_reading(question);
    const std::lock_guard lock(mutex_);
    waiting_.push_back(question);
    changed_.notify_one();
  }
  void closed(Question* question) {
    stop_reading(question);
    const std::lock_guard lock(mutex_);
    --open_;
    const auto found = by_client_.find(question->client());
    if (--found->second == 0) by_client_.erase(found);
  }

 private:
  void start() {
    grpc::ServerBuilder builder;
    builder.AddListeningPort(settings_.address, server_credentials(settings_.tls), &port_);
    builder.RegisterCallbackGenericService(this);
    builder.SetMaxReceiveMessageSize(static_cast<int>(dist::kMaxMessageBytes) + 16);
    builder.SetMaxSendMessageSize(-1);
    const auto patience = static_cast<int>(settings_.patience_ms);
    builder.AddChannelArgument(GRPC_ARG_ALLOW_REUSEPORT, 0);  // a second server is told so
    builder.AddChannelArgument(GRPC_ARG_SERVER_HANDSHAKE_TIMEOUT_MS, patience);
    // An idle client is disconnected and reconnects with its next question.
    builder.AddChannelArgument(GRPC_ARG_MAX_CONNECTION_IDLE_MS, patience);
    // A client whose machine is gone: its questions are dropped.
    builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_TIME_MS, 2 * patience);
    builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, patience);
    const bool health = grpc::DefaultHealthCheckServiceEnabled();
    grpc::EnableDefaultHealthCheckService(true);
    server_ = builder.BuildAndStart();
    // The setting is process-wide, and other servers may not want it.
    grpc::EnableDefaultHealthCheckService(health);
    if (!server_ || port_ == 0)
      fail(Status::kUnavailable, settings_.address,
           ": nothing can listen there; another may, or it is no address of this machine");
    if (server_->GetHealthCheckService()) server_->GetHealthCheckService()->SetServingStatus(true);
  }

  void stop() {
    server_->Shutdown(std::chrono::system_clock::now());  // until the last question is closed
    {
      const std::lock_guard lock(mutex_);
      stopped_ = true;
      changed_.notify_all();
      sweep_.notify_all();
    }
    for (std::thread& thread : threads_) thread.join();
    server_->Wait();
  }

  bool enter(const std::string& client) {
    const std::lock_guard lock(mutex_);
    int32_t& questions = by_client_[client];
    if (questions >= settings_.max_questions) {
      ++busy_;
      return false;
    }
    ++questions;
    ++open_;
    return true;
  }

  void work() {
    std::unique_lock lock(mutex_);
    while (true) {
      changed_.wait(lock, [&] { return stopped_ || !waiting_.empty(); });
      if (waiting_.empty()) return;
      Question* const question = waiting_.front();
      waiting_.pop_front();
      lock.unlock();
      question->answer(handler_, pool_);
      lock.lock();
    }
  }

  void stop_reading(Question* question) {
    const std::lock_guard lock(reading_mutex_);
    reading_.erase(question);
  }

  // Cancels questions that arrive too slowly. While it holds the mutex, none of these questions
  // ends except the canceled one, which may end within that call.
  void sweep() {
    while (true) {
      {
        std::unique_lock lock(mutex_);
        if (sweep_.wait_for(lock, kSweep, [&] { return stopped_; })) return;
      }
      const auto before = SteadyClock::now() - std::chrono::milliseconds(settings_.patience_ms);
      const std::lock_guard lock(reading_mutex_);
      for (Question* question : std::vector<Question*>(reading_.begin(), reading_.end()))
        if (reading_.contains(question) && question->since() < before) question->give_up();
    }
  }

  const dist::ListenSettings settings_;
  const dist::Handler handler_;
  const std::shared_ptr<Messages> pool_ = std::make_shared<Messages>();
  int port_ = 0;
  dist::Gate gate_;
  mutable std::mutex mutex_;
  std::condition_variable changed_, sweep_;
  bool stopped_ = false;
  int64_t open_ = 0, busy_ = 0, refused_ = 0;
  std::deque<Question*> waiting_;
  std::map<std::string, int32_t> by_client_;  // questions that are open
  std::recursive_mutex reading_mutex_;
  std::set<Question*> reading_;  // questions whose message has not arrived yet
  std::vector<std::thread> threads_;
  std::unique_ptr<grpc::Server> server_;
};

Question::Question(GrpcListener& listener, grpc::CallbackServerContext& context, std::string client,
                   std::string head)
    : listener_(listener), context_(context), client_(std::move(client)), head_(std::move(head)) {
  listener_.opened(this);
  StartRead(&request_);
}

void Question::OnReadDone(bool ok) {
  if (ok) return listener_.read(this);
  Finish(grpc::Status(grpc::StatusCode::INVALID_ARGUMENT, "a question without a message"));
}

void Question::OnDone() {
  listener_.closed(this);
  delete this;
}

void Question::answer(const dist::Handler& handler, const std::shared_ptr<Messages>& pool) {
  if (cancelled_.load(std::memory_order_relaxed)) return Finish(grpc::Status::CANCELLED);
  try {
    const auto asked = pool->take();
    if (!unframe(request_, *asked) || !io::as_text(asked->span()).starts_with(head_))
      fail(Status::kProtocol, "a message in no frame, or with another head than its ticket");
    request_.Clear();
    auto answer = std::make_unique<OutgoingMessage>(pool);
    handler(asked->span(), **answer);
    response_ = OutgoingMessage::framed(std::move(answer));
    StartWriteAndFinish(&response_, {}, grpc::Status::OK);
  } catch (const base::Error& error) {
    Finish(grpc::Status(error.status() == Status::kNoMemory ? grpc::StatusCode::RESOURCE_EXHAUSTED
                                                            : grpc::StatusCode::INVALID_ARGUMENT,
                        error.what()));
  }
}

}  // namespace

std::unique_ptr<dist::Listener> listen(const dist::ListenSettings& settings,
                                       dist::Handler handler) {
  const base::SignalGuard guard;  // gRPC starts threads
  return std::make_unique<GrpcListener>(settings, std::move(handler));
}

}  // namespace gnnmg::grpc_engine
