// Staging areas: Stage and related ops (FIFO), MapStage and OrderedMapStage (by key, possibly part
// by part).
//
// No kernel waits, as with queues: a run is one pass over its graph, so no other op could fill or
// empty an area in the meantime. Where TensorFlow would wait, the kernel returns an error that says
// so. An op that fails a check leaves the area's content unchanged.
#include <algorithm>
#include <deque>
#include <map>
#include <mutex>

#include "kernels/common/dims.h"
#include "lib/exec/session.h"

namespace grapnel {
namespace {

using Element = std::vector<Tensor>;

int64_t BytesOf(const Tensor& tensor) {
  if (tensor.dtype() != proto::DT_STRING) return static_cast<int64_t>(tensor.byte_size());
  int64_t bytes = 0;
  for (int64_t i = 0; i < tensor.num_elements(); ++i)
    bytes += static_cast<int64_t>(sizeof(std::string) + tensor.data<std::string>()[i].size());
  return bytes;
}
int64_t BytesOf(const Element& element) {
  int64_t bytes = 0;
  for (const Tensor& tensor : element) bytes += tensor ? BytesOf(tensor) : 0;
  return bytes;
}

// The maximum numbers of elements and bytes; 0: unlimited.
struct Limits {
  int64_t capacity = 0, memory = 0;

  Error Check(int64_t elements, int64_t bytes, int64_t more) const {
    if (memory > 0 && more > memory)
      return MakeError("tensors of {0} bytes exceed the staging area's memory limit of {1}", more,
                       memory);
    if ((capacity > 0 && elements >= capacity) || (memory > 0 && bytes + more > memory))
      return MakeError(
          "the staging area is full ({0} elements, {1} bytes): ops do not wait, so an earlier op "
          "or run must make room",
          elements, bytes);
    return Error::success();
  }
};

Expected<Limits> ReadLimits(const Node& node) {
  Limits limits = {node.GetInt("capacity"), node.GetInt("memory_limit")};
  if (limits.capacity >= 0 && limits.memory >= 0) return limits;
  return MakeError("capacity and memory_limit must not be negative, got {0} and {1}",
                   limits.capacity, limits.memory);
}

// Identifies the area that ops with the same shared_name (or the same name) share.
struct Place {
  std::string container, name;
  Limits limits;
  size_t components;  // per element
};

Expected<Place> PlaceOf(const Node& node) {
  Place place;
  place.container = node.GetString("container");
  place.name = node.GetString("shared_name");
  if (place.name.empty()) place.name = node.name().str();
  ASSIGN_OR_RETURN(place.limits, ReadLimits(node));
  auto types = node.Attr("dtypes");
  place.components = types ? types->AsTypes().value_or(std::vector<DataType>()).size() : 0;
  return place;
}

template <typename Area>
Expected<llvm::IntrusiveRefCntPtr<Area>> AreaAt(const KernelContext& ctx, const Place& place) {
  if (!ctx.session()) return MakeError("staging areas need a session");
  ObjectRef object = ctx.session()->FindOrMake(place.container, place.name, [&] {
    return ObjectRef(new Area(place.limits, place.components));
  });
  auto* area = dynamic_cast<Area*>(object.get());
  if (area) return llvm::IntrusiveRefCntPtr<Area>(area);
  return MakeError("'{0}' is {1}, not the kind of staging area that this op uses", place.name,
                   object->ToString());
}

// Creates a kernel that calls `run` with exclusive access to the area.
template <typename Area, Error (*run)(KernelContext&, Area&)>
Expected<KernelFn> MakeOn(const KernelSetup& setup) {
  ASSIGN_OR_RETURN(Place place, PlaceOf(setup.node()));
  return KernelFn([place](KernelContext& ctx) -> Error {
    ASSIGN_OR_RETURN(auto area, AreaAt<Area>(ctx, place));
    std::lock_guard lock(area->mutex);
    return run(ctx, *area);
  });
}

Error PutSize(KernelContext& ctx, size_t size) {
  ASSIGN_OR_RETURN(Tensor * out, ctx.Allocate(0, {}));
  *out->data<int32_t>() = static_cast<int32_t>(size);
  return Error::success();
}

Error PutElement(KernelContext& ctx, int first, Element element) {
  if (static_cast<int>(element.size()) > ctx.num_outputs() - first)
    return MakeError("an element has {0} components, expected at most {1}", element.size(),
                     ctx.num_outputs() - first);
  for (size_t i = 0; i < element.size(); ++i) {
    int out = first + static_cast<int>(i);
    if (element[i].dtype() != ctx.output_type(out))
      return MakeError("component {0} has dtype {1}, {2} was expected", i,
                       DataTypeName(element[i].dtype()), DataTypeName(ctx.output_type(out)));
    ctx.SetOutput(out, std::move(element[i]));
  }
  return Error::success();
}

// --- Stage

class Buffered : public Object {
 public:
  Buffered(Limits limits, size_t) : limits(limits) {}
  std::string ToString() const override {
    return llvm::formatv("staging area of {0} elements", elements.size()).str();
  }

