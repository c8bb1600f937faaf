// Iterators over datasets, optionals, and ops on a dataset as a whole.
#include "kernels/common/kernel_of.h"
#include "kernels/cpu/control/function_call.h"
#include "kernels/cpu/data/dataset.h"
#include "lib/exec/session.h"
#include "lib/ir/device_name.h"

namespace grapnel {
namespace {

using IteratorRef = llvm::IntrusiveRefCntPtr<DatasetIterator>;

// --- Iterator resources

void PutHandle(KernelContext& ctx, ObjectRef object) {
  ctx.SetOutput(0, Tensor::OfObject(proto::DT_RESOURCE, object));
  // AnonymousIteratorV2 also has a deleter output. It is the handle again: the last handle frees
  // the iterator.
  if (ctx.num_outputs() > 1)
    ctx.SetOutput(1, Tensor::OfObject(proto::DT_VARIANT, std::move(object)));
}

Expected<ObjectRef> NamedIterator(KernelContext& ctx, const std::string& container,
                                  const std::string& name, llvm::function_ref<ObjectRef()> make) {
  if (!ctx.session()) return MakeError("iterators need a session");
  ObjectRef object = ctx.session()->FindOrMake(container, name, make);
  if (!dynamic_cast<DatasetIterator*>(object.get()))
    return MakeError("'{0}' is {1}, an iterator was expected", name, object->ToString());
  return object;
}

std::string NameOf(const Node& node) {
  std::string name = node.GetString("shared_name");
  return name.empty() ? node.name().str() : name;
}

// The session shares named iterators; an anonymous iterator belongs to its handle.
Expected<KernelFn> MakeIteratorHandle(const KernelSetup& setup) {
  std::string name = NameOf(setup.node()), container = setup.node().GetString("container");
  ElementSpec spec = SpecOfAttrs(setup.node());
  return KernelFn([name, container, spec](KernelContext& ctx) -> Error {
    ASSIGN_OR_RETURN(ObjectRef object, NamedIterator(ctx, container, name, [&] {
                       return ObjectRef(new DatasetIterator(name, spec));
                     }));
    PutHandle(ctx, std::move(object));
    return Error::success();
  });
}

Expected<KernelFn> MakeAnonymousIterator(const KernelSetup& setup) {
  return KernelFn([name = setup.node().name().str(),
                   spec = SpecOfAttrs(setup.node())](KernelContext& ctx) -> Error {
    PutHandle(ctx, new DatasetIterator(name, spec));
    return Error::success();
  });
}

Error StartFrom(const FunctionCall& factory, KernelContext& ctx, DatasetIterator& iterator) {
  llvm::SmallVector<Tensor, 1> results;
  RETURN_IF_ERROR(factory.Run(ctx.services(), {}, &results));
  if (results.size() != 1)
    return MakeError("dataset_factory gives {0} results, a dataset was expected", results.size());
  ASSIGN_OR_RETURN(DatasetRef dataset, DatasetOf(results[0]));
  return iterator.Start(std::move(dataset));
}

// An iterator over the dataset that a function returns; the function is called once per session.
Expected<KernelFn> MakeOneShot(const KernelSetup& setup) {
  std::string name = NameOf(setup.node()), container = setup.node().GetString("container");
  ASSIGN_OR_RETURN(std::string factory, FunctionAttr(setup.node(), "dataset_factory"));
  return KernelFn([name, container, spec = SpecOfAttrs(setup.node()),
                   call = FunctionCall(setup.node(), factory)](KernelContext& ctx) -> Error {
    IteratorRef made;
    ASSIGN_OR_RETURN(ObjectRef object, NamedIterator(ctx, container, name, [&] {
                       made = new DatasetIterator(name, spec);
                       return ObjectRef(made);
                     }));
    if (made) {
      if (Error error = StartFrom(call, ctx, *made)) {
        ctx.session()->Forget(*made);  // the next run calls the function again
        return error;
      }
    }
    PutHandle(ctx, std::move(object));
    return Error::success();
  });
}

Expected<DatasetIterator*> IteratorIn(const KernelContext& ctx, int i) {
  const Tensor& tensor = ctx.input(i);
  DatasetIterator* iterator = nullptr;
  if (tensor.HoldsObjects() && tensor.num_elements() == 1)
    iterator = dynamic_cast<DatasetIterator*>(tensor.data<ObjectRef>()->get());
  if (iterator) return iterator;
  return MakeError("input {0} is {1}, an iterator was expected", i, tensor.ToString());
}

Error Start(KernelContext& ctx) {
  ASSIGN_OR_RETURN(DatasetRef dataset, DatasetIn(ctx, 0));
  ASSIGN_OR_RETURN(DatasetIterator * iterator, IteratorIn(ctx, 1));
  return iterator->Start(std::move(dataset));
}

Error Delete(KernelContext& ctx) {
  ASSIGN_OR_RETURN(DatasetIterator * iterator, IteratorIn(ctx, 0));
  if (ctx.session()) ctx.session()->Forget(*iterator);
  return Error::success();
}

// A string handle is the resource's name in the session. An anonymous iterator is registered under
// such a name, and then lives as long as the session.
Error ToStringHandle(KernelContext& ctx) {
  ASSIGN_OR_RETURN(DatasetIterator * iterator, IteratorIn(ctx, 0));
  if (!ctx.session()) return MakeError("iterators need a session");
  std::string handle;
  auto resources = ctx.session()->Resources();
  for (const auto& [name, object] : resources) {
    if (object.get() == iterator) handle = name;
  }
  if (handle.empty()) {
    handle = "anonymous_iterator/" + std::to_string(resources.size());
    ctx.session()->FindOrMake("", handle, [&] { return ObjectRef(iterator); });
  }
  ASSIGN_OR_RETURN(Tensor * out, ctx.Allocate(0, {}));
  *out->data<std::string>() = handle;
  return Error::success();
}

Expected<KernelFn> MakeFromStringHandle(const KernelSetup& setup) {
  return KernelFn([spec = SpecOfAttrs(setup.node())](KernelContext& ctx) -> Error {
    if (!ctx.session()) return MakeError("iterators need a session");
    if (ctx.input(0).num_elements() != 1)
      return MakeError("string_handle must have one element, got shape {0}",
                       DimsText(ctx.input(0).dims()));
    const std::string& handle = *ctx.input(0).data<std::string>();
    for (const auto& [name, object] : ctx.session()->Resources()) {
      auto* iterator = name == handle ? dynamic_cast<DatasetIterator*>(object.get()) : nullptr;
      if (!iterator) continue;
      RETURN_IF_ERROR(spec.Check(iterator->spec()));
      PutHandle(ctx, object);
      return Error::success();
    }
    return MakeError("there is no iterator '{0}'", handle);
  });
}

Error Device(KernelContext& ctx) {
  ASSIGN_OR_RETURN(Tensor * out, ctx.Allocate(0, {}));
  *out->data<std::string>() = kLocalCpu;
  return Error::success();
}

// --- Elements

// Stores an element in the outputs.
Error PutElement(KernelContext& ctx, const ElementSpec& spec, const DatasetElement& element) {
  if (static_cast<int>(element.size()) != ctx.num_outputs()) {
    return MakeError("the element has {0} components, {1} were expected", element.size(),
                     ctx.num_outputs());
  }
  RETURN_IF_ERROR(spec.Check(element));
  for (size_t i = 0; i < element.size(); ++i) ctx.SetOutput(i, element[i]);
  return Error::success();
}

// Creates a kernel from a function that also gets the element spec of the node.
template <Error (*kRun)(KernelContext&, const ElementSpec&)>
Expected<KernelFn> WithSpec(const KernelSetup& setup) {
  return KernelFn(
      [spec = SpecOfAttrs(setup.node())](KernelContext& ctx) { return kRun(ctx, spec); });
}

Error GetNext(KernelContext& ctx, const ElementSpec& spec) {
  ASSIGN_OR_RETURN(DatasetIterator * iterator, IteratorIn(ctx, 0));
  ASSIGN_OR_RETURN(auto element, iterator->Next(ctx.services()));
  if (!element) return MakeError("end of sequence: {0} has no more elements", iterator->ToString());
  return PutElement(ctx, spec, *element);
}

void PutOptional(KernelContext& ctx, std::optional<DatasetElement> value) {
  llvm::IntrusiveRefCntPtr<Optional> optional(new Optional);
  optional->value = std::move(value);
  ctx.SetOutput(0, Tensor::OfObject(proto::DT_VARIANT, std::move(optional)));
}

Error GetNextAsOptional(KernelContext& ctx, const ElementSpec& spec) {
  ASSIGN_OR_RETURN(DatasetIterator * iterator, IteratorIn(ctx, 0));
  ASSIGN_OR_RETURN(auto element, iterator->Next(ctx.services()));
  if (element) RETURN_IF_ERROR(spec.Check(*element));
  PutOptional(ctx, std::move(element));
  return Error::success();
}

Expected<const Optional*> OptionalIn(const KernelContext& ctx) {
  const Tensor& tensor = ctx.input(0);
  if (tensor.dtype() == proto::DT_VARIANT && tensor.num_elements() == 1) {
    if (auto* optional = dynamic_cast<Optional*>(tensor.data<ObjectRef>()->get())) return optional;
  }
  return MakeError("input 0 is {0}, an optional was expected", tensor.ToString());
}

Error FromValue(KernelContext& ctx) {
  PutOptional(ctx, InputsOf(ctx, 0, ctx.num_inputs()));
  return Error::success();
}

Error None(KernelContext& ctx) {
  PutOptional(ctx, std::nullopt);
  return Error::success();
}

Error HasValue(KernelContext& ctx) {
  ASSIGN_OR_RETURN(const Optional* optional, OptionalIn(ctx));
  ASSIGN_OR_RETURN(Tensor * out, ctx.Allocate(0, {}));
  *out->data<bool>() = optional->value.has_value();
  return Error::success();
}

Error GetValue(KernelContext& ctx, const ElementSpec& spec) {
  ASSIGN_OR_RETURN(const Optional* optional, OptionalIn(ctx));
  if (!optional->value) return MakeError("the optional has no value");
  return PutElement(ctx, spec, *optional->value);
}

// --- Ops on a whole dataset

Error Cardinality(KernelContext& ctx) {
  ASSIGN_OR_RETURN(DatasetRef dataset, DatasetIn(ctx, 0));
  ASSIGN_OR_RETURN(Tensor * out, ctx.Allocate(0, {}));
  *out->data<int64_t>() = dataset->cardinality();
  return Error::success();
}

Error SingleElement(KernelContext& ctx, const ElementSpec& spec) {
  ASSIGN_OR_RETURN(DatasetRef dataset, DatasetIn(ctx, 0));
  DatasetWalk walk(dataset);
  ASSIGN_OR_RETURN(auto element, walk.Next(ctx.services()));
  if (!element) return MakeError("the dataset is empty, one element was expected");
  ASSIGN_OR_RETURN(auto second, walk.Next(ctx.services()));
  if (second) return MakeError("the dataset has more than one element");
  return PutElement(ctx, spec, *element);
}

Error ElementAt(KernelContext& ctx, const ElementSpec& spec) {
  ASSIGN_OR_RETURN(DatasetRef dataset, DatasetIn(ctx, 0));
  ASSIGN_OR_RETURN(int64_t index, ScalarIn(ctx, 1));
  DatasetWalk walk(dataset);
  for (int64_t i = 0; index >= 0; ++i) {
    ASSIGN_OR_RETURN(auto element, walk.Next(ctx.services()));
    if (!element) break;
    if (i == index) return PutElement(ctx, spec, *element);
  }
  return MakeError("the dataset has no element {0}", index);
}

#define GRAPNEL_ITERATOR_KERNEL(op, make) GRAPNEL_CPU_KERNEL(op, make, KernelCost::kCheap)
// For kernels that iterate over a dataset, whose elements may come from function calls, or call a
// function themselves.
#define GRAPNEL_WALK_KERNEL(op, make) GRAPNEL_CPU_KERNEL(op, make, KernelCost::kWide)
GRAPNEL_ITERATOR_KERNEL("Iterator", MakeIteratorHandle);
GRAPNEL_ITERATOR_KERNEL("IteratorV2", MakeIteratorHandle);
GRAPNEL_ITERATOR_KERNEL("AnonymousIterator", MakeAnonymousIterator);
GRAPNEL_ITERATOR_KERNEL("AnonymousIteratorV2", MakeAnonymousIterator);
GRAPNEL_ITERATOR_KERNEL("AnonymousIteratorV3", MakeAnonymousIterator);
GRAPNEL_WALK_KERNEL("OneShotIterator", MakeOneShot);
GRAPNEL_ITERATOR_KERNEL("MakeIterator", KernelOf<Start>);
GRAPNEL_ITERATOR_KERNEL("DeleteIterator", KernelOf<Delete>);
GRAPNEL_ITERATOR_KERNEL("IteratorToStringHandle", KernelOf<ToStringHandle>);
GRAPNEL_ITERATOR_KERNEL("IteratorFromStringHandle", MakeFromStringHandle);
GRAPNEL_ITERATOR_KERNEL("IteratorFromStringHandleV2", MakeFromStringHandle);
GRAPNEL_ITERATOR_KERNEL("IteratorGetDevice", KernelOf<Device>);
GRAPNEL_WALK_KERNEL("IteratorGetNext", WithSpec<GetNext>);
GRAPNEL_WALK_KERNEL("IteratorGetNextSync", WithSpec<GetNext>);
GRAPNEL_WALK_KERNEL("IteratorGetNextAsOptional", WithSpec<GetNextAsOptional>);
GRAPNEL_ITERATOR_KERNEL("OptionalFromValue", KernelOf<FromValue>);
GRAPNEL_ITERATOR_KERNEL("OptionalNone", KernelOf<None>);
GRAPNEL_ITERATOR_KERNEL("OptionalHasValue", KernelOf<HasValue>);
GRAPNEL_ITERATOR_KERNEL("OptionalGetValue", WithSpec<GetValue>);
GRAPNEL_ITERATOR_KERNEL("DatasetCardinality", KernelOf<Cardinality>);
GRAPNEL_WALK_KERNEL("DatasetToSingleElement", WithSpec<SingleElement>);
GRAPNEL_WALK_KERNEL("GetElementAtIndex", WithSpec<ElementAt>);

}  // namespace
}  // namespace grapnel
