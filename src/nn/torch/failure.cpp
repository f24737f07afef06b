#include "nn/torch/failure.h"

#include <c10/util/Exception.h>

#include <algorithm>
#include <string>
#include <string_view>

namespace gnnmg::nn {
namespace {

// cudaErrorMemoryAllocation, the same number in all versions of CUDA.
constexpr int32_t kCudaHasNoMemory = 2;

bool has(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

// True for the error of cuBLAS on a full GPU: it makes its handle at first use, and if that fails
// it reports that it is not initialized.
bool library_has_no_memory(std::string_view text) {
  return has(text, "_STATUS_ALLOC_FAILED") ||
         (has(text, "_STATUS_NOT_INITIALIZED") && has(text, "Create("));
}

// " of 4096 bytes", from "... you tried to allocate 4096 bytes. ..."; else empty.
std::string bytes_in(std::string_view text) {
  constexpr std::string_view kBefore = "tried to allocate ", kAfter = " bytes";
  const size_t before = text.rfind(kBefore);
  if (before == std::string_view::npos) return {};
  text.remove_prefix(before + kBefore.size());
  const size_t digits = std::min(text.find_first_not_of("0123456789"), text.size());
  if (digits == 0 || !text.substr(digits).starts_with(kAfter)) return {};
  return base::text(" of ", text.substr(0, digits), kAfter);
}

}  // namespace

TorchFailure failure_of(const c10::Error& error) {
  const std::string_view all = error.what_without_backtrace();
  const std::string_view line = all.substr(0, all.find('\n'));
  const auto* const refused = dynamic_cast<const c10::AcceleratorError*>(&error);
  TorchFailure failure{base::Status::kInternal, base::text(line)};
  // LibTorch's allocator for main memory throws a plain error.
  if (has(line, "DefaultCPUAllocator")) {
    failure.status = base::Status::kNoMemory;
    failure.text = base::text("no memory for an array", bytes_in(line),
                              "; take a smaller model, smaller mini-batches or fewer ranks");
  } else if (dynamic_cast<const c10::OutOfMemoryError*>(&error)) {
    failure.status = base::Status::kNoMemory;
  } else if ((refused && refused->get_error_code() == kCudaHasNoMemory) ||
             library_has_no_memory(line)) {
    failure.status = base::Status::kNoMemory;
    failure.text +=
        ": the GPU has no memory for what CUDA's libraries take; end other programs on "
        "it, or take smaller mini-batches";
  }
  return failure;
}

}  // namespace gnnmg::nn