  std::mutex mutex;
  Limits limits;
  std::deque<Element> elements;
  int64_t bytes = 0;
};

Error Stage(KernelContext& ctx, Buffered& area) {
  Element element;
  for (int i = 0; i < ctx.num_inputs(); ++i) element.push_back(ctx.input(i));
  int64_t more = BytesOf(element);
  RETURN_IF_ERROR(area.limits.Check(static_cast<int64_t>(area.elements.size()), area.bytes, more));
  area.bytes += more;
  area.elements.push_back(std::move(element));
  return Error::success();
}

Error Unstage(KernelContext& ctx, Buffered& area) {
  if (area.elements.empty())
    return MakeError(
        "the staging area is empty: ops do not wait, so an earlier op or run must fill it");
  const Element& element = area.elements.front();
  if (static_cast<int>(element.size()) != ctx.num_outputs())
    return MakeError("mismatch stage/unstage: {0} vs. {1} components", element.size(),
                     ctx.num_outputs());
  RETURN_IF_ERROR(PutElement(ctx, 0, element));
  area.bytes -= BytesOf(element);
  area.elements.pop_front();
  return Error::success();
}

Error Peek(KernelContext& ctx, Buffered& area) {
  if (ctx.input(0).rank() != 0) return MakeError("index must be a scalar");
  int64_t index = ctx.input(0).IntAt(0), size = static_cast<int64_t>(area.elements.size());
  if (index < 0 || index >= size)
    return MakeError(
        "the staging area has {1} elements and no element {0}: ops do not wait, so an earlier op "
        "or run must add it",
        index, size);
  return PutElement(ctx, 0, area.elements[index]);
}

Error Size(KernelContext& ctx, Buffered& area) { return PutSize(ctx, area.elements.size()); }

Error Clear(KernelContext&, Buffered& area) {
  area.elements.clear();
  area.bytes = 0;
  return Error::success();
}

// --- MapStage, OrderedMapStage. A key keeps the shape with which it was staged. Both sort their
// keys; in TensorFlow, MapUnstageNoKey takes any key.

struct Keyed {
  Tensor key;
  Element parts;  // missing ones are null tensors
};

template <bool ordered>
class Mapped : public Object {
 public:
  Mapped(Limits limits, size_t components) : limits(limits), components(components) {}
  std::string ToString() const override {
    return llvm::formatv("staging map of {0} elements", complete.size()).str();
  }

