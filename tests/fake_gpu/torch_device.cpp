// LibTorch's side of fake devices: memory, guards, and every operator, which the CPU executes.
#include <ATen/EmptyTensor.h>
#include <ATen/core/LegacyTypeDispatch.h>
#include <ATen/core/Tensor.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/detail/PrivateUse1HooksInterface.h>
#include <ATen/ops/_reshape_alias_native.h>
#include <ATen/ops/as_strided_native.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/from_blob.h>
#include <ATen/ops/unfold_native.h>
#include <ATen/ops/view_native.h>
#include <c10/core/Allocator.h>
#include <c10/core/impl/DeviceGuardImplInterface.h>
#include <c10/util/Exception.h>
#include <torch/library.h>

#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "fake_queue.h"

namespace gnnmg::fake_gpu {
namespace {

constexpr auto kType = c10::DeviceType::PrivateUse1;

thread_local int current = 0;

at::Device device_at(int index) { return {kType, static_cast<c10::DeviceIndex>(index)}; }

// Rethrows the library's errors as LibTorch's.
template <typename F>
auto as_torch(const F& f) {
  try {
    return f();
  } catch (const base::Error& error) {
    TORCH_CHECK_WITH(OutOfMemoryError, error.status() != base::Status::kNoMemory, error.what());
    TORCH_CHECK(false, error.what());
  }
}

struct Guard final : c10::impl::DeviceGuardImplInterface {
  c10::DeviceType type() const override { return kType; }
  c10::Device exchangeDevice(c10::Device device) const override {
    const at::Device before = device_at(current);
    current = device.index();
    return before;
  }
  c10::Device getDevice() const override { return device_at(current); }
  void setDevice(c10::Device device) const override { current = device.index(); }
  void uncheckedSetDevice(c10::Device device) const noexcept override { current = device.index(); }
  c10::Stream getStream(c10::Device device) const override {
    return c10::Stream(c10::Stream::DEFAULT, device);
  }
  c10::Stream getDefaultStream(c10::Device device) const override {
    return c10::Stream(c10::Stream::DEFAULT, device);
  }
  c10::Stream exchangeStream(c10::Stream stream) const override {
    return c10::Stream(c10::Stream::DEFAULT, stream.device());
  }
  c10::DeviceIndex deviceCount() const noexcept override { return kMostDevices; }
  // All work is done at once.
  void record(void** event, const c10::Stream&, const c10::DeviceIndex,
              const c10::EventFlag) const override {
    *event = this_event();
  }
  void block(void*, const c10::Stream&) const override {}
  bool queryEvent(void*) const override { return true; }
  bool queryStream(const c10::Stream&) const override { return true; }
  void synchronizeStream(const c10::Stream&) const override {}
  void synchronizeEvent(void*) const override {}
  void synchronizeDevice(const c10::DeviceIndex) const override {}

