#include "lib/job/shape_overrides.h"

#include <set>

#include "lib/io/signature.h"
#include "lib/ir/attr.h"
#include "lib/ir/find.h"
#include "lib/ir/node_types.h"
#include "lib/job/name_resolver.h"
#include "lib/shape/arithmetic.h"
#include "lib/shape/inference.h"
#include "lib/support/text.h"
#include "llvm/ADT/STLExtras.h"

namespace grapnel {
namespace {

Shape ShapeOfPlaceholder(const Node& node) {
  std::optional<AttrView> attr = node.FindAttr("shape");
  return (attr ? attr->AsShape() : std::nullopt).value_or(Shape::Unknown());
}

bool IsPlaceholder(const Node& node) {
  return node.op() == "Placeholder" || node.op() == "PlaceholderV2" ||
         node.op() == "PlaceholderWithDefault";
}

void SetShape(Graph& graph, const Node& node, const Shape& shape) {
  graph.SetAttr(node.id(), "shape", attr::ShapeOf(shape));
}

// Returns the tensor that a name means (NameResolver). If the caller chose no signature and the
// default one lacks the key, returns the input with this key of any signature.
Expected<std::string> TensorNamed(const OpenedGraph& opened, llvm::StringRef signature,
                                  llvm::StringRef name) {
  auto tensor = TensorOfKey(opened.model(), opened.file(), signature, name);
  if (tensor) return tensor;
  auto resolved = NameResolver(opened, signature).MainTensorIfThere(name);
  if (!resolved || *resolved || !signature.empty()) {
    if (resolved && !*resolved) return tensor;
    llvm::consumeError(tensor.takeError());
    if (!resolved) return resolved.takeError();
    return std::move(**resolved);
  }
  for (const Signature& other : opened.file().signatures) {
    for (const SignatureTensor& input : other.inputs) {
      if (input.key != name) continue;
      llvm::consumeError(tensor.takeError());
      return input.tensor;
    }
  }
  return tensor;
}

// Returns the tensors of the same input in other signatures that run the same network: what the
// network gets from any of them must have the size.
std::vector<std::string> SameInputs(const GraphInFile& file, llvm::StringRef tensor) {
  std::vector<std::string> same;
  for (const auto& network : SignaturesByNetwork(file)) {
    std::string key;
    for (const Signature* signature : network)
      for (const SignatureTensor& input : signature->inputs)
        if (input.tensor == tensor) key = input.key;
    for (const Signature* signature : network)
      for (const SignatureTensor& input : signature->inputs)
        if (!key.empty() && input.key == key && input.tensor != tensor)
          same.push_back(input.tensor);
  }
  return same;
}

Error FillTensor(llvm::StringRef tensor, const Shape& shape, OpenedGraph* opened) {
  Graph& main = opened->module().main;
  ASSIGN_OR_RETURN(Port port, FindTensor(main, tensor));
  Node node = main.node(port.node);
  if (!IsPlaceholder(node))
    return MakeError("node '{0}' is a {1}; a placeholder was expected", node.name(), node.op());
  Shape open = ShapeOfPlaceholder(node);
  // In old graphs a placeholder of any shape is written as a scalar.
  bool any = open.known_rank() && open.rank() == 0 && node.op() == "Placeholder" &&
             shape.rank() > 0 && !InferShapes(main).OfPort(port).known_rank();
  std::optional<Shape> filled = any ? shape : MergeShapes(open, shape);
  if (!filled)
    return MakeError("node '{0}' has shape {1} in the file, which the given shape {2} contradicts",
                     node.name(), open.ToString(), shape.ToString());
  SetShape(main, node, *filled);
  return Error::success();
}

Error FillShape(llvm::StringRef given, llvm::StringRef signature, OpenedGraph* opened) {
  size_t equals = given.rfind('=');
  if (equals == llvm::StringRef::npos || equals == 0)
    return MakeError("NAME=DIMS was expected, not '{0}'", given);
  llvm::StringRef name = given.take_front(equals);
  ASSIGN_OR_RETURN(Shape shape, ParseSizes(given.drop_front(equals + 1)));
  ASSIGN_OR_RETURN(std::string tensor, TensorNamed(*opened, signature, name));
  RETURN_IF_ERROR(FillTensor(tensor, shape, opened));
  for (const std::string& same : SameInputs(opened->file(), tensor))
    RETURN_IF_ERROR(FillTensor(same, shape, opened));
  return Error::success();
}

// Returns the nodes whose first size is the batch size, in graph order.
std::vector<NodeId> BatchInputs(const OpenedGraph& opened) {
  const Graph& main = opened.module().main;
  std::set<NodeId> inputs;
  for (const Signature& signature : opened.file().signatures) {
    for (const SignatureTensor& input : signature.inputs) {
      if (std::optional<Port> port = FindTensorIfThere(main, input.tensor))
        inputs.insert(port->node);
    }
  }
  std::vector<NodeId> found;
  for (Node node : main.nodes()) {
    if (IsPlaceholder(node) && node.op() != "PlaceholderWithDefault" &&
        (inputs.empty() || inputs.count(node.id())))
      found.push_back(node.id());
  }
  return found;
}

bool IsOpenBatch(const Shape& shape) {
  return shape.known_rank() && shape.rank() > 0 && !shape.IsKnown(0);
}

Error FillBatch(int64_t batch, OpenedGraph* opened) {
  if (!HasOpenBatch(*opened)) return MakeError("no input of known rank has an unknown first size");
  Graph& main = opened->module().main;
  for (NodeId id : BatchInputs(*opened)) {
    Node node = main.node(id);
    Shape shape = ShapeOfPlaceholder(node);
    if (!IsOpenBatch(shape)) continue;
    shape.set_dim(0, batch);
    SetShape(main, node, shape);
  }
  return Error::success();
}

}  // namespace

Expected<Shape> ParseSizes(llvm::StringRef text) {
  Shape shape = Shape::Scalar();
  if (text.trim().empty()) return shape;
  llvm::SmallVector<llvm::StringRef, 6> sizes;
  text.split(sizes, ',');
  for (llvm::StringRef size : sizes) {
    int64_t dim = kUnknownDim;
    if (size.trim() != "?" && (size.trim().getAsInteger(10, dim) || dim < 0))
      return MakeError("'{0}' is not a size: a number of at least 0 or ? was expected",
                       size.trim());
    shape.Append(dim);
  }
  return shape;
}

bool HasOpenBatch(const OpenedGraph& opened) {
  return llvm::any_of(BatchInputs(opened), [&](NodeId id) {
    return IsOpenBatch(ShapeOfPlaceholder(opened.module().main.node(id)));
  });
}

Error FillSizes(const ShapeOverrides& given, llvm::StringRef signature, OpenedGraph* opened) {
  for (const std::string& shape : given.shapes) {
    if (Error error = FillShape(shape, signature, opened))
      return Annotate("--shape", std::move(error));
  }
  if (given.batch > 0) {
    if (Error error = FillBatch(given.batch, opened))
      return Annotate("--batch", Annotate(opened->model().path, std::move(error)));
  }
  return Error::success();
}

}  // namespace grapnel
