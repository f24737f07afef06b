#include "server/options.h"

#include <getopt.h>

#include <algorithm>
#include <charconv>
#include <string_view>

#include "base/error.h"

namespace gnnmg::server {
namespace {

using base::fail;
using base::Status;

enum Option : int {
  kData = 1,
  kParts,
  kListen,
  kToken,
  kMetrics,
  kCertificate,
  kKey,
  kAuthority,
  kInsecure,
  kThreads,
  kDrain,
  kPatience,
  kHelp
};

constexpr option kOptions[] = {{"data", required_argument, nullptr, kData},
                               {"parts", required_argument, nullptr, kParts},
                               {"listen", required_argument, nullptr, kListen},
                               {"token-file", required_argument, nullptr, kToken},
                               {"metrics-file", required_argument, nullptr, kMetrics},
                               {"tls-cert", required_argument, nullptr, kCertificate},
                               {"tls-key", required_argument, nullptr, kKey},
                               {"tls-ca", required_argument, nullptr, kAuthority},
                               {"insecure", no_argument, nullptr, kInsecure},
                               {"threads", required_argument, nullptr, kThreads},
                               {"drain-seconds", required_argument, nullptr, kDrain},
                               {"patience-ms", required_argument, nullptr, kPatience},
                               {"help", no_argument, nullptr, kHelp},
                               {nullptr, 0, nullptr, 0}};

int32_t number(std::string_view text, const char* name, int32_t least) {
  int32_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || error != std::errc() || end != text.data() + text.size() || value < least)
    fail(Status::kInvalidArgument, "--", name, " is \"", text, "\", expected a number of ", least,
         " or more");
  return value;
}

std::vector<int32_t> numbers(std::string_view text) {
  std::vector<int32_t> list;
  for (size_t begin = 0; begin <= text.size();) {
    const size_t end = std::min(text.find(',', begin), text.size());
    list.push_back(number(text.substr(begin, end - begin), "parts", 0));
    begin = end + 1;
  }
  return list;
}

}  // namespace

const char* usage() noexcept {
  return "usage: gnnmg-server --data FOLDER [option...]\n"
         "\n"
         "Serves parts of a graph to trainers on other machines.\n"
         "\n"
         "  --data FOLDER          that the program partition or gnnmg_dataset_save_parts()\n"
         "                         wrote, or gnnmg_dataset_save(): part 0 of 1\n"
         "  --parts 0,1            parts to serve; all that are there unless given\n"
         "  --listen HOST:PORT     127.0.0.1:7300 unless given; port 0: a free one, which is "
         "printed\n"
         "  --token-file FILE      whoever asks must know it: 32 to 1024 bytes, mode 0600\n"
         "  --tls-cert FILE        certificate of this server, PEM\n"
         "  --tls-key FILE         its key\n"
         "  --tls-ca FILE          certificate that those of the clients are signed with\n"
         "  --insecure             listen without TLS also beyond this machine\n"
         "  --metrics-file FILE    written every 10 s, in the text format of Prometheus\n"
         "  --threads N            that answer; one a core unless given\n"
         "  --drain-seconds N      at SIGTERM or SIGINT, for questions under way; 30 unless given\n"
         "  --patience-ms N        for connections that send nothing, or slowly; 5000 unless "
         "given\n"
         "  --help\n";
}

Options read_options(int argc, char** argv) {
  Options options;
  options.server.address = "127.0.0.1:7300";
  optind = 1;
  opterr = 0;
  for (int found; (found = getopt_long(argc, argv, "", kOptions, nullptr)) != -1;) {
    const std::string value = optarg ? optarg : "";
    switch (found) {
      case kData:
        options.server.folder = value;
        break;
      case kParts:
        options.server.parts = numbers(value);
        break;
      case kListen:
        options.server.address = value;
        break;
      case kToken:
        options.server.token_file = value;
        break;
      case kMetrics:
        options.metrics_file = value;
        break;
      case kCertificate:
        options.server.tls.certificate = value;
        break;
      case kKey:
        options.server.tls.key = value;
        break;
      case kAuthority:
        options.server.tls.authority = value;
        break;
      case kInsecure:
        options.server.insecure = true;
        break;
      case kThreads:
        options.server.threads = number(value, "threads", 1);
        break;
      case kDrain:
        options.drain_ms = int64_t{1000} * number(value, "drain-seconds", 0);
        break;
      case kPatience:
        options.server.patience_ms = number(value, "patience-ms", 1);
        break;
      case kHelp:
        options.help = true;
        return options;
      default:
        fail(Status::kInvalidArgument, "\"", argv[optind - 1],
             "\" is no option, or lacks its value");
    }
  }
  if (optind < argc && options.server.folder.empty())
    fail(Status::kInvalidArgument, "\"", argv[optind], "\" is no option; for a folder say --data ",
         argv[optind]);
  if (optind < argc) fail(Status::kInvalidArgument, "\"", argv[optind], "\" is no option");
  if (options.server.folder.empty()) fail(Status::kInvalidArgument, "--data is missing");
  return options;
}

}  // namespace gnnmg::server
