// Converts between tensors of the crate tch, which are pointers to at::Tensor, and DLPack's, by
// functions of LibTorch that tch does not expose. Errors are returned as texts, NULL for none; free
// them with gnnmg_tch_free_text().

#include <ATen/DLConvertor.h>

#include <cstdlib>
#include <cstring>
#include <memory>

namespace {

template <typename Work>
char* guarded(Work&& work) {
  try {
    work();
    return nullptr;
  } catch (const c10::Error& error) {
    return strdup(error.what_without_backtrace());
  } catch (const std::exception& error) {
    return strdup(error.what());
  } catch (...) {
    return strdup("LibTorch has thrown something unknown");
  }
}

}  // namespace

extern "C" {

void gnnmg_tch_free_text(char* text) { std::free(text); }

// Makes a tensor in the memory of `source`, which is given up in any case.
char* gnnmg_tch_from_dlpack(DLManagedTensorVersioned* source, void** tensor) {
  // A shared pointer, as the function that keeps it has to be copied.
  std::shared_ptr<DLManagedTensorVersioned> kept;
  return guarded([&] {
    kept.reset(source, [](DLManagedTensorVersioned* last) {
      if (last->deleter != nullptr) last->deleter(last);
    });
    at::Tensor made = at::fromDLPackVersioned(source, [kept](void*) mutable { kept.reset(); });
    *tensor = new at::Tensor(std::move(made));
  });
}

// Lends the memory of a tensor, which is given up in any case, if nobody else has a part in it.
char* gnnmg_tch_to_dlpack(void* tensor, DLManagedTensorVersioned** target) {
  std::unique_ptr<at::Tensor> given(static_cast<at::Tensor*>(tensor));
  return guarded([&] {
    TORCH_CHECK(given->defined(), "the tensor is undefined");
    TORCH_CHECK(given->layout() == at::kStrided, "the tensor is of layout ", given->layout(),
                ", expected a dense one");
    TORCH_CHECK(!given->is_neg() && !given->is_conj(),
                "the tensor is a view that changes signs, expected one that is resolved");
    const at::Tensor plain = given->variable_data();  // drops the graph of gradients
    given.reset();
    TORCH_CHECK(plain.storage().use_count() == 1,
                "the tensor shares its memory with another one, which could change it: drop that "
                "one before, or give a copy()");
    *target = at::toDLPackVersioned(plain);
  });
}

}  // extern "C"
