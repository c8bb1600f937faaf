// The interface of kernels, and their registration.
#ifndef GRAPNEL_LIB_EXEC_KERNEL_H_
#define GRAPNEL_LIB_EXEC_KERNEL_H_

#include <atomic>
#include <deque>
#include <functional>
#include <initializer_list>
#include <memory>
#include <mutex>
#include <vector>

#include "lib/exec/device.h"
#include "lib/exec/tensor.h"
#include "lib/ir/node.h"
#include "lib/ir/op_table.h"
#include "lib/support/cancel.h"
#include "lib/support/error.h"
#include "lib/support/public.h"
#include "lib/support/thread_pool.h"
#include "llvm/ADT/FunctionExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringMap.h"

namespace grapnel {

class RunHook;      // lib/exec/executor.h
class RunProfiler;  // lib/exec/executor.h
class Session;      // lib/exec/session.h

// The services that a run provides to its kernels; a kernel that runs a function passes them on.
struct GRAPNEL_PUBLIC RunServices {
  Allocator& allocator;  // of memory on the kernel's device
  ThreadPool& pool;
  const MessageSink& print;  // receives the output of PrintV2 and similar ops
  RunHook* hook = nullptr;
  Session* session = nullptr;  // null for a kernel that computes a constant before the run
  RunProfiler* profiler = nullptr;
  // The device that runs nodes that have a kernel for it (ExecutorOptions::device). A function that
  // the kernel calls is compiled for this device, whichever device runs the kernel. Null: the CPU.
  Device* prefers = nullptr;
  const CancelFlag* cancel = nullptr;  // polled by long-running kernels; null: no cancellation
  bool winograd = false;               // ExecutorOptions::winograd
  bool onednn = true;                  // ExecutorOptions::onednn
  bool is_xla = false;                 // ExecutorOptions::is_xla
  // For a kernel that is not on the CPU (else null and empty): its device, the stream for its work,
  // the allocator of outputs declared to be in host memory, and the indices of those outputs.
  Device* device = nullptr;
  Stream* stream = nullptr;
  Allocator* host_allocator = nullptr;
  llvm::ArrayRef<int> host_outputs = {};
};

// The inputs and outputs of one call of a kernel. Errors need not name the node: the executor does.
// Inputs are in the memory of the kernel's device (Tensor::device_data), except those that its
// registration declares to be in host memory.
class GRAPNEL_PUBLIC KernelContext {
 public:
  KernelContext(llvm::MutableArrayRef<Tensor> inputs, llvm::MutableArrayRef<Tensor> outputs,
                llvm::ArrayRef<DataType> output_types, const RunServices& services)
      : inputs_(inputs), outputs_(outputs), output_types_(output_types), services_(services) {}

  int num_inputs() const { return static_cast<int>(inputs_.size()); }
  int num_outputs() const { return static_cast<int>(outputs_.size()); }
  const Tensor& input(int i) const { return inputs_[i]; }
  DataType output_type(int i) const { return output_types_[i]; }
  const Tensor& output(int i) const { return outputs_[i]; }
  // Moves the input out, so that the kernel can pass it on without sharing its ownership.
  Tensor TakeInput(int i) { return std::move(inputs_[i]); }

  // Allocates output `i` of dtype output_type(i), uninitialized (strings are empty), in the
  // device's memory unless declared to be in the host's.
  Expected<Tensor*> Allocate(int i, llvm::ArrayRef<int64_t> dims);
  // Reuses the memory of input `in` for output `out` if both are numeric, of the same number of
  // bytes and in the memory of the kernel's device, and the input is the only owner of its buffer;
  // else allocates. Read each element before you write it, not after.
  Expected<Tensor*> ForwardOrAllocate(int in, int out, llvm::ArrayRef<int64_t> dims);
  // Sets output `i` to this tensor (such as an input that is forwarded).
  void SetOutput(int i, Tensor tensor) { outputs_[i] = std::move(tensor); }
  // Allocates device memory for this call of the kernel and the work that it queues on the stream.
  // The buffer may be released at the end of the call: its memory is not reused before that work is
  // done.
  Expected<Tensor> Scratch(DataType dtype, llvm::ArrayRef<int64_t> dims) {
    return Tensor::Allocate(dtype, dims, services_.allocator);
  }

