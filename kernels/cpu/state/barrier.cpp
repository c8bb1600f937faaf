// Barriers: elements whose components arrive one by one under a key. Complete elements are taken in
// the order in which their keys were first inserted; within one insertion in the order of a heap,
// as in TensorFlow.
//
// No kernel waits, as with queues: where TensorFlow would wait, the kernel returns an error that
// says so.
#include <algorithm>
#include <limits>
#include <map>
#include <mutex>

#include "kernels/common/kernel_of.h"
#include "kernels/cpu/array/data_move.h"
#include "kernels/cpu/state/tensor_list.h"
#include "lib/exec/session.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringMap.h"

namespace grapnel {
namespace {

struct Element {
  int64_t index = 0;  // of the insertion that added its key
  std::string key;
  std::vector<Tensor> parts;  // a null tensor has not arrived yet
};

// The heap order: the element with the lowest index comes first.
bool GoesLater(const Element& a, const Element& b) { return a.index > b.index; }

class Barrier : public Object {
 public:
  std::string ToString() const override {
    return llvm::formatv("barrier '{0}' of {1} elements", name, ready.size()).str();
  }

  // Stores the value; returns true if the key is new.
  bool Put(const std::string& key, int64_t part, Tensor value) {
    Element& element = incomplete[key];
    bool is_new = element.parts.empty();
    if (is_new) element = {next, key, std::vector<Tensor>(types.size())};
    element.parts[part] = std::move(value);
    if (llvm::any_of(element.parts, [](const Tensor& tensor) { return !tensor; })) return is_new;
    ready.push_back(std::move(element));
    std::push_heap(ready.begin(), ready.end(), GoesLater);
    incomplete.erase(key);
    return is_new;
  }
  Element Take() {
    std::pop_heap(ready.begin(), ready.end(), GoesLater);
    Element first = std::move(ready.back());
    ready.pop_back();
    return first;
  }