 private:
  static void* this_event() {
    static int event = 0;
    return &event;
  }
};
C10_REGISTER_GUARD_IMPL(PrivateUse1, Guard)

struct Hooks final : at::PrivateUse1HooksInterface {
  bool isBuilt() const override { return true; }
  bool isAvailable() const override { return true; }
  bool hasPrimaryContext(c10::DeviceIndex) const override { return true; }
  c10::DeviceIndex deviceCount() const override { return kMostDevices; }
  c10::DeviceIndex getCurrentDevice() const override {
    return static_cast<c10::DeviceIndex>(current);
  }
  void setCurrentDevice(c10::DeviceIndex device) const override { current = device; }
  c10::DeviceIndex exchangeDevice(c10::DeviceIndex device) const override {
    return static_cast<c10::DeviceIndex>(std::exchange(current, device));
  }
  c10::DeviceIndex maybeExchangeDevice(c10::DeviceIndex device) const override {
    return exchangeDevice(device);
  }
  // Host memory, pinned or not, belongs to device 0, as CUDA reports for pinned memory.
  at::Device getDeviceFromPtr(void* data) const override {
    return device_at(std::max(0, device_of(data)));
  }
};

struct Allocator final : c10::Allocator {
  static void give_back(void* memory) {
    if (memory) arena(device_of(memory)).release(memory);
  }
  c10::DataPtr allocate(size_t bytes) override {
    const at::Device device = device_at(current);
    if (bytes == 0) return {nullptr, nullptr, &give_back, device};
    void* memory =
        as_torch([&] { return arena(current).allocate(static_cast<int64_t>(bytes), "a tensor"); });
    return {memory, memory, &give_back, device};
  }
  c10::DeleterFnPtr raw_deleter() const override { return &give_back; }
  void copy_data(void* to, const void* from, size_t bytes) const override {
    FakeQueue(device_of(to)).copy(to, from, static_cast<int64_t>(bytes));
  }
};
Allocator allocator;

bool on_device(const at::Tensor& t) { return t.defined() && t.device().type() == kType; }

// Returns a CPU tensor over the same elements; the device works meanwhile.
at::Tensor as_cpu(const at::Tensor& t) {
  if (!on_device(t)) return t;
  return at::for_blob(const_cast<void*>(t.const_data_ptr()), t.sizes())
      .strides(t.strides())
      .options(at::TensorOptions(t.scalar_type()))
      .make_tensor();
}

at::Tensor empty(c10::IntArrayRef sizes, std::optional<at::ScalarType> type,
                 std::optional<at::Layout>, std::optional<at::Device> device, std::optional<bool>,
                 std::optional<at::MemoryFormat> format) {
  const c10::DeviceGuard guard(device && device->has_index() ? *device : device_at(current));
  return at::detail::empty_generic(sizes, &allocator,
                                   c10::DispatchKeySet(c10::DispatchKey::PrivateUse1),
                                   type.value_or(at::kFloat), format);
}

at::Tensor empty_strided(c10::IntArrayRef sizes, c10::IntArrayRef strides,
                         std::optional<at::ScalarType> type, std::optional<at::Layout>,
                         std::optional<at::Device> device, std::optional<bool>) {
  const c10::DeviceGuard guard(device && device->has_index() ? *device : device_at(current));
  return at::detail::empty_strided_generic(sizes, strides, &allocator,
                                           c10::DispatchKeySet(c10::DispatchKey::PrivateUse1),
                                           type.value_or(at::kFloat));
}

// The devices of an operator's tensors while it runs.
class Devices {
 public:
  ~Devices() {
    for (int device = 0; device < kMostDevices; ++device)
      if (open_[device]) arena(device).close();
  }
  void open(const at::Tensor& t) {
    if (!on_device(t)) return;
    const int device = t.device().index();
    if (std::exchange(open_[device], true)) return;
    arena(device).open();
    as_torch([&] { arena(device).check(); });
  }

 private:
  bool open_[kMostDevices] = {};
};

void before_launch_on(const at::Tensor& t) {
  if (on_device(t)) before_launch(t.device().index(), nullptr);
}

at::Tensor copy_from(const at::Tensor& from, const at::Tensor& to, bool) {
  before_launch_on(from);
  before_launch_on(to);
  const at::AutoDispatchBelowAutograd below;
  const auto copy = [from, to] {
    Devices devices;
    devices.open(from);
    devices.open(to);
    as_cpu(to).copy_(as_cpu(from));
  };
  for (const at::Tensor* t : {&from, &to}) {
    if (!on_device(*t)) continue;
    const Arena& own = arena(t->device().index());
    if (!on_device(from)) arena(to.device().index()).copied_to().add(to.nbytes());
    if (!on_device(to)) arena(from.device().index()).copied_from().add(to.nbytes());
    // LibTorch waits for copies from and to the host.
    if (!on_device(from) || !on_device(to))
      as_torch([&] { own.check_waits("a copy of LibTorch's"); });
    if (own.recording() && t == &to) own.recording()->add(copy);
  }
  copy();
  return to;
}

at::Tensor copy_from_and_resize(const at::Tensor& from, const at::Tensor& to) {
  TORCH_CHECK(from.sizes() == to.sizes(), "fake GPU: a copy would have to resize");
  return copy_from(from, to, false);
}

at::Scalar local_scalar(const at::Tensor& t) {
  before_launch_on(t);
  as_torch([&] { arena(t.device().index()).check_waits("item()"); });
  const at::AutoDispatchBelowAutograd below;
  Devices devices;
  devices.open(t);
  return as_cpu(t).item();
}

const at::Tensor& resize(const at::Tensor& t, c10::IntArrayRef sizes,
                         std::optional<at::MemoryFormat>) {
  const c10::DeviceGuard guard(t.device());
  auto* impl = t.unsafeGetTensorImpl();
  impl->set_sizes_contiguous(sizes);
  const size_t bytes =
      (static_cast<size_t>(t.numel()) + static_cast<size_t>(t.storage_offset())) * t.itemsize();
  if (bytes > t.storage().nbytes()) {
    t.storage().set_data_ptr_noswap(allocator.allocate(bytes));
    t.storage().set_nbytes(bytes);
  }
  return t;
}

// An operator's arguments as CPU tensors.
class Call {
 public:
  explicit Call(const c10::OperatorHandle& op) : op_(op) {}

