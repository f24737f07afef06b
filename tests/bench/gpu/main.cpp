// The library's side of the benchmarks on a GPU (gpu.py requests them in turns with a peer's side).
//
//   bench_gpu serve [<nodes> <mini-batch> <hidden>]   answers each line of its input, a task of
//       tasks.h or one of these, by a line of JSON:
//         info              describes the device
//         blocks <folder> <mini-batches>    writes the blocks of mini-batches for peers
//         forget            frees the tasks' data
#include <cstdio>
#include <iostream>
#include <sstream>

#include "base/error.h"
#include "bench/gpu/tasks.h"

namespace gnnmg::bench {

std::string json_of(const Timing& timing) {
  std::ostringstream text;
  text << "\"device\": " << timing.device << ", \"wall\": " << timing.wall
       << ", \"steady\": " << (timing.steady ? "true" : "false");
  return text.str();
}

namespace {

Tasks make_tasks(const World& world) {
  Tasks tasks;
  add_sampling_tasks(tasks, world);
  add_row_tasks(tasks, world);
  add_layer_tasks(tasks, world);
  add_epoch_tasks(tasks, world);
  tasks["info"] = [&world](const Words&) {
    const device::Info info = gpu_table().info(0);
    return base::text(
        "\"name\": \"", info.name, "\", \"measurement\": ", is_measurement(),
        ", \"capability\": \"", info.major, ".", info.minor,
        "\", \"multiprocessors\": ", info.multiprocessors, ", \"memory\": ", info.total_memory,
        ", \"driver\": ", info.driver_version, ", \"runtime\": ", info.runtime_version,
        ", \"nodes\": ", world.size.num_nodes, ", \"edges\": ", world.graph->num_edges(),
        ", \"mini_batches\": ", world.num_batches());
  };
  tasks["blocks"] = [&world](const Words& words) {
    world.export_blocks(words.at(1), std::stoll(words.at(2)));
    return std::string("\"written\": 1");
  };
  return tasks;
}

int serve(int argc, char** argv) {
  if (argc != 2 && argc != 5) {
    std::fprintf(stderr, "usage: bench_gpu serve [<nodes> <mini-batch> <hidden>]\n");
    return 2;
  }
  gpu_table();  // must precede any use of LibTorch
  Size size;
  if (argc == 5) {
    size.num_nodes = std::stoll(argv[2]);
    size.batch_size = std::stoll(argv[3]);
    size.hidden = std::stoll(argv[4]);
  }
  const World world(size);
  Tasks tasks = make_tasks(world);
  for (std::string line; std::getline(std::cin, line);) {
    std::istringstream from(line);
    Words words;
    for (std::string word; from >> word;) words.push_back(word);
    if (words.empty()) continue;
    std::string answer;
    if (words[0] == "forget") {
      tasks = make_tasks(world);
      answer = "\"forgotten\": 1";
    } else if (const auto task = tasks.find(words[0]); task != tasks.end()) {
      try {
        answer = task->second(words);
      } catch (const std::exception& error) {
        std::string text = error.what();
        for (char& c : text)
          if (c == '"' || c == '\\' || static_cast<unsigned char>(c) < ' ') c = '\'';
        answer = "\"failed\": \"" + text + "\"";
      }
    } else {
      answer = "\"failed\": \"no such task\"";
    }
    std::printf("{%s}\n", answer.c_str());
    std::fflush(stdout);
  }
  return 0;
}

}  // namespace
}  // namespace gnnmg::bench

int main(int argc, char** argv) {
  try {
    return argc > 1 && std::string(argv[1]) == "serve" ? gnnmg::bench::serve(argc, argv)
                                                       : gnnmg::bench::serve(1, argv);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "bench_gpu: %s\n", error.what());
    return 1;
  }
}