  std::mutex mutex;
  std::string name;
  std::vector<DataType> types;
  std::vector<Shape> shapes;  // per component; empty: any
  std::map<std::string, Element> incomplete;
  std::vector<Element> ready;  // a heap
  int64_t next = std::numeric_limits<int64_t>::min();
  bool closed = false, cancelled = false;
};
using BarrierRef = llvm::IntrusiveRefCntPtr<Barrier>;

Expected<Barrier*> BarrierIn(const KernelContext& ctx) {
  const Tensor& tensor = ctx.input(0);
  Barrier* barrier = nullptr;
  if (tensor.dtype() == proto::DT_RESOURCE && tensor.num_elements() == 1)
    barrier = dynamic_cast<Barrier*>(tensor.data<ObjectRef>()->get());
  if (barrier) return barrier;
  return MakeError("input 0 is {0}, a barrier was expected", tensor.ToString());
}

Expected<BarrierRef> FromAttrs(const Node& node) {
  BarrierRef barrier(new Barrier);
  barrier->name = node.GetString("shared_name");
  if (barrier->name.empty()) barrier->name = node.name().str();
  auto types = node.Attr("component_types"), shapes = node.Attr("shapes");
  if (types) barrier->types = types->AsTypes().value_or(std::vector<DataType>());
  if (shapes) barrier->shapes = shapes->AsShapes().value_or(std::vector<Shape>());
  if (!barrier->shapes.empty() && barrier->shapes.size() != barrier->types.size())
    return MakeError("there are {0} shapes, but {1} components", barrier->shapes.size(),
                     barrier->types.size());
  for (const Shape& shape : barrier->shapes) {
    if (!shape.IsFullyKnown())
      return MakeError("shape {0} of a component must be fully known", shape.ToString());
  }
  if (node.GetInt("capacity", -1) != -1)
    return MakeError("a barrier has no limit: capacity must be -1, got {0}",
                     node.GetInt("capacity"));
  return barrier;
}

Expected<KernelFn> MakeBarrier(const KernelSetup& setup) {
  ASSIGN_OR_RETURN(BarrierRef model, FromAttrs(setup.node()));
  std::string container = setup.node().GetString("container");
  return KernelFn([model, container](KernelContext& ctx) -> Error {
    if (!ctx.session()) return MakeError("barriers need a session");
    ObjectRef object =
        ctx.session()->FindOrMake(container, model->name, [&] { return ObjectRef(model); });
    auto* barrier = dynamic_cast<Barrier*>(object.get());
    if (!barrier)
      return MakeError("'{0}' is {1}, a barrier was expected", model->name, object->ToString());
    if (barrier->types != model->types || barrier->shapes != model->shapes)
      return MakeError("barrier '{0}' already exists with other component types or shapes",
                       model->name);
    ctx.SetOutput(0, Tensor::OfObject(proto::DT_RESOURCE, std::move(object)));
    return Error::success();
  });
}

// --- Inserting

Error CheckValues(const Barrier& barrier, const Tensor& keys, const Tensor& values, int64_t part) {
  if (part < 0 || part >= static_cast<int64_t>(barrier.types.size()))
    return MakeError("component {0} is out of range for barrier '{1}' with {2} components", part,
                     barrier.name, barrier.types.size());
  if (keys.rank() != 1)
    return MakeError("keys must be a vector, got shape {0}", DimsText(keys.dims()));
  if (values.rank() == 0 || values.dim(0) != keys.dim(0))
    return MakeError("values of shape {0} for {1} keys: a row for each was expected",
                     DimsText(values.dims()), keys.dim(0));
  if (values.dtype() != barrier.types[part])
    return MakeError("component {0} has dtype {1}, but barrier '{2}' expects {3}", part,
                     DataTypeName(values.dtype()), barrier.name, DataTypeName(barrier.types[part]));
  auto dims = values.dims().drop_front();
  if (barrier.shapes.empty() || Fits(dims, barrier.shapes[part])) return Error::success();
  return MakeError("a value of component {0} has shape {1}, but barrier '{2}' expects {3}", part,
                   DimsText(dims), barrier.name, barrier.shapes[part].ToString());
}

// A closed barrier only completes existing elements. The key of a complete element is new again,
// even within one call.
Error CheckKeys(const Barrier& barrier, const Tensor& keys, int64_t part) {
  if (barrier.cancelled && keys.num_elements() > 0)
    return MakeError("barrier '{0}' was closed with cancel_pending_enqueues: it accepts no values",
                     barrier.name);
  enum class Key { kHasPart, kIsComplete };
  llvm::StringMap<Key> seen;
  for (int64_t i = 0; i < keys.num_elements(); ++i) {
    const std::string& key = keys.data<std::string>()[i];
    auto before = seen.find(key);
    auto found = barrier.incomplete.find(key);
    bool is_new = before == seen.end() ? found == barrier.incomplete.end()
                                       : before->second == Key::kIsComplete;
    if (barrier.closed && is_new)
      return MakeError("barrier '{0}' is closed, and '{1}' is a new key", barrier.name, key);
    if (!is_new && (before != seen.end() || found->second.parts[part]))
      return MakeError("key '{0}' already has a value for component {1} in barrier '{2}'", key,
                       part, barrier.name);
    size_t missing = is_new
                         ? barrier.types.size()
                         : llvm::count_if(found->second.parts, [](const Tensor& t) { return !t; });
    seen[key] = missing == 1 ? Key::kIsComplete : Key::kHasPart;
  }
  return Error::success();
}

Error Insert(KernelContext& ctx, int64_t part) {
  ASSIGN_OR_RETURN(Barrier * barrier, BarrierIn(ctx));
  const Tensor &keys = ctx.input(1), &values = ctx.input(2);
  std::lock_guard lock(barrier->mutex);
  RETURN_IF_ERROR(CheckValues(*barrier, keys, values, part));
  RETURN_IF_ERROR(CheckKeys(*barrier, keys, part));
  std::vector<Tensor> rows;
  for (int64_t i = 0; i < keys.num_elements(); ++i) {
    ASSIGN_OR_RETURN(Tensor row, RowOf(ctx, values, i));
    rows.push_back(std::move(row));
  }
  bool brought_new = false;
  for (int64_t i = 0; i < keys.num_elements(); ++i)
    brought_new |= barrier->Put(keys.data<std::string>()[i], part, std::move(rows[i]));
  if (brought_new) ++barrier->next;
  return Error::success();
}

Expected<KernelFn> MakeInsert(const KernelSetup& setup) {
  int64_t part = setup.node().GetInt("component_index");
  return KernelFn([part](KernelContext& ctx) { return Insert(ctx, part); });
}

// --- Taking

// Returns the number of elements to take: `n` or, if the barrier is closed and `small` is set, the
// number of complete ones, at most `n`. Too few complete elements are an error.
Expected<int64_t> CountToTake(const Barrier& barrier, int64_t n, bool small) {
  if (n < 0) return MakeError("num_elements must not be negative, got {0}", n);
  int64_t ready = static_cast<int64_t>(barrier.ready.size()), count = n;
  if (barrier.closed) {
    int64_t coming = small ? 0 : static_cast<int64_t>(barrier.incomplete.size());
    if (small) count = std::min(n, ready);
    if (ready + coming < std::max<int64_t>(count, 1))
      return MakeError(
          "barrier '{0}' is closed and has {1} complete elements{2}, at least {3} were expected",
          barrier.name, ready, small ? "" : " and too few incomplete ones",
          std::max<int64_t>(count, 1));
  }
  if (ready >= count) return count;
  return MakeError(
      "barrier '{0}' has {1} complete elements, {2} were requested: ops do not wait, so an earlier "
      "op or run must add more",
      barrier.name, ready, count);
}

Error CheckOutputs(const KernelContext& ctx, const Barrier& barrier) {
  int count = static_cast<int>(barrier.types.size());
  bool fits = ctx.num_outputs() == count + 2;
  for (int i = 0; fits && i < count; ++i) fits = ctx.output_type(i + 2) == barrier.types[i];
  if (!fits)
    return MakeError("the components of barrier '{0}' do not have the requested number or dtypes",
                     barrier.name);
  if (barrier.shapes.size() == barrier.types.size()) return Error::success();
  return MakeError(
      "barrier '{0}' was created without its components' shapes: its elements cannot be joined",
      barrier.name);
}

Error Take(KernelContext& ctx, bool small) {
  ASSIGN_OR_RETURN(Barrier * barrier, BarrierIn(ctx));
  if (ctx.input(1).rank() != 0) return MakeError("num_elements must be a scalar");
  std::lock_guard lock(barrier->mutex);
  RETURN_IF_ERROR(CheckOutputs(ctx, *barrier));
  ASSIGN_OR_RETURN(int64_t count, CountToTake(*barrier, ctx.input(1).IntAt(0), small));
  std::vector<Tensor*> outputs;
  for (int i = 0; i < ctx.num_outputs(); ++i) {
    Dims dims = {count};
    if (i >= 2) {
      auto inner = barrier->shapes[i - 2].dims();
      dims.append(inner.begin(), inner.end());
    }
    ASSIGN_OR_RETURN(Tensor * out, ctx.Allocate(i, dims));
    outputs.push_back(out);
  }
  for (int64_t k = 0; k < count; ++k) {
    Element first = barrier->Take();
    outputs[0]->data<int64_t>()[k] = first.index;
    outputs[1]->data<std::string>()[k] = first.key;
    for (size_t i = 0; i < barrier->types.size(); ++i) {
      const Tensor& part = first.parts[i];
      CopyElements(part.dtype(), part.raw(), At(*outputs[i + 2], k * part.num_elements()),
                   part.num_elements());
    }
  }
  return Error::success();
}

Expected<KernelFn> MakeTake(const KernelSetup& setup) {
  if (setup.node().GetInt("timeout_ms", -1) != -1)
    return MakeError("timeout_ms must be -1, got {0}", setup.node().GetInt("timeout_ms"));
  bool small = setup.node().GetBool("allow_small_batch");
  return KernelFn([small](KernelContext& ctx) { return Take(ctx, small); });
}

// --- Closing and sizes

Expected<KernelFn> MakeClose(const KernelSetup& setup) {
  bool cancel = setup.node().GetBool("cancel_pending_enqueues");
  return KernelFn([cancel](KernelContext& ctx) -> Error {
    ASSIGN_OR_RETURN(Barrier * barrier, BarrierIn(ctx));
    std::lock_guard lock(barrier->mutex);
    if (barrier->cancelled || (barrier->closed && !cancel))
      return MakeError("barrier '{0}' is already closed", barrier->name);
    barrier->closed = true;
    barrier->cancelled = cancel;
    if (cancel) barrier->incomplete.clear();
    return Error::success();
  });
}

template <bool complete>
Error Size(KernelContext& ctx) {
  ASSIGN_OR_RETURN(Barrier * barrier, BarrierIn(ctx));
  ASSIGN_OR_RETURN(Tensor * out, ctx.Allocate(0, {}));
  std::lock_guard lock(barrier->mutex);
  size_t size = complete ? barrier->ready.size() : barrier->incomplete.size();
  *out->data<int32_t>() = static_cast<int32_t>(size);
  return Error::success();
}

#define GRAPNEL_BARRIER_KERNEL(op, make) GRAPNEL_CPU_KERNEL(op, make, KernelCost::kCheap)
GRAPNEL_BARRIER_KERNEL("Barrier", MakeBarrier);
GRAPNEL_BARRIER_KERNEL("BarrierInsertMany", MakeInsert);
GRAPNEL_BARRIER_KERNEL("BarrierTakeMany", MakeTake);
GRAPNEL_BARRIER_KERNEL("BarrierClose", MakeClose);
GRAPNEL_BARRIER_KERNEL("BarrierReadySize", KernelOf<Size<true>>);
GRAPNEL_BARRIER_KERNEL("BarrierIncompleteSize", KernelOf<Size<false>>);

}  // namespace
}  // namespace grapnel
