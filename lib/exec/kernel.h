// Kernels: what one is, what it may ask for, and how it is registered.
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

// What a run lends its kernels; also to kernels that run functions, for theirs.
struct GRAPNEL_PUBLIC RunServices {
  Allocator& allocator;  // of the device's memory
  ThreadPool& pool;
  const MessageSink& print;  // what PrintV2 and its like print
  RunHook* hook = nullptr;
  Session* session = nullptr;  // null where nothing stateful runs
  RunProfiler* profiler = nullptr;
  // Where nodes run that have a kernel there (ExecutorOptions::device): what a function called from
  // here is compiled for, whichever device the call itself is on. Null: the CPU.
  Device* prefers = nullptr;
  const CancelFlag* cancel = nullptr;  // what can take long looks at it; null: nobody cancels
  bool winograd = false;               // ExecutorOptions::winograd
  bool onednn = true;                  // ExecutorOptions::onednn
  bool is_xla = false;                 // ExecutorOptions::is_xla
  // Of a kernel that is not the CPU's, else null: its device and the stream that its work is queued
  // on, where outputs that are declared host memory come from, and which those are.
  Device* device = nullptr;
  Stream* stream = nullptr;
  Allocator* host_allocator = nullptr;
  llvm::ArrayRef<int> host_outputs = {};
};

// One run of one kernel: its inputs, and where its outputs go. Errors need not name the node: the
// executor does. Inputs lie where the kernel runs (Tensor::device_data), but for those that its
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
  // Moves the input out: a kernel that passes it on does not keep others from owning it alone.
  Tensor TakeInput(int i) { return std::move(inputs_[i]); }

  // A new output of dtype output_type(i), not initialized (strings are empty), in the device's
  // memory unless declared to be in the host's.
  Expected<Tensor*> Allocate(int i, llvm::ArrayRef<int64_t> dims);
  // Output `out` in the memory of input `in` when that input has the same number of bytes, is a
  // plain numeric tensor on the same device and nobody else will read it; else newly allocated.
  // Each element may be read before it is written, not after.
  Expected<Tensor*> ForwardOrAllocate(int in, int out, llvm::ArrayRef<int64_t> dims);
  // Output `i` is this tensor (an input passed on, say).
  void SetOutput(int i, Tensor tensor) { outputs_[i] = std::move(tensor); }
  // Memory of the device for this run of the kernel, and for the work that it queues on the stream:
  // the buffer may go at once, its memory is not used before that work is done.
  Expected<Tensor> Scratch(DataType dtype, llvm::ArrayRef<int64_t> dims) {
    return Tensor::Allocate(dtype, dims, services_.allocator);
  }

  // Calls body(begin, end) for parts of [0, total) on the threads that are free, and returns when
  // all are done. `cost` is the time of one unit in nanoseconds, roughly: short work stays on this
  // thread.
  void ParallelFor(int64_t total, double cost, llvm::function_ref<void(int64_t, int64_t)> body) {
    services_.pool.ParallelFor(total, cost, body);
  }
  ThreadPool& pool() { return services_.pool; }
  Allocator& allocator() { return services_.allocator; }
  // What PrintV2 and its like print, without the newline.
  void Print(llvm::StringRef text) const {
    if (services_.print) services_.print(Severity::kInfo, text);
  }
  Session* session() const { return services_.session; }
  // Null in the CPU's kernels. Others queue their work on the stream and return without waiting.
  Device* device() const { return services_.device; }
  Stream* stream() const { return services_.stream; }
  const RunServices& services() const { return services_; }

 private:
  llvm::MutableArrayRef<Tensor> inputs_, outputs_;
  llvm::ArrayRef<DataType> output_types_;
  const RunServices& services_;
};

// What a kernel knows when it is made, once for each node of a plan.
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
  // The value of input `i` when it is the same in every run (weights), else null. Its buffer lives
  // as long as the kernel, unless the kernel Keeps() it, in host memory whatever the device.
  const Tensor* constant(int i) const { return constants_[i]; }
  Device* device() const { return device_; }  // null: the CPU

 private:
  Node node_;
  llvm::ArrayRef<DataType> input_types_, output_types_;
  llvm::ArrayRef<const Tensor*> constants_;
  Device* device_;
};

// A kernel made for one node of a plan. Several runs of the plan may be in it at once, so it is
// const: what it keeps from run to run (a generator's position, primitives prepared for shapes that
// were seen) is shared by them and lies behind a lock of its own.
using KernelFn = llvm::unique_function<Error(KernelContext&) const>;

// Reads attributes, checks what can be checked before running, packs constant weights.
using KernelFactory = Expected<KernelFn> (*)(const KernelSetup&);

// What a run costs the thread that calls it; a kernel that queues its work is cheap.
enum class KernelCost : uint8_t {
  kCheap,     // a few microseconds at most, whatever the shapes (Reshape, Shape, Const, Identity)
  kElements,  // grows with the elements; runs on one thread or splits itself through ParallelFor
  kWide,      // a large primitive that uses every thread by itself (oneDNN)
};

