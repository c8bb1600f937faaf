// The public interface of shape inference, and the inference of function calls.
#include <algorithm>

#include "lib/ir/wire.h"
#include "lib/shape/inference.h"
#include "lib/shape/shape_map_impl.h"
#include "llvm/ADT/STLExtras.h"

namespace grapnel {
namespace {

int ProducerOf(const Module& module) {
  int producer = 0;
  WireReader reader(module.versions);
  while (reader.Next()) {
    if (reader.Is(1, WireType::kVarint)) producer = static_cast<int>(reader.number());
  }
  return producer;
}

}  // namespace

void ShapeMap::Impl::Called(llvm::StringRef function, llvm::ArrayRef<const PortFacts*> args) {
  if (!records_calls_) return;
  CallFacts call;
  call.function = function.str();
  for (const PortFacts* arg : args) call.args.push_back(arg ? arg->Copy() : PortFacts());
  calls_[context_.node.id()].push_back(std::move(call));
}

void SharedShapes::BelieveArgNotes(const Function& function, std::vector<PortFacts>* args) {
  if (!believes_notes) return;
  auto [known, added] = notes.try_emplace(&function);
  if (added) known->second = ArgNotesInFile(function);
  for (size_t i = 0; i < args->size() && i < known->second.size(); ++i)
    BelieveNote(known->second[i], &(*args)[i]);
}

// Finds the dtype of an output of an op with list outputs. If there are many outputs, stores the
// dtypes of all at once, because the same attribute defines them; not if the attribute claims more
// outputs than there are facts, perhaps a million.
DataType ShapeMap::Impl::WorkOutTypes(const Node& node, const OpInfo& info, Port port) const {
  constexpr uint32_t kFew = 4;
  uint32_t count = count_[port.node];
  if (count <= kFew || grapnel::NumOutputs(node) != static_cast<int>(count))
    return TypeOfPort(graph_, port);
  Expected<NodeTypes> types = TypesOf(node, info);
  if (!types) {
    llvm::consumeError(types.takeError());
    return TypeOfPort(graph_, port);
  }
  for (uint32_t i = 0; i < count; ++i) {
    std::atomic_ref<DataType> kept(facts_[first_[port.node] + i].type);
    kept.store(types->outputs[i], std::memory_order_relaxed);
  }
  return types->outputs[port.index];
}

// Infers the facts about the results of a function's body from the facts about its arguments,
// `args`.
std::vector<PortFacts> ShapeMap::Impl::InferBody(Function& function, std::vector<PortFacts> args) {
  Impl body(function.body, {}, shared_);
  shared_->BelieveArgNotes(function, &args);
  body.SetArgs(std::move(args));
  body.Run();
  std::vector<PortFacts> results;
  for (const Function::Result& result : function.results) {
    Node node = function.body.node(result.node);
    const PortFacts* value = node.num_inputs() == 1 ? body.Facts(node.input(0)) : nullptr;
    results.push_back(value ? value->Copy() : PortFacts());
  }
  return results;
}

std::vector<PortFacts> ShapeMap::Impl::Infer(llvm::StringRef name,
                                             llvm::ArrayRef<const PortFacts*> args) {
  Function* function = graph_.module().FindFunction(name);
  if (!function) {
    shared_->calls.MissFunction();
    return {};
  }
  return shared_->calls.Results(*function, args, [&](std::vector<PortFacts> given) {
    return InferBody(*function, std::move(given));
  });
}

void ShapeMap::Impl::AddCall(const Function& function, const Impl& body) {
  // True if inferring the body for a call would give these facts too, because they have no symbol
  // or handle of this body.
  auto is_plain = [](const PortFacts* facts) {
    return facts && facts->handle == 0 &&
           llvm::all_of(facts->shape.dims(), [](int64_t dim) { return dim >= kUnknownDim; });
  };
  if (HasListArgs(function) || !body.shared_->calls.empty() || body.symbols_) return;
  llvm::SmallVector<const PortFacts*, 4> args;
  for (NodeId id : function.args) {
    args.push_back(body.Facts({id, 0}));
    if (!is_plain(args.back()) || args.back()->extra) return;
  }
  std::vector<PortFacts> results;
  for (const Function::Result& result : function.results) {
    Node node = function.body.node(result.node);
    const PortFacts* facts = node.num_inputs() == 1 ? body.Facts(node.input(0)) : nullptr;
    if (!is_plain(facts) || facts->extra) return;
    results.push_back(facts->Copy());
  }
  shared_->calls.Add(function, args, std::move(results));
}

ShapeMap::ShapeMap(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
ShapeMap::ShapeMap(ShapeMap&&) noexcept = default;
ShapeMap& ShapeMap::operator=(ShapeMap&&) noexcept = default;
ShapeMap::~ShapeMap() = default;

const Shape& ShapeMap::OfPort(Port port) const {
  static const Shape unknown;
  const PortFacts* facts = impl_->Facts(port);
  if (!facts) return unknown;
  const Impl::Resolved* resolved = impl_->ResolvedOf(*facts);
  return resolved ? resolved->shape : facts->shape;
}

DataType ShapeMap::TypeOf(Port port) const { return impl_->TypeOf(port); }

std::optional<llvm::ArrayRef<int64_t>> ShapeMap::ElementsOf(Port port) const {
  const PortFacts* facts = impl_->Facts(port);
  if (!facts || !facts->elements()) return std::nullopt;
  const Impl::Resolved* resolved = impl_->ResolvedOf(*facts);
  if (resolved) return llvm::ArrayRef<int64_t>(*resolved->elements);
  return llvm::ArrayRef<int64_t>(*facts->elements());
}

std::optional<llvm::ArrayRef<int64_t>> ShapeMap::IntegersOf(Port port) const {
  auto elements = ElementsOf(port);
  if (elements && !std::all_of(elements->begin(), elements->end(), IsKnownElement))
    return std::nullopt;
  return elements;
}

const Shape& ShapeMap::OfContent(Port port) const {
  static const Shape unknown;
  const PortFacts* facts = impl_->Facts(port);
  return facts && facts->content() ? *facts->content() : unknown;
}

int ShapeMap::NumOutputs(NodeId id) const { return impl_->CountOf(id); }

const std::vector<Problem>& ShapeMap::problems() const { return impl_->problems(); }

void ShapeMap::Update(NodeId id) { impl_->Update(id); }
bool ShapeMap::DemandsChanged() const { return impl_->DemandsChanged(); }
void ShapeMap::AddCall(const Function& function, const ShapeMap& body) {
  impl_->AddCall(function, *body.impl_);
}

std::shared_ptr<SharedShapes> SharedShapesOf(const Module& module, const SharedShapes* beside) {
  auto shared = std::make_shared<SharedShapes>();
  shared->ops = beside ? beside->ops : std::make_shared<ShapeOps>();
  shared->graph_version = ProducerOf(module);
  return shared;
}

ShapeMap InferShapes(const Graph& graph, const ShapeOptions& options,
                     llvm::ArrayRef<Shape> arg_shapes) {
  std::shared_ptr<SharedShapes> shared =
      SharedShapesOf(graph.module(), options.beside ? &options.beside->impl_->shared() : nullptr);
  auto impl = std::make_unique<ShapeMap::Impl>(graph, options, shared);
  impl->UseSymbols();
  std::vector<PortFacts> args;
  if (const Function* function = FunctionOf(graph); function && !HasListArgs(*function)) {
    shared->calls.Enter(*function);
    std::vector<Shape> shapes = arg_shapes.empty() ? ArgShapesInFile(*function) : arg_shapes.vec();
    for (size_t i = 0; i < shapes.size(); ++i) {
      PortFacts& arg = args.emplace_back();
      bool is_handle = i < function->args.size() && !arg_shapes.empty() &&
                       graph.node(function->args[i]).GetType("T") == proto::DT_RESOURCE;
      if (is_handle) {
        arg.SetContent(std::move(shapes[i]));
        arg.shape = Shape::Scalar();
      } else {
        arg.shape = std::move(shapes[i]);
      }
    }
  }
  impl->SetArgs(std::move(args));
  impl->Run();
  return ShapeMap(std::move(impl));
}

}  // namespace grapnel
