// Replaces libFuzzer for compilers without it: calls a fuzz target with every file of a corpus,
// with the file cut at many lengths and with many of its bytes changed.
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

namespace {

using Clock = std::chrono::steady_clock;
constexpr size_t kCuts = 300;  // lengths and bytes tried per file, evenly spread in larger ones
constexpr auto kLimit = std::chrono::seconds(5);       // per input
constexpr auto kDamageTime = std::chrono::seconds(2);  // all damage to one file

int64_t runs = 0;

// The bytes are in memory of exactly their size, so that a sanitizer detects a read beyond the end.
void run(const std::vector<uint8_t>& bytes) {
  const std::vector<uint8_t> exact(bytes);
  const auto begin = Clock::now();
  LLVMFuzzerTestOneInput(exact.data(), exact.size());
  ++runs;
  if (Clock::now() - begin > kLimit) throw std::runtime_error("took more than 5 s");
}

void replay(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  const std::vector<uint8_t> bytes{std::istreambuf_iterator<char>(in), {}};
  run(bytes);
  const auto begin = Clock::now();
  const size_t step = bytes.size() / kCuts + 1;
  for (size_t at = 0; at < bytes.size() && Clock::now() - begin < kDamageTime; at += step) {
    run({bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(at)});
    std::vector<uint8_t> damaged = bytes;
    for (const int value : {0x00, 0xff, bytes[at] ^ 0x01, bytes[at] ^ 0x80}) {
      damaged[at] = static_cast<uint8_t>(value);
      run(damaged);
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  int64_t files = 0;
  std::filesystem::path current;
  try {
    for (int i = 1; i < argc; ++i)
      for (const auto& entry : std::filesystem::recursive_directory_iterator(argv[i]))
        if (entry.is_regular_file()) {
          current = entry.path();
          replay(current);
          ++files;
        }
  } catch (const std::exception& error) {
    std::printf("%s: %s\n", current.c_str(), error.what());
    return 1;
  }
  std::printf("%lld files, %lld inputs\n", static_cast<long long>(files),
              static_cast<long long>(runs));
  return files == 0;
}