// The op under which the kernel stands for nodes whose op is a function of the library.
inline constexpr const char* kFunctionAsOp = "(function)";

// dtypes of this attribute, often "T", that a kernel takes.
struct GRAPNEL_PUBLIC OfTypes {
  OfTypes(const char* attr, std::vector<DataType> types) : attr(attr), types(std::move(types)) {}
  const char* attr;
  std::vector<DataType> types;
};

// What a kernel demands of an input beyond its dtype. A scalar that is read without a look is one.
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
  std::vector<OfTypes> types = {};  // all must hold; an attribute that is not there takes any dtype
  std::vector<InputRule> rules = {};
  std::vector<int> host_inputs = {}, host_outputs = {};  // see HostInputs
  std::vector<int> keeps = {};                           // see Keeps
  const char* plugin = "";  // set by the registry: the file that it came with

  bool Takes(const Node& node) const;  // by the dtypes of its attributes
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

// "float, double".
GRAPNEL_PUBLIC std::string TypeNames(llvm::ArrayRef<DataType> types);
// "T: float, double", or "T: complex64, Tout: float" with ": " between; empty: any dtypes.
GRAPNEL_PUBLIC std::string TypesText(const KernelDef& def, llvm::StringRef between);

// All kernels that were linked in; filled before main() by the registrations below, and by plugins,
// whose kernels go before the program's own. Not changed later.
class GRAPNEL_PUBLIC KernelRegistry {
 public:
  static KernelRegistry& Get();
  bool Add(KernelDef def);
  // The kernel for this node on `device` ("CPU"). The error says what there is: "no CPU kernel for
  // op 'X'", or "op 'X' has no CPU kernel for T=half; it has float, double".
  Expected<const KernelDef*> Find(const Node& node, llvm::StringRef device) const;
  bool Has(llvm::StringRef op, llvm::StringRef device) const;
  std::vector<KernelDef> All() const;  // sorted by op, device

 private:
  std::deque<KernelDef> defs_;  // plans point to them

  // By op, in their order. Made when it is first asked for: most commands never do.
  using Defs = llvm::SmallVector<const KernelDef*, 2>;
  const Defs& OfOp(llvm::StringRef op) const;
  mutable std::mutex mutex_;
  mutable std::atomic<size_t> num_indexed_{0};
  mutable llvm::StringMap<Defs> by_op_;
};

// What a registration may say beside op and factory, in any order: OfTypes, KernelCost and these.
// Of inputs by number (-1: the last one, InputRule::kAll: each), checked before each run of the
// kernel (lib/exec/bound_kernel.h) beside the ranks that the op table has: Scalar(1), Vector(0, 2),
// OneElement(-1).
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
// Of a kernel that is not the CPU's: inputs that it reads, and outputs that it writes, in host
// memory (a shape, axes), by index; -1 is the last one.
struct GRAPNEL_PUBLIC HostInputs {
  HostInputs(std::initializer_list<int> slots) : slots(slots) {}
  std::vector<int> slots;
};
struct GRAPNEL_PUBLIC HostOutputs {
  HostOutputs(std::initializer_list<int> slots) : slots(slots) {}
  std::vector<int> slots;
};

// Inputs of which the kernel keeps what it needs where they are constant floats: then
// KernelSetup::constant alone has the elements, which may be unaligned (Tensor::Borrow), and a
// run's input has dtype and dims without elements. Nobody else holds a weight that only such
// kernels read, so that it goes when they have packed it.
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
inline void Declare(KernelDef* def, HostInputs inputs) { def->host_inputs = std::move(inputs.slots); }
inline void Declare(KernelDef* def, HostOutputs outputs) {
  def->host_outputs = std::move(outputs.slots);
}
template <typename... Said>
KernelDef MakeKernelDef(const char* op, const char* device, KernelFactory factory, Said... said) {
  KernelDef def = {op, device, factory};
  (Declare(&def, std::move(said)), ...);
  return def;
}

// At namespace scope of a kernel file; its cost is kElements unless it says another:
//   GRAPNEL_CPU_KERNEL("Softmax", MakeSoftmax, OfTypes("T", kFloats), KernelCost::kWide);
//   GRAPNEL_KERNEL("Sum", "GPU", MakeSum, OfTypes("T", kFloats), HostInputs({1}));
#define GRAPNEL_KERNEL(op, device, ...)                                                \
  [[maybe_unused]] static const bool GRAPNEL_CONCAT(kernel_registered_, __COUNTER__) = \
      ::grapnel::KernelRegistry::Get().Add(::grapnel::MakeKernelDef(op, device, __VA_ARGS__))
#define GRAPNEL_CPU_KERNEL(op, ...) GRAPNEL_KERNEL(op, "CPU", __VA_ARGS__)

}  // namespace grapnel

#endif  // GRAPNEL_LIB_EXEC_KERNEL_H_