  // Calls body(begin, end) for parts of [0, total) on this and idle threads, and returns when all
  // calls are done. `cost` is the approximate time of one unit in nanoseconds: short work stays on
  // this thread.
  void ParallelFor(int64_t total, double cost, llvm::function_ref<void(int64_t, int64_t)> body) {
    services_.pool.ParallelFor(total, cost, body);
  }
  ThreadPool& pool() { return services_.pool; }
  Allocator& allocator() { return services_.allocator; }
  // Sends `text`, the output of PrintV2 or a similar op, to the run's message sink; adds no
  // newline.
  void Print(llvm::StringRef text) const {
    if (services_.print) services_.print(Severity::kInfo, text);
  }
  Session* session() const { return services_.session; }
  // The kernel's device; null for the CPU. Kernels on other devices queue their work on stream()
  // and return without waiting.
  Device* device() const { return services_.device; }
  Stream* stream() const { return services_.stream; }
  const RunServices& services() const { return services_; }

 private:
  llvm::MutableArrayRef<Tensor> inputs_, outputs_;
  llvm::ArrayRef<DataType> output_types_;
  const RunServices& services_;
};

// The facts about a node that its kernel's factory may use. The factory runs when a plan is made,
// for each node with a kernel, and when constant folding evaluates a node.
class GRAPNEL_PUBLIC KernelSetup {
 public:
  KernelSetup(Node node, llvm::ArrayRef<DataType> input_types,
              llvm::ArrayRef<DataType> output_types, llvm::ArrayRef<const Tensor*> constants,
              Device* device = nullptr)
      : node_(node),
        input_types_(input_types),
        output_types_(output_types),
        constants_(constants),
        device_(device) {}
  const Node& node() const { return node_; }  // attributes: node().GetInts("strides"), ...
  int num_inputs() const { return static_cast<int>(input_types_.size()); }
  DataType input_type(int i) const { return input_types_[i]; }
  int num_outputs() const { return static_cast<int>(output_types_.size()); }
  DataType output_type(int i) const { return output_types_[i]; }
  // Returns the value of input `i` if it is the same in every run (weights), else null. It is in
  // host memory on every device, and its buffer lives as long as the kernel, unless the kernel
  // declares Keeps() for the input.
  const Tensor* constant(int i) const { return constants_[i]; }
  Device* device() const { return device_; }  // null: the CPU

 private:
  Node node_;
  llvm::ArrayRef<DataType> input_types_, output_types_;
  llvm::ArrayRef<const Tensor*> constants_;
  Device* device_;
};

// A kernel made for one node of a plan. Several runs of the plan may call the kernel at once, so it
// is const: state that it keeps between runs (a generator's position, primitives prepared for known
// shapes) is shared by these runs and needs a lock of its own.
using KernelFn = llvm::unique_function<Error(KernelContext&) const>;

// Makes a kernel: reads the node's attributes, checks what does not depend on a run, packs constant
// weights. Returns an empty function if it has no code for the node's dtypes.
using KernelFactory = Expected<KernelFn> (*)(const KernelSetup&);

// The cost of a kernel's call to the calling thread; a kernel that queues its work on a stream is
// cheap.
enum class KernelCost : uint8_t {
  kCheap,     // a few microseconds at most, whatever the shapes (Reshape, Shape, Const, Identity)
  kElements,  // grows with the number of elements; uses one thread or ParallelFor
  kWide,      // uses all threads by itself: a primitive of oneDNN, a call of a function
};

// The op name under which to register the kernel for nodes whose op is the name of a library
// function.
inline constexpr const char* kFunctionAsOp = "(function)";

// The dtypes that a kernel supports for one attribute of the op, often "T".
struct GRAPNEL_PUBLIC OfTypes {
  OfTypes(const char* attr, std::vector<DataType> types) : attr(attr), types(std::move(types)) {}
  const char* attr;
  std::vector<DataType> types;
};

// A requirement of a kernel on the rank or size of an input. A kernel that reads an input as a
// scalar without a check of its own must declare it here.
struct GRAPNEL_PUBLIC InputRule {
  static constexpr int kAll = INT32_MIN;
  int slot;  // -1: the last input; kAll: each
  int8_t min_rank = 0, max_rank = OpArg::kAnyRank;
  bool is_one = false;   // one element, whatever the rank
  bool is_some = false;  // one element or more
};

struct GRAPNEL_PUBLIC KernelDef {
  const char* op;
  const char* device;  // a kind of device: "CPU", "GPU"
  KernelFactory factory;
  KernelCost cost = KernelCost::kElements;
  std::vector<OfTypes> types = {};  // a node must match all; a missing attribute matches
  std::vector<InputRule> rules = {};
  std::vector<int> host_inputs = {}, host_outputs = {};  // see HostInputs
  std::vector<int> keeps = {};                           // see Keeps
  const char* plugin = "";  // set by the registry: the file of the plugin; empty: no plugin

