#include "io/damage.h"

namespace gnnmg::test {
namespace {

using base::Error;
using base::Status;

// True if `read` throws an Error for these bytes, in a buffer of exactly their size.
bool refuses(const std::string& bytes, const std::function<void(Bytes)>& read) {
  const std::vector<uint8_t> exact(bytes.begin(), bytes.end());
  try {
    read(exact);
    return false;
  } catch (const Error& error) {
    EXPECT_EQ(std::string_view(error.what()).find('\n'), std::string_view::npos) << error.what();
    EXPECT_NE(error.status(), Status::kInternal) << error.what();
    return true;
  }
}

}  // namespace

Error error_of(const std::function<void()>& call) {
  try {
    call();
  } catch (const Error& error) {
    return error;
  }
  ADD_FAILURE() << "no error was thrown";
  return Error(Status::kOk, "");
}

void expect_error(Status status, std::string_view part, const std::function<void()>& call) {
  const Error error = error_of(call);
  EXPECT_EQ(error.status(), status) << error.what();
  EXPECT_NE(std::string_view(error.what()).find(part), std::string_view::npos)
      << "found \"" << error.what() << "\", expected \"" << part << "\" in it";
  EXPECT_EQ(std::string_view(error.what()).find('\n'), std::string_view::npos) << error.what();
}

void expect_no_beginning(std::string_view bytes, const std::function<void(Bytes)>& read,
                         Status also) {
  for (size_t size = 0; size < bytes.size(); ++size) {
    const std::vector<uint8_t> cut(bytes.begin(), bytes.begin() + static_cast<ptrdiff_t>(size));
    try {
      read(cut);
      ADD_FAILURE() << "the first " << size << " of " << bytes.size() << " bytes were accepted";
    } catch (const Error& error) {
      EXPECT_TRUE(error.status() == Status::kFormat || error.status() == Status::kChecksum ||
                  error.status() == also)
          << size << " bytes: " << error.what();
    }
  }
}

int64_t flip_each_byte(std::string_view bytes, size_t begin, size_t end,
                       const std::function<void(Bytes)>& read) {
  int64_t errors = 0;
  for (size_t at = begin; at < end; ++at) {
    for (const int mask : {0x01, 0x80, 0xff}) {
      std::string damaged(bytes);
      damaged[at] = static_cast<char>(damaged[at] ^ mask);
      errors += refuses(damaged, read);
    }
  }
  return errors;
}

int64_t flip_some_bits(std::string_view bytes, size_t begin, size_t end, int64_t count,
                       uint64_t seed, const std::function<void(Bytes)>& read) {
  std::mt19937_64 random(seed);
  int64_t errors = 0;
  for (int64_t i = 0; i < count; ++i) {
    const uint64_t draw = random();
    std::string damaged(bytes);
    char& byte = damaged[begin + draw / 8 % (end - begin)];
    byte = static_cast<char>(byte ^ 1 << draw % 8);
    errors += refuses(damaged, read);
  }
  return errors;
}

}  // namespace gnnmg::test
