// Processes of a job that have a part of the parts each, serve them and ask for the rest. Here they
// are threads of one process; worker_fault_test.cpp has real ones.
#include "server/worker.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <future>
#include <thread>

#include "base/error.h"
#include "comm/jobs.h"
#include "dist/saved_parts.h"
#include "server/certificates.h"
#include "server/server_process.h"
#include "support/part_subset.h"

namespace gnnmg {
namespace {

using base::Status;
using server::Reading;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

constexpr int32_t kParts = 4;
using PartLists = std::vector<std::vector<int32_t>>;  // process by process

// One process of the job, in a test's body.
struct Member {
  comm::Processes& processes;
  data::DatasetRef dataset;
  std::string said;  // log of the opening
  std::shared_ptr<const dist::Parts> parts() const { return dist::parts_here(*dataset)->parts; }
};

class Worker : public testing::Test {
 protected:
  // A folder with some of the parts.
  std::string folder_of(const std::vector<int32_t>& parts) {
    const std::string path = served_.dir.file(base::text("share-", num_folders_++));
    test::link_parts(served_.folder(), path, parts);
    return path;
  }
  std::vector<std::string> folders_of(const PartLists& parts) {
    std::vector<std::string> folders;
    for (const auto& list : parts) folders.push_back(folder_of(list));
    return folders;
  }
  // Opens one folder in each process, runs the body there, and shuts the job down.
  using Body = std::function<void(Member& member)>;
  using Change = std::function<void(int process, server::WorkerConfig& config)>;
  std::vector<test::Outcome> run(const std::vector<std::string>& folders, const Body& body,
                                 const Change& change = {}) const {
    return test::run_job(
        static_cast<int>(folders.size()), [&](const std::shared_ptr<comm::Processes>& processes) {
          const int process = processes->process();
          base::ThreadPool pool(1);
          const auto log = std::make_shared<base::Log>();
          server::WorkerConfig config;
          config.folder = folders[process];
          config.cache.share = 0.05;
          if (change) change(process, config);
          Member member{*processes, {}, ""};
          member.dataset = server::open_worker_dataset(
              config,
              {processes, [] { return test::within_ms(20'000); }, log, pool, {}, test::engine});
          while (const auto record = log->next()) member.said += record->text + "\n";
          body(member);
          member.dataset.reset();
          processes->shutdown(test::within_ms(20'000));
        });
  }
  void expect_same_batches(const Member& member) const {
    for (uint64_t batch = 0; batch < 3; ++batch)
      test::expect_same_batch(served_, member.parts(), 3 * batch + member.processes.process());
  }

  const test::ServedGraph served_{kParts};

 private:
  int num_folders_ = 0;
};

void expect_good(const std::vector<test::Outcome>& outcomes) {
  for (size_t p = 0; p < outcomes.size(); ++p)
    EXPECT_EQ(outcomes[p].status, Status::kOk) << "process " << p << ": " << outcomes[p].text;
}

void expect_all(const std::vector<test::Outcome>& outcomes, Status status,
                const testing::Matcher<std::string>& text) {
  for (size_t p = 0; p < outcomes.size(); ++p) {
    EXPECT_EQ(outcomes[p].status, status) << "process " << p << ": " << outcomes[p].text;
    EXPECT_THAT(outcomes[p].text, text) << "process " << p;
  }
}

TEST_F(Worker, EachHasItsOwnPartsAndAsksForTheRest) {
  for (const PartLists& parts :
       {PartLists{{2, 3}, {0, 1}}, {{1}, {0, 2}, {3}}, {{}, {0, 1, 2, 3}, {}}, {{0, 1}, {1, 2, 3}}})
    expect_good(run(folders_of(parts), [&](Member& member) {
      const auto& own = parts[member.processes.process()];
      for (int32_t part = 0; part < kParts; ++part)
        EXPECT_EQ(member.parts()->own(part) != nullptr, std::ranges::find(own, part) != own.end());
      EXPECT_THAT(member.said, HasSubstr("this process has " + dist::parts_text(own)));
      expect_same_batches(member);
      EXPECT_EQ(member.parts()->traffic().questions > 0, own.size() < kParts);
    }));
}

TEST_F(Worker, AFolderThatAllShareIsReadWithoutSockets) {
  const std::string folder = served_.folder();
  expect_good(run({folder, folder}, [&](Member& member) {
    EXPECT_THAT(member.said,
                AllOf(HasSubstr("each of 2 processes finds all parts"), Not(HasSubstr("serves"))));
    EXPECT_EQ(member.parts()->own(0) != nullptr, member.processes.process() == 0);
    expect_same_batches(member);
  }));
}

TEST_F(Worker, AsksAlsoWhereTheFolderIsShared) {
  const std::string folder = served_.folder();
  expect_good(run(
      {folder, folder},
      [&](Member& member) {
        EXPECT_THAT(member.said,
                    AllOf(HasSubstr("serves them at 127.0.0.1:"), HasSubstr("it asks process ")));
        const auto here = dist::parts_here(*member.dataset);
        EXPECT_THAT(here->process_of_part, ElementsAre(0, 1, 0, 1));
        expect_same_batches(member);
      },
      [](int, server::WorkerConfig& config) { config.reading = Reading::kAsked; }));
}

TEST_F(Worker, APartThatNobodyHasIsNamedOnAll) {
  expect_all(run(folders_of({{0, 2}, {2}, {}}), [](Member&) { FAIL(); }), Status::kMismatch,
             AllOf(HasSubstr("parts 1, 3 of 4 are at no process"), HasSubstr("process 0 on host "),
                   HasSubstr("process 1 on host "), HasSubstr(" has part 2")));
}

TEST_F(Worker, OtherDataAreNamedOnAll) {
  const test::ServedGraph other(kParts, 1'000);
  expect_all(run({folder_of({0, 1, 2, 3}), other.folder()}, [](Member&) { FAIL(); }),
             Status::kMismatch,
             AllOf(HasSubstr("the processes have different data: the fact "),
                   HasSubstr(" at process 0 on host "), HasSubstr(" at process 1 on host ")));
}

TEST_F(Worker, WhatOneCannotOpenIsToldOnAll) {
  const std::string nothing = served_.dir.file("nothing");
  expect_all(run({folder_of({0, 1}), nothing}, [](Member&) { FAIL(); }), Status::kNotFound,
             HasSubstr(nothing + ": no such folder"));
  const std::string lacking = folder_of({2, 3});
  std::filesystem::remove(lacking + "/part-0003/ids.npy");
  expect_all(run({folder_of({0, 1}), lacking}, [](Member&) { FAIL(); }), Status::kNotFound,
             HasSubstr("part-0003/"));
}

TEST_F(Worker, SettingsThatDifferAreNamedOnAll) {
  const std::string folder = served_.folder();
  expect_all(run(
                 {folder, folder}, [](Member&) { FAIL(); },
                 [](int process, server::WorkerConfig& config) {
                   if (process == 1) config.reading = Reading::kAsked;
                 }),
             Status::kMismatch, HasSubstr("'reading' is auto at process 0 on host"));
  expect_all(run(
                 folders_of({{0, 1}, {2, 3}}), [](Member&) { FAIL(); },
                 [](int, server::WorkerConfig& config) { config.reading = Reading::kShared; }),
             Status::kMismatch, HasSubstr("process 0 on host "));
}

TEST_F(Worker, AProcessThatDoesNotComeIsNamed) {
  const auto folders = folders_of({{0, 1}, {2, 3}});
  std::promise<void> named;
  const auto outcomes = test::run_job(2, [&](const std::shared_ptr<comm::Processes>& processes) {
    if (processes->process() == 1) return named.get_future().wait();
    base::ThreadPool pool(1);
    server::WorkerConfig config;
    config.folder = folders[0];
    const test::Outcome outcome = test::attempt([&] {
      server::open_worker_dataset(config, {processes,
                                           [] { return test::within_ms(100); },
                                           std::make_shared<base::Log>(),
                                           pool,
                                           {},
                                           test::engine});
    });
    EXPECT_EQ(outcome.status, Status::kTimeout);
    EXPECT_THAT(outcome.text, HasSubstr("missing: process 1 on host "));
    named.set_value();
  });
  for (const test::Outcome& outcome : outcomes) EXPECT_EQ(outcome.status, Status::kOk);
}

TEST_F(Worker, ProcessesAskEachOtherByCertificates) {
  const test::Certificates certificates(served_.dir);
  expect_good(run(
      folders_of({{0, 1}, {2, 3}}), [&](Member& member) { expect_same_batches(member); },
      [&](int process, server::WorkerConfig& config) {
        config.tls = certificates.of(process == 0 ? "server" : "client");
      }));
}

// One process has a wrong certificate: none waits for it.
TEST_F(Worker, ACertificateThatOthersDoNotAcceptIsNamedOnAll) {
  const test::TempDir elsewhere;
  const test::Certificates certificates(served_.dir), foreign(elsewhere);
  utsname name{};
  uname(&name);
  certificates.make_expired("old", name.nodename);
  certificates.make_for("other", "DNS:graph-7");
  const auto folders = folders_of({{0, 1}, {2}, {3}});
  const auto expect = [&](const dist::TlsFiles& wrong, const std::string& text) {
    const auto begin = base::SteadyClock::now();
    expect_all(run(
                   folders, [](Member&) {},
                   [&](int process, server::WorkerConfig& config) {
                     config.tls = process == 1 ? wrong : certificates.of("server");
                   }),
               Status::kAuth, HasSubstr(text));
    EXPECT_LE(base::SteadyClock::now() - begin, std::chrono::seconds(5));
  };
  dist::TlsFiles mixed = foreign.of("server");
  mixed.authority = certificates.of("server").authority;
  expect(mixed, mixed.certificate + ": the certificate does not pass with " + mixed.authority);
  expect(certificates.of("old"), "old.pem: the certificate has expired");
  expect(certificates.of("other"), "other.pem: the certificate is not for this machine, expected " +
                                       base::text("the name ", name.nodename));
  // The certificate is right, and the authority that the process trusts is another.
  mixed = certificates.of("server");
  mixed.authority = foreign.of("server").authority;
  expect(mixed, ": the certificate does not pass with " + mixed.authority);
}

// A process that is done early serves the others, which still read.
TEST_F(Worker, ServesOnWhenItsDataSetIsFreed) {
  std::promise<void> freed;
  const auto known = freed.get_future().share();
  expect_good(run(folders_of({{0, 1}, {2, 3}, {}}), [&](Member& member) {
    if (member.processes.process() == 0) {
      member.dataset.reset();
      freed.set_value();
    } else {
      known.wait();
      expect_same_batches(member);
    }
  }));
}

// A sampler and its like keep the parts after the data set.
TEST_F(Worker, WhatIsMadeOfADataSetReadsAfterIt) {
  expect_good(run(folders_of({{0, 1}, {2, 3}}), [&](Member& member) {
    const auto parts = member.parts();
    member.dataset.reset();
    for (uint64_t batch = 0; batch < 3; ++batch) test::expect_same_batch(served_, parts, batch);
  }));
}

TEST_F(Worker, ServesOnForSoLongAtMost) {
  std::promise<void> freed;
  const auto known = freed.get_future().share();
  expect_good(run(
      folders_of({{0, 1}, {2, 3}}),
      [&](Member& member) {
        if (member.processes.process() == 0) {
          member.dataset.reset();
          return freed.set_value();
        }
        known.wait();
        std::this_thread::sleep_for(std::chrono::milliseconds(200));
        const auto outcome =
            test::attempt([&] { test::expect_same_batch(served_, member.parts(), 7); });
        EXPECT_EQ(outcome.status, Status::kUnavailable) << outcome.text;
        EXPECT_THAT(outcome.text, AllOf(HasSubstr(": process 0 on host "),
                                        HasSubstr(" (127.0.0.1:"), HasSubstr("request ")));
      },
      [](int, server::WorkerConfig& config) { config.serve_on_ms = 50; }));
}

// Any order of frees and the end of the job.
TEST_F(Worker, EndsInAnyOrder) {
  for (const int first : {0, 1}) {
    const auto folders = folders_of({{0, 1}, {2, 3}});
    expect_good(test::run_job(2, [&](const std::shared_ptr<comm::Processes>& processes) {
      base::ThreadPool pool(1);
      server::WorkerConfig config;
      config.folder = folders[processes->process()];
      auto dataset = server::open_worker_dataset(config, {processes,
                                                          [] { return test::within_ms(20'000); },
                                                          std::make_shared<base::Log>(),
                                                          pool,
                                                          {},
                                                          test::engine});
      test::expect_same_batch(served_, dist::parts_here(*dataset)->parts, 1);
      if (processes->process() == first) dataset.reset();
      processes->shutdown(test::within_ms(20'000));
    }));
  }
}

// Only the processes of the job may ask a server.
TEST_F(Worker, AStrangerIsRefused) {
  std::promise<std::string> address;
  std::promise<void> seen;
  const auto told = seen.get_future().share();
  std::thread stranger([&] {
    const std::string found = address.get_future().get();
    for (const std::string& token : {std::string(), std::string(32, 'x')}) {
      dist::PeersConfig config;
      config.token = token;
      EXPECT_EQ(test::attempt([&] { test::meet(found, config); }).status, Status::kAuth);
    }
    seen.set_value();
  });
  expect_good(run(folders_of({{0, 1}, {2, 3}}), [&](Member& member) {
    if (member.processes.process() == 0) {
      const size_t at = member.said.find("serves them at ") + 15;
      address.set_value(member.said.substr(at, member.said.find(';', at) - at));
    }
    told.wait();
    expect_same_batches(member);
  }));
  stranger.join();
}

}  // namespace
}  // namespace gnnmg