  bool Takes(const Node& node) const;  // compares dtype attributes with `types`
  bool IsHostInput(int i, int count) const { return Holds(host_inputs, i, count); }
  bool KeepsInput(int i, int count) const { return Holds(keeps, i, count); }
  bool IsHostOutput(int i, int count) const { return Holds(host_outputs, i, count); }
  static bool Holds(llvm::ArrayRef<int> list, int i, int count) {
    for (int index : list) {
      if (index == i || index + count == i) return true;
    }
    return false;
  }
};

// Returns the names of dtypes: "float, double".
GRAPNEL_PUBLIC std::string TypeNames(llvm::ArrayRef<DataType> types);
// Returns the dtypes that a kernel supports, such as "T: float, double" or "T: complex64, Tout:
// float" if `between` is ": "; empty if it supports all dtypes.
GRAPNEL_PUBLIC std::string TypesText(const KernelDef& def, llvm::StringRef between);

// All kernels of the program and its plugins. The registrations below add kernels before main();
// then plugins add theirs, which take precedence over the program's own. The registry does not
// change later.
class GRAPNEL_PUBLIC KernelRegistry {
 public:
  static KernelRegistry& Get();
  bool Add(KernelDef def);
  // Finds the kernel for this node on a kind of device ("CPU"). Errors: "no CPU kernel for op 'X'";
  // or, if the kernels do not support the node's dtypes, "op 'X' has no CPU kernel for T=half; it
  // has float, double".
  Expected<const KernelDef*> Find(const Node& node, llvm::StringRef device) const;
  bool Has(llvm::StringRef op, llvm::StringRef device) const;
  std::vector<KernelDef> All() const;  // sorted by op, device

 private:
  std::deque<KernelDef> defs_;  // stable addresses: plans point to them

