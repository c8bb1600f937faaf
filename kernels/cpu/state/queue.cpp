// Queues: FIFO, padding FIFO, random shuffle, priority.
//
// No kernel waits: a run is one pass over its graph, so no other op could fill or empty a queue in
// the meantime. Where TensorFlow would wait, the kernel returns an error that says so; enqueue in
// an earlier run, or order the ops of one run with control edges. An op that fails a check leaves
// the queue's content unchanged.
#include <algorithm>
#include <cstring>
#include <deque>
#include <mutex>

#include "kernels/common/kernel_of.h"
#include "kernels/common/philox.h"
#include "kernels/cpu/array/data_move.h"
#include "kernels/cpu/state/tensor_list.h"
#include "lib/exec/session.h"
#include "llvm/Support/xxhash.h"

namespace grapnel {
namespace {

using Element = std::vector<Tensor>;
enum class Order { kFirst, kPadded, kShuffled, kPriority };

// The heap order: the element with the lowest priority value comes first.
bool GoesLater(const Element& a, const Element& b) {
  return *a[0].data<int64_t>() > *b[0].data<int64_t>();
}

class Queue : public Object {
 public:
  std::string ToString() const override {
    return llvm::formatv("queue '{0}' of {1} elements", name, elements.size()).str();
  }
  int64_t size() const { return static_cast<int64_t>(elements.size()); }
  // The number of elements that can be taken: a shuffling queue keeps some elements back while it
  // is open.
  int64_t available() const { return std::max<int64_t>(0, size() - (closed ? 0 : kept)); }

  void Put(Element element) {
    elements.push_back(std::move(element));
    if (order == Order::kPriority) std::push_heap(elements.begin(), elements.end(), GoesLater);
  }
  Element Take() {
    if (order == Order::kPriority) std::pop_heap(elements.begin(), elements.end(), GoesLater);
    if (order == Order::kPriority || order == Order::kShuffled) {
      if (order == Order::kShuffled)
        std::swap(elements[numbers.Next() % elements.size()], elements.back());
      Element last = std::move(elements.back());
      elements.pop_back();
      return last;
    }
    Element first = std::move(elements.front());
    elements.pop_front();
    return first;
  }

