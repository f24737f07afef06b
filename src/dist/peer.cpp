#include "dist/peer.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "base/background.h"
#include "base/error.h"
#include "dist/host.h"

namespace gnnmg::dist {
namespace {

using base::fail;
using base::Status;

// Before the next try, after so many.
std::chrono::milliseconds pause_after(int64_t tries) {
  constexpr int64_t kFirst = 150, kMost = 500;
  return std::chrono::milliseconds(tries == 0 ? 0 : std::min(kFirst * tries, kMost));
}

Hello greet(Connection& connection, const base::Deadline& deadline,
            const base::CancelToken& cancel) {
  constexpr uint64_t kRequest = 1;
  struct Waiting {
    Board board;
    std::optional<Reply> reply;
  };
  const auto waiting = std::make_shared<Waiting>();
  Message question;
  write_hello_question(kRequest, question);
  const auto asking = connection.ask(question.span(), {}, [waiting](Reply&& reply) {
    const std::lock_guard lock(waiting->board.mutex);
    waiting->reply = std::move(reply);
    waiting->board.changed.notify_all();
  });
  std::unique_lock lock(waiting->board.mutex);
  while (!waiting->reply) {
    cancel.check("greeting a server");
    if (deadline.passed()) fail(Status::kTimeout, "it did not say who it is in time");
    waiting->board.changed.wait_for(lock, kSlice);
  }
  if (waiting->reply->status != Status::kOk) fail(waiting->reply->status, waiting->reply->text);
  try {
    return read_hello(kRequest, waiting->reply->message.span());
  } catch (const base::Error& error) {  // messages of another version are a mismatch, here
    if (error.status() != Status::kUnsupported) throw;
    fail(Status::kMismatch, error.what());
  }
}

}  // namespace

Peer::Peer(const Engine& engine, ConnectSettings settings, Address address, int64_t connect_ms,
           std::shared_ptr<Board> board, Agree agree)
    : engine_(engine),
      settings_(std::move(settings)),
      address_(std::move(address)),
      name_(address_.name()),
      connect_ms_(connect_ms),
      board_(std::move(board)),
      agree_(std::move(agree)),
      keeper_(base::start_thread([this] { keep(); })) {}

void Peer::stop() {
  ended_.cancel();
  {
    const std::lock_guard lock(board_->mutex);
    board_->changed.notify_all();
  }
  keeper_.join();
}

bool Peer::has(int32_t part) const {
  if (part < 0) return !parts.empty();
  return std::binary_search(parts.begin(), parts.end(), part);
}

void Peer::drop(const std::shared_ptr<Connection>& broken, Status why, std::string what) {
  if (connection != broken) return;
  connection.reset();  // not the last share: the caller has another
  status = why;
  text = std::move(what);
  tries = 0;
  lost = base::SteadyClock::now();
  board_->changed.notify_all();
}

// `again`: it was not there the last time.
std::pair<std::shared_ptr<Connection>, Hello> Peer::reach(bool again) const {
  ConnectSettings settings = settings_;
  if (again) settings.address = find_again(address_);
  const auto deadline = base::Deadline::after_ms(connect_ms_);
  std::shared_ptr<Connection> made = engine_.connect(settings, deadline, ended_);
  Hello hello = greet(*made, deadline, ended_);
  agree_(*this, hello);
  return {std::move(made), std::move(hello)};
}

void Peer::keep() {
  std::unique_lock lock(board_->mutex);
  const auto over = [&] { return ended_.cancelled(); };
  while (true) {
    board_->changed.wait(lock, [&] { return over() || !connection; });
    board_->changed.wait_for(lock, pause_after(tries), over);
    if (over()) return;
    const bool again = tries > 0;
    lock.unlock();
    std::pair<std::shared_ptr<Connection>, Hello> reached;
    Status failed = Status::kOk;
    std::string why;
    try {
      reached = reach(again);
    } catch (const base::Error& error) {
      failed = error.status();
      why = error.what();
    } catch (const std::exception& error) {
      failed = Status::kNoMemory;
      why = error.what();
    }
    lock.lock();
    if (failed == Status::kOk) {
      connection = std::move(reached.first);
      parts = std::move(reached.second.parts);
      tries = 0;
    } else {
      ++tries;
    }
    status = failed;
    text = std::move(why);
    board_->changed.notify_all();
  }
}

}  // namespace gnnmg::dist