  // The kernels by op, in the order of `defs_`: kernels of plugins first. Built on first use: most
  // commands never need this index.
  using Defs = llvm::SmallVector<const KernelDef*, 2>;
  const Defs& OfOp(llvm::StringRef op) const;
  mutable std::mutex mutex_;
  mutable std::atomic<size_t> num_indexed_{0};
  mutable llvm::StringMap<Defs> by_op_;
};

// A registration takes options after the factory, in any order: OfTypes, KernelCost, HostInputs,
// HostOutputs, Keeps, and rules such as Scalar(1), Vector(0, 2), OneElement(-1). The arguments of a
// rule are input indices (-1: the last one, InputRule::kAll: each). Each call of the kernel checks
// these rules, and the ranks in the op's definition (lib/exec/bound_kernel.h).
struct GRAPNEL_PUBLIC InputRules {
  std::vector<InputRule> rules;
};
template <typename... Slots>
InputRules OfRank(int min_rank, int max_rank, Slots... slots) {
  auto low = static_cast<int8_t>(min_rank), high = static_cast<int8_t>(max_rank);
  return {{InputRule{slots, low, high}...}};
}
template <typename... Slots>
InputRules Scalar(Slots... slots) {
  return OfRank(0, 0, slots...);
}
template <typename... Slots>
InputRules Vector(Slots... slots) {
  return OfRank(1, 1, slots...);
}
template <typename... Slots>
InputRules Matrix(Slots... slots) {
  return OfRank(2, 2, slots...);
}
template <typename... Slots>
InputRules AtLeastRank(int min_rank, Slots... slots) {
  return OfRank(min_rank, OpArg::kAnyRank, slots...);
}
template <typename... Slots>
InputRules OneElement(Slots... slots) {
  return {{InputRule{slots, 0, OpArg::kAnyRank, true}...}};
}
template <typename... Slots>
InputRules NotEmpty(Slots... slots) {
  return {{InputRule{slots, 0, OpArg::kAnyRank, false, true}...}};
}
// For a kernel that is not on the CPU: the inputs that it reads and the outputs that it writes in
// host memory (a shape, axes), by index; -1 is the last input or output.
struct GRAPNEL_PUBLIC HostInputs {
  HostInputs(std::initializer_list<int> slots) : slots(slots) {}
  std::vector<int> slots;
};
struct GRAPNEL_PUBLIC HostOutputs {
  HostOutputs(std::initializer_list<int> slots) : slots(slots) {}
  std::vector<int> slots;
};

// Inputs that the kernel packs and keeps itself if they are constant floats. The elements of such a
// constant in KernelSetup::constant may be unaligned (Tensor::Borrow). When the kernel runs, the
// input may have a dtype and dims but no elements. A weight that is read only by such kernels may
// be freed once they have packed it.
struct GRAPNEL_PUBLIC Keeps {
  template <typename... Slots>
  explicit Keeps(Slots... slots) : slots({slots...}) {}
  std::vector<int> slots;
};

inline void Declare(KernelDef* def, Keeps keeps) { def->keeps = std::move(keeps.slots); }
inline void Declare(KernelDef* def, OfTypes choice) {
  if (!choice.types.empty()) def->types.push_back(std::move(choice));
}
inline void Declare(KernelDef* def, const InputRules& said) {
  def->rules.insert(def->rules.end(), said.rules.begin(), said.rules.end());
}
inline void Declare(KernelDef* def, KernelCost cost) { def->cost = cost; }
inline void Declare(KernelDef* def, HostInputs inputs) {
  def->host_inputs = std::move(inputs.slots);
}
inline void Declare(KernelDef* def, HostOutputs outputs) {
  def->host_outputs = std::move(outputs.slots);
}
template <typename... Said>
KernelDef MakeKernelDef(const char* op, const char* device, KernelFactory factory, Said... said) {
  KernelDef def = {op, device, factory};
  (Declare(&def, std::move(said)), ...);
  return def;
}

// Use these at namespace scope in a kernel file; the default cost is kElements:
//   GRAPNEL_CPU_KERNEL("Softmax", MakeSoftmax, OfTypes("T", kFloats), KernelCost::kWide);
//   GRAPNEL_KERNEL("Sum", "GPU", MakeSum, OfTypes("T", kFloats), HostInputs({1}));
#define GRAPNEL_KERNEL(op, device, ...)                                                \
  [[maybe_unused]] static const bool GRAPNEL_CONCAT(kernel_registered_, __COUNTER__) = \
      ::grapnel::KernelRegistry::Get().Add(::grapnel::MakeKernelDef(op, device, __VA_ARGS__))
#define GRAPNEL_CPU_KERNEL(op, ...) GRAPNEL_KERNEL(op, "CPU", __VA_ARGS__)

}  // namespace grapnel

#endif  // GRAPNEL_LIB_EXEC_KERNEL_H_