  std::mutex mutex;
  Limits limits;
  size_t components;
  std::map<int64_t, Keyed> complete;
  std::map<int64_t, Element> incomplete;
  int64_t bytes = 0;
};

Expected<int64_t> KeyIn(const KernelContext& ctx) {
  if (ctx.input(0).num_elements() == 1) return ctx.input(0).IntAt(0);
  return MakeError("key must have one element, got shape {0}", DimsText(ctx.input(0).dims()));
}

Expected<Dims> RisingIn(const KernelContext& ctx, int i) {
  Dims indices = IntsOf(ctx.input(i));
  for (size_t k = 1; k < indices.size(); ++k) {
    if (indices[k - 1] >= indices[k])
      return MakeError("indices are not strictly ordered: {0} before {1}", indices[k - 1],
                       indices[k]);
  }
  return indices;
}

Error CheckInside(llvm::ArrayRef<int64_t> indices, size_t components) {
  for (int64_t index : indices) {
    if (index < 0 || index >= static_cast<int64_t>(components))
      return MakeError("index {0} is not in [0, {1}), the indices of the components", index,
                       components);
  }
  return Error::success();
}

Expected<Dims> IndicesIn(const KernelContext& ctx, int i, size_t components) {
  ASSIGN_OR_RETURN(Dims indices, RisingIn(ctx, i));
  RETURN_IF_ERROR(CheckInside(indices, components));
  return indices;
}

// If there are as many values as components, they form a whole element in their order: as in
// TensorFlow, the indices, and earlier parts under the key, are ignored.
template <bool ordered>
Error StageAt(KernelContext& ctx, Mapped<ordered>& area) {
  ASSIGN_OR_RETURN(int64_t key, KeyIn(ctx));
  ASSIGN_OR_RETURN(Dims indices, RisingIn(ctx, 1));
  int given = ctx.num_inputs() - 2;
  if (indices.empty() || static_cast<int>(indices.size()) != given)
    return MakeError("expected as many indices as values, and at least one, got {0} and {1}",
                     indices.size(), given);
  bool is_whole = indices.size() == area.components;
  if (!is_whole) RETURN_IF_ERROR(CheckInside(indices, area.components));
  Element values;
  for (int i = 0; i < given; ++i) values.push_back(ctx.input(2 + i));
  int64_t more = BytesOf(values);
  RETURN_IF_ERROR(area.limits.Check(static_cast<int64_t>(area.complete.size()), area.bytes, more));
  if (is_whole) {
    area.complete.emplace(key, Keyed{ctx.input(0), std::move(values)});
    area.bytes += more;
    return Error::success();
  }
  Element& element = area.incomplete[key];
  element.resize(area.components);
  for (int i = 0; i < given; ++i) {
    if (element[indices[i]])
      return MakeError("the tensor for index {0} of key {1} was already initialized", indices[i],
                       key);
  }
  for (int i = 0; i < given; ++i) element[indices[i]] = std::move(values[i]);
  area.bytes += more;
  if (llvm::any_of(element, [](const Tensor& tensor) { return !tensor; })) return Error::success();
  area.complete.emplace(key, Keyed{ctx.input(0), std::move(element)});
  area.incomplete.erase(key);
  return Error::success();
}

// Sets the outputs from `first` on to the components `indices` of an element.
Error PutParts(KernelContext& ctx, int first, const Keyed& staged, int64_t key,
               llvm::ArrayRef<int64_t> indices) {
  Element parts;
  for (int64_t index : indices) {
    const Tensor& part = staged.parts[index];
    if (!part)
      return MakeError("the tensor at index {0} of key {1} has already been removed", index, key);
    parts.push_back(part);
  }
  return PutElement(ctx, first, std::move(parts));
}

// Removes the components `indices` of an element, and the element once it has none left.
template <bool ordered>
void RemoveParts(Mapped<ordered>& area, std::map<int64_t, Keyed>::iterator staged,
                 llvm::ArrayRef<int64_t> indices) {
  Element& parts = staged->second.parts;
  for (int64_t index : indices) {
    area.bytes -= BytesOf(parts[index]);
    parts[index] = Tensor();
  }
  if (llvm::none_of(parts, [](const Tensor& tensor) { return bool(tensor); }))
    area.complete.erase(staged);
}

template <bool ordered, bool take>
Error ReadAt(KernelContext& ctx, Mapped<ordered>& area) {
  ASSIGN_OR_RETURN(int64_t key, KeyIn(ctx));
  ASSIGN_OR_RETURN(Dims indices, IndicesIn(ctx, 1, area.components));
  auto found = area.complete.find(key);
  if (found == area.complete.end())
    return MakeError(
        "key {0} is not in the staging map: ops do not wait, so an earlier op or run must add it",
        key);
  RETURN_IF_ERROR(PutParts(ctx, 0, found->second, key, indices));
  if (take) RemoveParts(area, found, indices);
  return Error::success();
}

template <bool ordered>
Error TakeAny(KernelContext& ctx, Mapped<ordered>& area) {
  ASSIGN_OR_RETURN(Dims indices, IndicesIn(ctx, 0, area.components));
  if (area.complete.empty())
    return MakeError(
        "the staging map is empty: ops do not wait, so an earlier op or run must fill it");
  auto first = area.complete.begin();
  RETURN_IF_ERROR(PutParts(ctx, 1, first->second, first->first, indices));
  ctx.SetOutput(0, first->second.key);
  RemoveParts(area, first, indices);
  return Error::success();
}

template <bool ordered>
Error MapSize(KernelContext& ctx, Mapped<ordered>& area) {
  return PutSize(ctx, area.complete.size());
}
template <bool ordered>
Error MapIncompleteSize(KernelContext& ctx, Mapped<ordered>& area) {
  return PutSize(ctx, area.incomplete.size());
}
template <bool ordered>
Error MapClear(KernelContext&, Mapped<ordered>& area) {
  area.complete.clear();
  area.incomplete.clear();
  area.bytes = 0;
  return Error::success();
}

#define GRAPNEL_STAGE_KERNEL(op, run) \
  GRAPNEL_CPU_KERNEL(op, (MakeOn<Buffered, run>), KernelCost::kCheap)
GRAPNEL_STAGE_KERNEL("Stage", Stage);
GRAPNEL_STAGE_KERNEL("Unstage", Unstage);
GRAPNEL_STAGE_KERNEL("StagePeek", Peek);
GRAPNEL_STAGE_KERNEL("StageSize", Size);
GRAPNEL_STAGE_KERNEL("StageClear", Clear);

#define GRAPNEL_MAP_STAGE_KERNEL(op, ordered, ...) \
  GRAPNEL_CPU_KERNEL(op, (MakeOn<Mapped<ordered>, __VA_ARGS__>), KernelCost::kCheap)
#define GRAPNEL_MAP_STAGE_KERNELS(prefix, ordered)                                        \
  GRAPNEL_MAP_STAGE_KERNEL(prefix "Stage", ordered, StageAt<ordered>);                    \
  GRAPNEL_MAP_STAGE_KERNEL(prefix "Unstage", ordered, ReadAt<ordered, true>);             \
  GRAPNEL_MAP_STAGE_KERNEL(prefix "UnstageNoKey", ordered, TakeAny<ordered>);             \
  GRAPNEL_MAP_STAGE_KERNEL(prefix "Peek", ordered, ReadAt<ordered, false>);               \
  GRAPNEL_MAP_STAGE_KERNEL(prefix "Size", ordered, MapSize<ordered>);                     \
  GRAPNEL_MAP_STAGE_KERNEL(prefix "IncompleteSize", ordered, MapIncompleteSize<ordered>); \
  GRAPNEL_MAP_STAGE_KERNEL(prefix "Clear", ordered, MapClear<ordered>)
GRAPNEL_MAP_STAGE_KERNELS("Map", false);
GRAPNEL_MAP_STAGE_KERNELS("OrderedMap", true);

}  // namespace
}  // namespace grapnel