  c10::IValue argument(const c10::IValue& value, const c10::Argument& what) {
    const bool written = what.alias_info() && what.alias_info()->isWrite();
    if (value.isTensor()) return given(value.toTensor(), written);
    if (value.isTensorList()) {
      c10::List<at::Tensor> list;
      for (const at::Tensor& t : value.toTensorVector()) list.push_back(given(t));
      return list;
    }
    if (value.isOptionalTensorList()) {
      c10::List<std::optional<at::Tensor>> list;
      for (const std::optional<at::Tensor>& t : value.toOptionalTensorList().vec())
        list.push_back(t ? std::optional(given(*t)) : std::nullopt);
      return list;
    }
    if (value.isDevice() && value.toDevice().type() == kType) {
      device_ = value.toDevice().has_index() ? value.toDevice() : device_at(current);
      return at::Device(at::kCPU);
    }
    return value;
  }

  void check() const {
    TORCH_CHECK(!cpu_ || !device_, "fake GPU: ", op_.schema().operator_name(),
                " mixes tensors of the CPU, one of ", cpu_dims_, " dimensions, with those of ",
                device_ ? device_->str() : "");
  }

  // Returns the CPU's result on the device.
  c10::IValue result(const c10::IValue& value, const c10::Argument& what) {
    const bool written = what.alias_info() && what.alias_info()->isWrite();
    TORCH_CHECK(!what.alias_info() || written, "fake GPU: ", op_.schema().operator_name(),
                " makes a view, which has to be registered");
    if (value.isTensor()) return made(value.toTensor(), written);
    if (value.isTensorList()) {
      c10::List<at::Tensor> list;
      for (const at::Tensor& t : value.toTensorVector()) list.push_back(made(t, written));
      return list;
    }
    return value;
  }

  // The recording of the operator's device.
  Recording* recording() const { return device_ ? arena(device_->index()).recording() : nullptr; }
  // Copies the CPU's result into an earlier result.
  void fill(const c10::IValue& into, const c10::IValue& value) {
    if (value.isTensorList()) {
      const std::vector<at::Tensor> all = into.toTensorVector(), values = value.toTensorVector();
      for (size_t i = 0; i < all.size(); ++i) fill(all[i], values[i]);
    } else if (value.isTensor() && value.toTensor().defined()) {
      const at::Tensor own = into.toTensor(), from = value.toTensor();
      if (on_device(own) && from.data_ptr() != own.data_ptr()) {
        devices_.open(own);
        as_cpu(own).copy_(from);
      }
    }
  }

