// Processes of one training, started by a test.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "comm/children.h"
#include "comm/jobs.h"

namespace gnnmg::test {

class Team {
 public:
  // Starts a process of `ranks[p]` ranks for each p, all with `words` and one with `extra`.
  Team(const std::vector<std::string>& words, const std::vector<int>& ranks, int with_extra = -1,
       const std::vector<std::string>& extra = {}) {
    const int port = free_port();
    int first = 0;
    for (size_t p = 0; p < ranks.size(); ++p) {
      std::vector<std::string> all = words;
      for (const std::string& word :
           {base::text("port=", port), base::text("process=", p), base::text("of=", ranks.size()),
            base::text("ranks=", ranks[p]), base::text("first=", first)})
        all.push_back(word);
      first += ranks[p];
      if (static_cast<int>(p) == with_extra) all.insert(all.end(), extra.begin(), extra.end());
      members_.push_back(std::make_unique<Child>(GNNMG_TEST_TRAINER, all,
                                                 std::vector<std::string>(), Child::kFork));
    }
  }
  Child& operator[](int process) { return *members_[process]; }
  int size() const { return static_cast<int>(members_.size()); }

 private:
  std::vector<std::unique_ptr<Child>> members_;
};

// Expects that all processes succeeded and leaked nothing.
void expect_done(Team& team);
// The failure that a member reported, exactly once.
End end_of(const Child& member);
// First line that begins with `start`, or empty.
std::string line_of(const Child& member, const std::string& start);
std::vector<std::string> plus(std::vector<std::string> words, const std::vector<std::string>& more);
std::string read_all(const std::string& path);

// Weights of a training in this process alone, or of each of several real processes. Those must
// succeed with equal metrics after as many epochs and leak nothing. `trained` gets the line about
// the epochs.
std::vector<double> weights_of(std::vector<std::string> words, int ranks);
std::vector<std::vector<double>> weights_of_processes(const std::vector<std::string>& words,
                                                      const std::vector<int>& ranks,
                                                      std::string* trained = nullptr);

}  // namespace gnnmg::test
