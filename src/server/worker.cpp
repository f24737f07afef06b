#include "server/worker.h"

#include <algorithm>
#include <iterator>
#include <new>
#include <optional>
#include <system_error>
#include <thread>
#include <utility>

#include "base/error.h"
#include "base/thread_room.h"
#include "comm/join/control.h"
#include "comm/join/frame.h"
#include "comm/join/token.h"
#include "dist/host.h"
#include "dist/peers.h"
#include "server/job_server.h"

namespace gnnmg::server {
namespace {

using base::Status;

constexpr int32_t kMostThreads = 4;  // threads of the server; the process has other work
constexpr int64_t kMeetMs = 60'000;

std::string bracketed(const std::string& host) {
  return host.find(':') == host.npos ? host : base::text("[", host, "]");
}

class Opening {
 public:
  Opening(const WorkerConfig& config, const WorkerContext& context)
      : config_(config), context_(context), processes_(*context.processes) {
    for (int p = 0; p < processes_.num_processes(); ++p)
      names_.push_back(base::text("process ", p, " on host ", processes_.host(p)));
  }

  data::DatasetRef run() {
    std::vector<Offer> offers;
    for (const std::string& bytes : exchange("opening parts: what is here", [&] { return look(); }))
      offers.push_back(unpack_offer(bytes));
    made_ = arrange(offers, names_);
    if (!made_.shared) serve(offers[0].name);
    data::DatasetRef opened;
    exchange("opening parts: that they are open", [&] {
      opened = made_.shared ? open_shared() : open_asking();
      return std::string();
    });
    return opened;
  }

 private:
  int32_t self() const { return processes_.process(); }
  const std::vector<int32_t>& own() const { return made_.parts[self()]; }
  void say(const std::string& text) const {
    context_.log->add(base::LogLevel::kInfo, base::text(config_.folder, ": ", text));
  }

  // The results of all processes, process by process. Throws the error of a process.
  std::vector<std::string> exchange(const std::string& what,
                                    const std::function<std::string()>& work) const {
    std::optional<base::Error> obstacle;
    std::string words;
    try {
      words = work();
    } catch (const base::Error& error) {
      obstacle = error;
    } catch (const std::bad_alloc&) {
      obstacle.emplace(Status::kNoMemory, "out of memory");
    } catch (const std::system_error& error) {
      obstacle = base::refused_resource(error);
    }
    comm::FrameWriter out;
    out.i64(static_cast<int32_t>(obstacle ? obstacle->status() : Status::kOk));
    out.text(obstacle ? obstacle->what() : words);
    const auto all = processes_.gather(what, out.fields(), context_.wait());
    processes_.drain();  // the host may end the program because of an error
    if (obstacle) throw base::Error(*obstacle);
    std::vector<std::string> found;
    for (const std::string& bytes : all) {
      comm::FrameReader in(bytes);
      const auto process = static_cast<int>(found.size());
      const auto status = static_cast<Status>(in.i64());
      found.push_back(in.text());
      in.finish();
      if (status != Status::kOk)
        throw base::Error(status, base::text(names_[process], ": ", found.back()), process);
    }
    return found;
  }

  std::string look() {
    held_ = dist::hold_parts(config_.folder, context_.cancel);
    return pack_offer(
        {dist::hello_of(*held_), config_.reading, std::string(comm::bytes_of(comm::make_nonce()))});
  }

  // Serves the own parts, and learns where those of the others are served.
  void serve(const std::string& opening) {
    server_ = std::make_shared<JobServer>(processes_.control(), opening, context_.log,
                                          config_.serve_on_ms);
    addresses_ = exchange("opening parts: where they are served", [&] {
      const dist::Engine& engine = context_.engine();
      if (config_.tls.given()) engine.check_certificate(config_.tls, processes_.host(self()));
      return own().empty() ? std::string() : server_->start(engine, *held_, server_config());
    });
  }