 private:
  at::Tensor given(const at::Tensor& t, bool written = false) {
    if (!t.defined()) return t;
    if (!on_device(t)) {
      if (t.dim() > 0) {
        cpu_ = true;
        cpu_dims_ = t.dim();
      }
      return t;
    }
    TORCH_CHECK(!device_ || *device_ == t.device(), "fake GPU: ", op_.schema().operator_name(),
                " mixes tensors of ", device_->str(), " and ", t.device().str());
    device_ = t.device();
    devices_.open(t);
    // An empty tensor may be passed for a result whose size the operator determines.
    seen_.emplace_back(written && t.numel() == 0
                           ? at::empty(t.sizes(), at::TensorOptions(t.scalar_type()))
                           : as_cpu(t),
                       t);
    return seen_.back().first;
  }
  at::Tensor made(const at::Tensor& t, bool written) {
    if (!t.defined()) return t;
    if (written)
      for (const auto& [cpu, own] : seen_) {
        if (!cpu.is_same(t)) continue;
        if (own.sizes() == cpu.sizes()) return own;
        resize(own, cpu.sizes(), {});
        as_cpu(own).copy_(cpu);
        return own;
      }
    TORCH_CHECK(!written, "fake GPU: ", op_.schema().operator_name(), " lost what it wrote");
    at::Tensor own = empty_strided(t.sizes(), t.strides(), t.scalar_type(), {}, device_, {});
    devices_.open(own);
    as_cpu(own).copy_(t);
    return own;
  }

  const c10::OperatorHandle& op_;
  std::optional<at::Device> device_;
  bool cpu_ = false;
  int64_t cpu_dims_ = 0;
  std::vector<std::pair<at::Tensor, at::Tensor>> seen_;  // CPU tensors and the originals
  Devices devices_;
};

// Runs an operator again on the same tensors, into its earlier results.
void again(const c10::OperatorHandle& op, const torch::jit::Stack& given,
           const torch::jit::Stack& made) {
  const at::AutoDispatchBelowAutograd below;
  Call call(op);
  torch::jit::Stack stack;
  for (size_t i = 0; i < given.size(); ++i)
    stack.push_back(call.argument(given[i], op.schema().arguments()[i]));
  op.callBoxed(&stack);
  for (size_t i = 0; i < made.size(); ++i) call.fill(made[i], stack[i]);
}

void on_cpu(const c10::OperatorHandle& op, torch::jit::Stack* stack) {
  const at::AutoDispatchBelowAutograd below;
  const size_t count = op.schema().arguments().size();
  const size_t first = stack->size() - count;
  const torch::jit::Stack given(stack->begin() + static_cast<std::ptrdiff_t>(first), stack->end());
  for (const c10::IValue& value : given) {
    if (value.isTensor()) before_launch_on(value.toTensor());
    if (value.isTensorList())
      for (const at::Tensor& t : value.toTensorVector()) before_launch_on(t);
  }
  Call call(op);
  for (size_t i = first; i < stack->size(); ++i)
    (*stack)[i] = call.argument((*stack)[i], op.schema().arguments()[i - first]);
  call.check();
  op.callBoxed(stack);
  const auto& returns = op.schema().returns();
  const size_t begin = stack->size() - returns.size();
  for (size_t i = 0; i < returns.size(); ++i)
    (*stack)[begin + i] = call.result((*stack)[begin + i], returns[i]);
  if (Recording* recording = call.recording())
    recording->add([op, given,
                    made = torch::jit::Stack(stack->begin() + static_cast<std::ptrdiff_t>(begin),
                                             stack->end())] { again(op, given, made); });
}

TORCH_LIBRARY_IMPL(_, PrivateUse1, library) {
  library.fallback(torch::CppFunction::makeFromBoxedFunction<&on_cpu>());
}

TORCH_LIBRARY_IMPL(aten, PrivateUse1, library) {
  library.impl("empty.memory_format", empty);
  library.impl("empty_strided", empty_strided);
  library.impl("as_strided", at::native::as_strided_tensorimpl);
  library.impl("unfold", at::native::unfold);
  library.impl("view", at::native::view);
  library.impl("_reshape_alias", at::native::_reshape_alias);
  library.impl("resize_", resize);
  library.impl("_copy_from", copy_from);
  library.impl("_copy_from_and_resize", copy_from_and_resize);
  library.impl("_local_scalar_dense", local_scalar);
}

[[maybe_unused]] const bool registered = [] {
  c10::SetAllocator(kType, &allocator);
  c10::register_privateuse1_backend("fake");
  at::RegisterPrivateUse1HooksInterface(new Hooks);  // LibTorch keeps it
  return true;
}();

}  // namespace

void set_torch_device(int device) noexcept { current = device; }

}  // namespace gnnmg::fake_gpu