  mutable std::mutex mutex;
  std::string name;
  Order order = Order::kFirst;
  std::vector<DataType> types;
  std::vector<Shape> shapes;  // per component; empty: any
  int64_t capacity = -1;      // negative: no limit
  int64_t kept = 0;
  bool closed = false;
  std::deque<Element> elements;
  PhiloxNumbers numbers{Philox()};
};
using QueueRef = llvm::IntrusiveRefCntPtr<Queue>;

Expected<Queue*> QueueIn(const KernelContext& ctx) {
  const Tensor& tensor = ctx.input(0);
  Queue* queue = nullptr;
  if (tensor.dtype() == proto::DT_RESOURCE && tensor.num_elements() == 1)
    queue = dynamic_cast<Queue*>(tensor.data<ObjectRef>()->get());
  if (queue) return queue;
  return MakeError("input 0 is {0}, a queue was expected", tensor.ToString());
}

Expected<QueueRef> FromAttrs(const Node& node, Order order) {
  QueueRef queue(new Queue);
  queue->name = node.GetString("shared_name");
  if (queue->name.empty()) queue->name = node.name().str();
  queue->order = order;
  queue->capacity = node.GetInt("capacity", -1);
  auto types = node.Attr("component_types"), shapes = node.Attr("shapes");
  if (types) queue->types = types->AsTypes().value_or(std::vector<DataType>());
  if (shapes) queue->shapes = shapes->AsShapes().value_or(std::vector<Shape>());
  if (!queue->shapes.empty() && queue->shapes.size() != queue->types.size()) {
    return MakeError("there are {0} shapes, but {1} components", queue->shapes.size(),
                     queue->types.size());
  }
  if (order == Order::kPadded && queue->shapes.empty())
    return MakeError("a queue that pads must know its components' shapes");
  if (order == Order::kPriority) {
    if (queue->shapes.empty()) queue->shapes.resize(queue->types.size());
    queue->types.insert(queue->types.begin(), proto::DT_INT64);
    queue->shapes.insert(queue->shapes.begin(), Shape::Scalar());
  }
  if (order != Order::kShuffled) return queue;
  queue->kept = node.GetInt("min_after_dequeue");
  if (queue->kept < 0 || (queue->capacity >= 0 && queue->kept >= queue->capacity)) {
    return MakeError(
        "min_after_dequeue must not be negative and must be less than capacity (unless that is "
        "negative), got {0} and {1}",
        queue->kept, queue->capacity);
  }
  // As in other stateful ops, without seeds the numbers are derived from the name.
  uint64_t seed = node.GetInt("seed"), seed2 = node.GetInt("seed2");
  if (seed == 0 && seed2 == 0) seed = llvm::xxHash64(queue->name);
  queue->numbers = PhiloxNumbers(Philox::FromSeeds(seed, seed2));
  return queue;
}

template <Order kOrder>
Expected<KernelFn> MakeQueue(const KernelSetup& setup) {
  ASSIGN_OR_RETURN(QueueRef model, FromAttrs(setup.node(), kOrder));
  std::string container = setup.node().GetString("container");
  return KernelFn([model, container](KernelContext& ctx) -> Error {
    if (!ctx.session()) return MakeError("queues need a session");
    ObjectRef object =
        ctx.session()->FindOrMake(container, model->name, [&] { return ObjectRef(model); });
    auto* queue = dynamic_cast<Queue*>(object.get());
    if (!queue)
      return MakeError("'{0}' is {1}, a queue was expected", model->name, object->ToString());
    if (queue->order != model->order || queue->types != model->types ||
        queue->capacity != model->capacity || queue->shapes != model->shapes) {
      return MakeError(
          "queue '{0}' already exists with another kind, capacity, component types or shapes",
          model->name);
    }
    ctx.SetOutput(0, Tensor::OfObject(proto::DT_RESOURCE, std::move(object)));
    return Error::success();
  });
}

// Checks the given components; with `many` their first dimension counts elements.
Error CheckComponents(const KernelContext& ctx, const Queue& queue, bool many) {
  int count = ctx.num_inputs() - 1;
  if (count != static_cast<int>(queue.types.size())) {
    return MakeError("{0} components do not fit queue '{1}' with {2} components", count, queue.name,
                     queue.types.size());
  }
  for (int i = 0; i < count; ++i) {
    const Tensor& given = ctx.input(i + 1);
    if (given.dtype() != queue.types[i]) {
      return MakeError("component {0} has dtype {1}, but queue '{2}' expects {3}", i,
                       DataTypeName(given.dtype()), queue.name, DataTypeName(queue.types[i]));
    }
    if (many && (given.rank() == 0 || given.dim(0) != ctx.input(1).dim(0))) {
      return MakeError(
          "component {0} is of shape {1}: {2}", i, DimsText(given.dims()),
          given.rank() ? "as many rows as component 0 has were expected" : "rows were expected");
    }
    auto dims = many ? given.dims().drop_front() : given.dims();
    if (queue.shapes.empty() || Fits(dims, queue.shapes[i])) continue;
    return MakeError("component {0} of an element has shape {1}, but queue '{2}' expects {3}", i,
                     DimsText(dims), queue.name, queue.shapes[i].ToString());
  }
  return Error::success();
}

Error Enqueue(KernelContext& ctx, Queue& queue, int64_t count, bool many) {
  if (queue.closed) return MakeError("queue '{0}' is closed", queue.name);
  if (queue.capacity >= 0 && queue.size() + count > queue.capacity) {
    return MakeError(
        "{0} elements do not fit queue '{1}', which has {2} of at most {3}: ops do not wait, so an "
        "earlier op or run must make room",
        count, queue.name, queue.size(), queue.capacity);
  }
  std::vector<Element> elements(count);
  for (int64_t k = 0; k < count; ++k) {
    for (int i = 1; i < ctx.num_inputs(); ++i) {
      if (!many) {
        elements[k].push_back(ctx.input(i));
        continue;
      }
      ASSIGN_OR_RETURN(Tensor row, RowOf(ctx, ctx.input(i), k));
      elements[k].push_back(std::move(row));
    }
  }
  for (Element& element : elements) queue.Put(std::move(element));
  return Error::success();
}

template <bool many>
Error EnqueueInto(KernelContext& ctx) {
  ASSIGN_OR_RETURN(Queue * queue, QueueIn(ctx));
  std::lock_guard lock(queue->mutex);
  RETURN_IF_ERROR(CheckComponents(ctx, *queue, many));
  return Enqueue(ctx, *queue, many ? ctx.input(1).dim(0) : 1, many);
}

Error CheckOutputs(const KernelContext& ctx, const Queue& queue) {
  bool fits = ctx.num_outputs() == static_cast<int>(queue.types.size());
  for (int i = 0; fits && i < ctx.num_outputs(); ++i) fits = ctx.output_type(i) == queue.types[i];
  return fits
             ? Error::success()
             : MakeError("the components of queue '{0}' do not have the requested number or dtypes",
                         queue.name);
}

Error TooFew(const Queue& queue, int64_t wanted) {
  if (queue.closed) {
    return MakeError("queue '{0}' is closed and has {1} elements, {2} were requested", queue.name,
                     queue.size(), wanted);
  }
  std::string keeps =
      queue.kept ? llvm::formatv(" (it keeps {0} back)", queue.kept).str() : std::string();
  return MakeError(
      "queue '{0}' has {1} elements{2}, {3} were requested: ops do not wait, so an earlier op or "
      "run must add more",
      queue.name, queue.size(), keeps, wanted);
}

Error Dequeue(KernelContext& ctx) {
  ASSIGN_OR_RETURN(Queue * queue, QueueIn(ctx));
  std::lock_guard lock(queue->mutex);
  RETURN_IF_ERROR(CheckOutputs(ctx, *queue));
  if (queue->available() < 1) return TooFew(*queue, 1);
  Element element = queue->Take();
  for (size_t i = 0; i < element.size(); ++i) ctx.SetOutput(i, std::move(element[i]));
  return Error::success();
}

// Allocates output `c` for component `c` of the next `count` elements, filled with the zeros that
// pad it to the longest. Only a padding queue, which takes its elements in order, has components of
// several shapes.
Expected<Tensor*> AllocateJoined(KernelContext& ctx, const Queue& queue, int64_t count, size_t c) {
  const Shape& shape = queue.shapes[c];
  Dims dims = {count};
  for (int d = 0; d < shape.rank(); ++d) {
    int64_t size = std::max<int64_t>(shape.dim(d), 0);
    for (int64_t k = 0; k < count; ++k) size = std::max(size, queue.elements[k][c].dim(d));
    dims.push_back(size);
  }
  ASSIGN_OR_RETURN(Tensor * out, ctx.Allocate(c, dims));
  if (out->byte_size()) std::memset(out->raw(), 0, out->byte_size());
  return out;
}

void CopyInto(KernelContext& ctx, const Tensor& from, Tensor& joined, int64_t k) {
  llvm::ArrayRef<int64_t> dims = joined.dims().drop_front();
  int64_t row = NumElements(dims).value_or(0);
  CopyStrided(ctx, from.dtype(), from.dims(), from.raw(), RowMajorStrides(from.dims()),
              At(joined, k * row), RowMajorStrides(dims));
}

template <bool up_to>
Error DequeueMany(KernelContext& ctx) {
  ASSIGN_OR_RETURN(Queue * queue, QueueIn(ctx));
  std::lock_guard lock(queue->mutex);
  RETURN_IF_ERROR(CheckOutputs(ctx, *queue));
  if (ctx.input(1).num_elements() != 1) return MakeError("n must have one element");
  int64_t n = ctx.input(1).IntAt(0);
  if (n < 0) return MakeError("n must not be negative, got {0}", n);
  bool known = !queue->shapes.empty();
  for (const Shape& shape : queue->shapes)
    known &= queue->order == Order::kPadded ? shape.known_rank() : shape.IsFullyKnown();
  if (!known) {
    return MakeError(
        "queue '{0}' does not know its components' {1}: several elements cannot be joined",
        queue->name, queue->order == Order::kPadded ? "ranks" : "full shapes");
  }
  int64_t available = queue->available();
  bool rest = up_to && queue->closed && available > 0;
  if (available < n && !rest) return TooFew(*queue, n);
  int64_t count = std::min(n, available);
  std::vector<Tensor*> outputs;
  for (size_t c = 0; c < queue->types.size(); ++c) {
    ASSIGN_OR_RETURN(Tensor * out, AllocateJoined(ctx, *queue, count, c));
    outputs.push_back(out);
  }
  for (int64_t k = 0; k < count; ++k) {
    Element element = queue->Take();
    for (size_t c = 0; c < outputs.size(); ++c) CopyInto(ctx, element[c], *outputs[c], k);
  }
  return Error::success();
}

Error Size(KernelContext& ctx) {
  ASSIGN_OR_RETURN(Queue * queue, QueueIn(ctx));
  ASSIGN_OR_RETURN(Tensor * out, ctx.Allocate(0, {}));
  std::lock_guard lock(queue->mutex);
  *out->data<int32_t>() = static_cast<int32_t>(queue->size());
  return Error::success();
}

// No enqueue can be pending, so cancel_pending_enqueues has no effect.
Error Close(KernelContext& ctx) {
  ASSIGN_OR_RETURN(Queue * queue, QueueIn(ctx));
  std::lock_guard lock(queue->mutex);
  if (queue->closed) return MakeError("queue '{0}' is already closed", queue->name);
  queue->closed = true;
  return Error::success();
}

Error IsClosed(KernelContext& ctx) {
  ASSIGN_OR_RETURN(Queue * queue, QueueIn(ctx));
  ASSIGN_OR_RETURN(Tensor * out, ctx.Allocate(0, {}));
  std::lock_guard lock(queue->mutex);
  *out->data<bool>() = queue->closed;
  return Error::success();
}

#define GRAPNEL_QUEUE_KERNEL(op, make)              \
  GRAPNEL_CPU_KERNEL(op, make, KernelCost::kCheap); \
  GRAPNEL_CPU_KERNEL(op "V2", make, KernelCost::kCheap)
GRAPNEL_QUEUE_KERNEL("FIFOQueue", MakeQueue<Order::kFirst>);
GRAPNEL_QUEUE_KERNEL("PaddingFIFOQueue", MakeQueue<Order::kPadded>);
GRAPNEL_QUEUE_KERNEL("RandomShuffleQueue", MakeQueue<Order::kShuffled>);
GRAPNEL_QUEUE_KERNEL("PriorityQueue", MakeQueue<Order::kPriority>);
GRAPNEL_QUEUE_KERNEL("QueueEnqueue", KernelOf<EnqueueInto<false>>);
GRAPNEL_QUEUE_KERNEL("QueueEnqueueMany", KernelOf<EnqueueInto<true>>);
GRAPNEL_QUEUE_KERNEL("QueueDequeue", KernelOf<Dequeue>);
GRAPNEL_QUEUE_KERNEL("QueueDequeueMany", KernelOf<DequeueMany<false>>);
GRAPNEL_QUEUE_KERNEL("QueueDequeueUpTo", KernelOf<DequeueMany<true>>);
GRAPNEL_QUEUE_KERNEL("QueueSize", KernelOf<Size>);
GRAPNEL_QUEUE_KERNEL("QueueClose", KernelOf<Close>);
GRAPNEL_QUEUE_KERNEL("QueueIsClosed", KernelOf<IsClosed>);

}  // namespace
}  // namespace grapnel
