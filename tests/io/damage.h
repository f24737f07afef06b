// Broken input in every form that a test of a reader needs.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <random>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "base/error.h"
#include "io/bytes.h"

namespace gnnmg::test {

using Bytes = std::span<const uint8_t>;

// The Error that `call` throws; without one a test failure and an empty Error.
base::Error error_of(const std::function<void()>& call);

// Expects `call` to throw an Error of this status whose text has `part` in it and is one line.
void expect_error(base::Status status, std::string_view part, const std::function<void()>& call);

// Calls `read` with every proper prefix of `bytes`; each must be refused as kFormat, kChecksum or a
// status in `also`.
void expect_no_beginning(std::string_view bytes, const std::function<void(Bytes)>& read,
                         base::Status also = base::Status::kFormat);

// Calls `read` with each byte of [begin, end) flipped in turn: lowest bit, highest bit, all bits.
// It must succeed or throw an Error. Returns the number of errors.
int64_t flip_each_byte(std::string_view bytes, size_t begin, size_t end,
                       const std::function<void(Bytes)>& read);

// Changes `count` single bits at places that the seed selects.
int64_t flip_some_bits(std::string_view bytes, size_t begin, size_t end, int64_t count,
                       uint64_t seed, const std::function<void(Bytes)>& read);

}  // namespace gnnmg::test