  ServerConfig server_config() const {
    ServerConfig server;
    server.parts = own();
    server.address = base::text(bracketed(processes_.address()), ":", config_.port);
    server.tls = config_.tls;
    server.insecure = config_.insecure;
    server.threads =
        std::clamp(static_cast<int32_t>(std::thread::hardware_concurrency()), 1, kMostThreads);
    return server;
  }

  dist::PartDatasetConfig dataset_config() const {
    dist::PartDatasetConfig config;
    config.own = [this](int32_t) { return own(); };
    config.read_part = [this](int32_t part) { return held_->read(part); };
    config.asking = config_.asking;
    config.cache = config_.cache;
    config.process_of_part = made_.process_of_part;
    return config;
  }
  data::DatasetRef open(const std::shared_ptr<const data::parts::Source>& source,
                        const dist::PartDatasetConfig& config) const {
    return dist::open_part_dataset(source, config, {context_.pool, *context_.log, context_.cancel});
  }

  data::DatasetRef open_shared() const {
    say(base::text("each of ", names_.size(), " processes finds all parts and reads them from the ",
                   "folder; this one works on ", dist::parts_text(own())));
    dist::PartDatasetConfig config = dataset_config();
    config.open_channel = [&](const std::vector<int32_t>& others, uint64_t stamp) {
      return dist::make_part_channel(config.read_part, others, stamp);
    };
    return open(held_->source(), config);
  }

  data::DatasetRef open_asking() const {
    dist::PartDatasetConfig config = dataset_config();
    config.asking.keep = server_;
    std::vector<dist::Address> others = addresses_to_ask();
    std::shared_ptr<const data::parts::Source> source = held_->source();
    std::shared_ptr<dist::Peers> peers;
    if (!others.empty()) {
      peers = dist::Peers::meet(context_.engine(), others, peers_config(), *context_.log,
                                base::Deadline::after_ms(kMeetMs), context_.cancel);
      source = dist::source_of(source, dist::source_of(peers->files(), config_.folder));
    }
    config.open_channel = [&](const std::vector<int32_t>&, uint64_t) { return peers->channel(); };
    return open(source, config);
  }

  // Addresses of the processes that have parts which this one lacks.
  std::vector<dist::Address> addresses_to_ask() const {
    std::vector<dist::Address> found;
    std::string text = base::text("this process has ", dist::parts_text(own()));
    if (!own().empty()) text += base::text(" and serves them at ", addresses_[self()]);
    for (size_t p = 0; p < addresses_.size(); ++p) {
      std::vector<int32_t> wanted;
      std::ranges::set_difference(made_.parts[p], own(), std::back_inserter(wanted));
      if (wanted.empty()) continue;
      dist::Address address = dist::find_addresses(addresses_[p]).at(0);
      address.asked = names_[p];
      address.host = processes_.host(static_cast<int>(p));
      text += base::text("; it asks ", address.name(), " for ", dist::parts_text(wanted));
      found.push_back(std::move(address));
    }
    say(text);
    return found;
  }

  dist::PeersConfig peers_config() const {
    dist::PeersConfig config;
    config.token = token_of_job(*processes_.control());
    config.tls = config_.tls;
    config.insecure = config_.insecure;
    config.max_in_flight = config_.asking.max_in_flight;
    config.own = own();
    config.verdict = [job = processes_.control()] { return job->failure(); };
    return config;
  }

  const WorkerConfig& config_;
  const WorkerContext& context_;
  comm::Processes& processes_;
  std::vector<std::string> names_;  // texts for errors
  std::shared_ptr<const dist::HeldParts> held_;
  Arrangement made_;
  std::shared_ptr<JobServer> server_;
  std::vector<std::string> addresses_;  // servers; empty text: no parts
};

}  // namespace

data::DatasetRef open_worker_dataset(const WorkerConfig& config, const WorkerContext& context) {
  return Opening(config, context).run();
}

}  // namespace gnnmg::server
