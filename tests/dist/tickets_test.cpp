// Sessions and tickets: a client that knows the token enters once a ticket, nobody else does.
#include "dist/tickets.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "dist/hello.h"

namespace gnnmg {
namespace {

using base::Status;
using dist::Gate;
using dist::Pass;
using testing::HasSubstr;
using testing::Pair;

const std::string kToken(40, 't'), kServer = "10.0.0.7:7300", kClient = "10.0.0.9";

Gate::OwnAddress only(const std::string& address) {
  return [address](const std::string& called) { return called == address; };
}

dist::Message some_message() {
  dist::Message message;
  dist::write_hello_question(1, message);
  return message;
}

std::pair<Status, std::string> refusal(const auto& call) {
  try {
    call();
  } catch (const base::Error& error) {
    return {error.status(), error.what()};
  }
  return {Status::kOk, ""};
}

struct Session {
  explicit Session(const std::string& of_server = kToken, const std::string& of_client = kToken)
      : gate(of_server, only(kServer)), pass(of_client, kServer) {}
  void open() { pass.accept(gate.greet(pass.greeting(), kClient)); }
  Gate gate;
  Pass pass;
  dist::Message message = some_message();
};

TEST(Tickets, ATicketIsGoodOnceAndInAnyOrder) {
  Session session;
  session.open();
  EXPECT_EQ(session.gate.num_sessions(), 0);
  std::vector<std::string> tickets;
  for (int i = 0; i < 1500; ++i) tickets.push_back(session.pass.ticket(session.message.span()));
  const auto admit = [&](size_t i) {
    return refusal([&] { session.gate.admit(tickets[i], kClient); });
  };
  EXPECT_EQ(session.gate.admit(tickets[2], kClient),
            std::string(reinterpret_cast<const char*>(session.message.data()), dist::kHeadBytes));
  for (const size_t i : {0, 1, 3, 1000, 999, 500}) EXPECT_EQ(admit(i).first, Status::kOk) << i;
  for (const size_t i : {0, 1, 2, 3, 1000, 500})
    EXPECT_THAT(admit(i), Pair(Status::kAuth, HasSubstr("used before"))) << i;
  EXPECT_EQ(admit(1499).first, Status::kOk);
  EXPECT_EQ(admit(476).first, Status::kOk) << "the last of the 1 024 that are remembered";
  EXPECT_THAT(admit(475), Pair(Status::kAuth, HasSubstr("used before"))) << "too old to know";
  EXPECT_THAT(admit(1000), Pair(Status::kAuth, HasSubstr("used before")));
  EXPECT_EQ(session.gate.num_sessions(), 1);
}

TEST(Tickets, NothingOfATicketCanBeChanged) {
  Session session;
  session.open();
  const std::string ticket = session.pass.ticket(session.message.span());
  ASSERT_EQ(ticket.size(), dist::kTicketBytes);
  for (size_t i = 0; i < ticket.size(); ++i) {
    std::string changed = ticket;
    changed[i] ^= 4;
    EXPECT_EQ(refusal([&] { session.gate.admit(changed, kClient); }).first, Status::kAuth) << i;
  }
  EXPECT_EQ(refusal([&] { session.gate.admit(ticket, "10.0.0.8"); }).first, Status::kAuth);
  EXPECT_EQ(refusal([&] { session.gate.admit("", kClient); }).first, Status::kAuth);
  EXPECT_EQ(session.gate.num_sessions(), 0) << "strangers leave nothing";
  EXPECT_EQ(refusal([&] { session.gate.admit(ticket, kClient); }).first, Status::kOk);
  Gate restarted(kToken, {});
  const auto [status, text] = refusal([&] { restarted.admit(ticket, kClient); });
  EXPECT_EQ(status, Status::kAuth) << text;
}

TEST(Tickets, BothEndsProveToKnowTheToken) {
  EXPECT_EQ(refusal([&] { Session().open(); }).first, Status::kOk);
  EXPECT_EQ(refusal([&] { Session("", "").open(); }).first, Status::kOk);
  EXPECT_THAT(refusal([&] { Session(kToken, std::string(40, 'u')).open(); }),
              Pair(Status::kAuth, HasSubstr("does not know the token")));
  EXPECT_THAT(refusal([&] { Session(kToken, "").open(); }),
              Pair(Status::kAuth, HasSubstr("asks for a token")));
  EXPECT_THAT(refusal([&] { Session("", kToken).open(); }),
              Pair(Status::kAuth, HasSubstr("the server has none")));
  // A stranger without the token cannot make a ticket, whatever it is told.
  Session session(kToken, std::string(40, 'u'));
  EXPECT_EQ(refusal([&] { session.open(); }).first, Status::kAuth);
  EXPECT_EQ(refusal([&] {
              session.gate.admit(session.pass.ticket(session.message.span()), kClient);
            }).first,
            Status::kAuth);
}

TEST(Tickets, NobodyBetweenCanPassAGreetingOn) {
  const Gate gate(kToken, only(kServer));
  Pass pass(kToken, "10.0.0.66:7300");  // the one between
  EXPECT_THAT(refusal([&] { gate.greet(pass.greeting(), kClient); }),
              Pair(Status::kAuth, HasSubstr("no address of this server")));
  const std::string changed = pass.greeting().substr(0, 32) + kServer;
  EXPECT_THAT(refusal([&] { pass.accept(gate.greet(changed, kClient)); }),
              Pair(Status::kAuth, HasSubstr("stands between")));
  for (const size_t size : {0u, 31u, 1000u})
    EXPECT_EQ(refusal([&] { gate.greet(std::string(size, 'x'), kClient); }).first,
              Status::kProtocol);
  EXPECT_EQ(refusal([&] { pass.accept("?"); }).first, Status::kProtocol);
}

}  // namespace
}  // namespace gnnmg
