// Messages inside gRPC's messages: the only field of `message Bytes { bytes body = 1; }`, so that a
// .proto file of two methods is enough to make clients in other languages.
#pragma once

#include <grpcpp/support/byte_buffer.h>

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <utility>

#include "dist/message.h"
#include "dist/pool.h"

namespace gnnmg::grpc_engine {

inline constexpr const char* kGreetMethod = "/gnnmg.v1.Graph/Greet";
inline constexpr const char* kAskMethod = "/gnnmg.v1.Graph/Ask";
// Metadata of the two: the greeting, and the ticket (dist/tickets.h). The server reads nothing else
// from clients without a ticket.
inline constexpr const char* kGreetingKey = "gnnmg-greeting-bin";
inline constexpr const char* kTicketKey = "gnnmg-ticket-bin";

using Messages = dist::Pool<dist::Message>;

// A copy of the bytes.
grpc::ByteBuffer framed(std::string_view bytes);
// The message that `fill` made, not copied. It returns to the pool after it is sent.
class OutgoingMessage {
 public:
  explicit OutgoingMessage(std::shared_ptr<Messages> pool)
      : pool_(std::move(pool)), lease_(pool_->take()) {}
  dist::Message& operator*() const { return *lease_; }
  // Hands it over.
  static grpc::ByteBuffer framed(std::unique_ptr<OutgoingMessage> message);

 private:
  std::shared_ptr<Messages> pool_;  // outlives its leases
  Messages::Lease lease_;
};
// Replaces `out` by the bytes in a gRPC message. False where it is no such one.
bool unframe(const grpc::ByteBuffer& buffer, dist::Message& out);

}  // namespace gnnmg::grpc_engine
