// The parts of each process and their sources, as processes conclude from their offers.
#include "server/offers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"

namespace gnnmg::server {
namespace {

using base::Status;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Pair;

using PartLists = std::vector<std::vector<int32_t>>;

Offer offer_of(std::vector<int32_t> parts, Reading reading = Reading::kAuto) {
  Offer offer;
  offer.hello = {"0.1.0", 17, 4, std::move(parts), {{"edges", "12"}}};
  offer.reading = reading;
  offer.name = std::string("a\0b", 3);
  return offer;
}

std::vector<std::string> names(size_t count) {
  std::vector<std::string> all;
  for (size_t p = 0; p < count; ++p) all.push_back(base::text("process ", p));
  return all;
}

Arrangement arranged(const PartLists& parts, Reading reading = Reading::kAuto) {
  std::vector<Offer> offers;
  for (const auto& list : parts) offers.push_back(offer_of(list, reading));
  return arrange(offers, names(offers.size()));
}

std::pair<Status, std::string> failure(const std::function<void()>& call) {
  try {
    call();
  } catch (const base::Error& error) {
    return {error.status(), error.what()};
  }
  return {Status::kOk, ""};
}

const std::vector<int32_t> kAll = {0, 1, 2, 3};

TEST(Offers, TravelAsTheyAre) {
  const Offer found = unpack_offer(pack_offer(offer_of({1, 3}, Reading::kAsked)));
  EXPECT_THAT(found.hello.parts, ElementsAre(1, 3));
  EXPECT_EQ(found.hello.num_parts, 4);
  EXPECT_EQ(found.hello.facts, offer_of({}).hello.facts);
  EXPECT_EQ(found.reading, Reading::kAsked);
  EXPECT_EQ(found.name, offer_of({}).name);
  for (const size_t cut : {0, 5, 60})
    EXPECT_EQ(failure([&] { unpack_offer(pack_offer(offer_of({0})).substr(0, cut)); }).first,
              Status::kProtocol);
}

TEST(Offers, AFolderThatAllShareIsReadByAll) {
  for (const Reading reading : {Reading::kAuto, Reading::kShared}) {
    const Arrangement made = arranged({kAll, kAll, kAll}, reading);
    EXPECT_TRUE(made.shared);
    EXPECT_THAT(made.parts, ElementsAre(ElementsAre(0, 3), ElementsAre(1), ElementsAre(2)));
    EXPECT_THAT(made.process_of_part, ElementsAre(0, 1, 2, 0));
  }
}

TEST(Offers, ProcessesThatMeanToAskDivideASharedFolder) {
  const Arrangement made = arranged({kAll, kAll}, Reading::kAsked);
  EXPECT_FALSE(made.shared);
  EXPECT_THAT(made.parts, ElementsAre(ElementsAre(0, 2), ElementsAre(1, 3)));
}

TEST(Offers, ProcessesOfOneMachineDivideItsPartsIfTheyMeanToAsk) {
  const PartLists found = {{0, 2, 3}, {1}, {0, 2, 3}, {}, {}};
  EXPECT_EQ(arranged(found).parts, found);
  const Arrangement made = arranged(found, Reading::kAsked);
  EXPECT_THAT(made.parts,
              ElementsAre(ElementsAre(0, 3), ElementsAre(1), ElementsAre(2), IsEmpty(), IsEmpty()));
  EXPECT_THAT(made.process_of_part, ElementsAre(0, 1, 2, 0));
}

TEST(Offers, EachHasWhatItFinds) {
  const Arrangement made = arranged({{2, 3}, {}, {0, 1}});
  EXPECT_FALSE(made.shared);
  EXPECT_THAT(made.parts, ElementsAre(ElementsAre(2, 3), IsEmpty(), ElementsAre(0, 1)));
  EXPECT_THAT(made.process_of_part, ElementsAre(2, 2, 0, 0));
}

TEST(Offers, AReplicaGoesToWhoHasLess) {
  const Arrangement made = arranged({kAll, {1, 2}});
  EXPECT_THAT(made.parts, ElementsAre(kAll, ElementsAre(1, 2)));
  EXPECT_THAT(made.process_of_part, ElementsAre(0, 1, 0, 0));
}

TEST(Offers, PartsThatAreNowhereAreNamed) {
  EXPECT_THAT(failure([] { arranged({{0}, {0, 2}}); }),
              Pair(Status::kMismatch, AllOf(HasSubstr("parts 1, 3 of 4 are at no process"),
                                            HasSubstr("process 0 has part 0"),
                                            HasSubstr("process 1 has parts 0, 2"))));
  EXPECT_THAT(failure([] { arranged({{0, 1, 2}, {}}); }),
              Pair(Status::kMismatch, AllOf(HasSubstr("part 3 of 4 is at no process"),
                                            HasSubstr("process 1 has no part"))));
}

TEST(Offers, ASharedFolderHasAllParts) {
  EXPECT_THAT(failure([] { arranged({kAll, {0, 1, 3}}, Reading::kShared); }),
              Pair(Status::kMismatch, HasSubstr("process 1 does not find part 2 of 4")));
}

TEST(Offers, DifferencesAreNamed) {
  std::vector<Offer> offers = {offer_of(kAll), offer_of(kAll)};
  offers[1].hello.facts[0].second = "13";
  EXPECT_THAT(failure([&] { arrange(offers, names(2)); }),
              Pair(Status::kMismatch,
                   HasSubstr("the fact 'edges' is 12 at process 0 and 13 at process 1")));
  offers = {offer_of(kAll), offer_of(kAll, Reading::kAsked)};
  EXPECT_THAT(
      failure([&] { arrange(offers, names(2)); }),
      Pair(Status::kMismatch, HasSubstr("'reading' is auto at process 0 and asked at process 1")));
}

}  // namespace
}  // namespace gnnmg::server
