// Bytes of a control connection: the handshake of both sides, then frames and their fields.
#include <cstdint>
#include <string>

#include "comm/join/handshake.h"

namespace {

using gnnmg::base::Error;

template <typename Body>
void refuse(Body body) {
  try {
    body();
  } catch (const Error&) {
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace gnnmg::comm;
  const std::string bytes(reinterpret_cast<const char*>(data), size);
  const std::string token = size % 2 ? std::string(32, 't') : "";
  refuse([&] {
    std::string out;
    FrameBuffer in(kStrangerLimit);
    in.append(bytes);
    ServerHandshake(token, out).advance(in, out);
  });
  refuse([&] {
    std::string out;
    FrameBuffer in(kStrangerLimit);
    in.append(bytes);
    ClientHandshake(token).advance(in, out);
  });
  refuse([&] {
    FrameBuffer in(kStrangerLimit);
    if (size % 3 == 0) in.expect_seal(Proof{});
    for (size_t i = 0; i < size; i += 11) {
      in.append(bytes.substr(i, 11));
      while (const auto frame = in.next()) {
        refuse([&] {
          FrameReader reader(frame->body);
          reader.u64();
          reader.text();
          reader.list();
          for (uint32_t n = reader.count(5); n > 0; --n) {
            reader.u8();
            reader.text();
          }
          reader.finish();
        });
      }
    }
  });
  return 0;
}
