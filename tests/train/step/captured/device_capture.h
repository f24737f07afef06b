// Fixtures for tests of captured steps.
#pragma once

#include <utility>
#include <vector>

#include "train/device_fixture.h"

namespace gnnmg::test {

inline Recipe with(train::Capture capture, Recipe setup) {
  setup.trainer.capture = capture;
  return setup;
}
inline Recipe captured(Recipe setup) { return with(train::Capture::kOn, std::move(setup)); }
// The same steps without a CUDA graph.
inline Recipe uncaptured(Recipe setup) { return with(train::Capture::kOff, std::move(setup)); }
// No CUDA graph, no padding.
inline Recipe unpadded(Recipe setup) { return with(train::Capture::kUnpadded, std::move(setup)); }

// The device table with a `capture` that fails.
inline device::Table refusing(const Gpus& gpus) {
  device::Table table = gpus.table();
  table.capture = [](device::Queue*, void (*)(void*), void*) -> device::Graph* {
    base::fail(base::Status::kUnsupported, "this driver keeps nothing");
  };
  return table;
}

// Appends the reports of later epochs to the list.
inline void collect(Trial& run, std::vector<train::EpochReport>& reports) {
  run->set_epoch_function([&](const train::EpochReport& report) {
    reports.push_back(report);
    return 0;
  });
}

inline std::vector<double> after(const Recipe& setup, const Gpus& gpus,
                                 const device::Table& table) {
  Host host;
  host.devices = &table;
  Trial run(gpus.train(setup), host);
  run.train();
  return run.weights();
}

}  // namespace gnnmg::test
