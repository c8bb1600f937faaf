// Sizes of tensors, asked for directly or known as ratios.
//
//   Before:  x -> Shape s, [0] -> Prod p -> y          After:  x, ^s -> Size p -> y
//   Before:  Size(a), Size(b) -> Div d -> y            After:  Const d(^Size(a), ^Size(b)) -> y
//            where a:[s1,6] and b:[s1,3]                       of the value 2
//
// Refuses: a product that keeps its dimensions or is over other than one axis; a ratio of sizes of
// which the unknown dimensions do not cancel.
#include "lib/ir/shape.h"
#include "lib/pass/pass.h"

namespace grapnel {
namespace {

constexpr const char* kSizeOfProduct = "product_of_shape_to_size";
constexpr const char* kRatio = "ratio_of_sizes";

// Elements of `a` divided by those of `b`, when symbols cancel; nullopt when it cannot be known.
std::optional<int64_t> RatioOfSizes(const Shape& a, const Shape& b) {
  if (!a.known_rank() || !b.known_rank()) return std::nullopt;
  llvm::SmallVector<int64_t, 4> symbols, known;
  for (int64_t dim : a.dims()) {
    if (dim == kUnknownDim) return std::nullopt;
    (dim < 0 ? symbols : known).push_back(dim);
  }
  llvm::SmallVector<int64_t, 4> known_of_b;
  for (int64_t dim : b.dims()) {
    if (dim == kUnknownDim || dim == 0) return std::nullopt;
    if (dim > 0) {
      known_of_b.push_back(dim);
      continue;
    }
    auto* same = llvm::find(symbols, dim);
    if (same == symbols.end()) return std::nullopt;
    symbols.erase(same);
  }
  if (!symbols.empty()) return std::nullopt;
  auto size_of_a = NumElements(known), size_of_b = NumElements(known_of_b);
  if (!size_of_a || !size_of_b) return std::nullopt;
  return *size_of_a / *size_of_b;
}

class ShapeOptimizer : public GraphPass {
 public:
  Error Run(Editor& edit) override {
    edit_ = &edit;
    Graph& graph = edit.graph();
    for (Node node : graph.nodes()) {
      if (node.op() != "Shape" || node.num_inputs() != 1) continue;
      for (const Use& use : node.UsesOf(0)) {
        if (!MakeSize(node, graph.node(use.node), use.slot)) return Error::success();
      }
    }
    for (Node node : graph.nodes()) {
      if (node.op() == "Div" && !MakeRatio(node)) return Error::success();
    }
    return Error::success();
  }

 private:
  // Both are false when --limit is used up.
  bool MakeSize(const Node& shape, const Node& prod, uint32_t slot) {
    if (prod.op() != "Prod" || slot != 0 || prod.num_inputs() != 2) return true;
    DataType type = prod.GetType("T");
    if (type != proto::DT_INT32 && type != proto::DT_INT64) return true;
    if (prod.GetBool("keep_dims")) {
      edit_->Refuse(kSizeOfProduct, prod, "'{0}' keeps the dimensions that it reduces",
                    prod.name());
      return true;
    }
    const Shape& axes = edit_->ShapeOf(prod.input(1));
    if (axes.NumElements() != 1) {
      edit_->Refuse(kSizeOfProduct, prod, "the axes of '{0}' are {1}, one was expected",
                    prod.name(), axes.ToString());
      return true;
    }
    if (!edit_->Begin(kSizeOfProduct, prod)) return false;
    edit_->Used(shape);
    llvm::SmallVector<Port, 4> inputs = prod.inputs();
    inputs[0] = shape.input(0);
    inputs[1] = {shape.id(), kControlPort};
    edit_->SetOp(prod, "Size");
    edit_->SetDevice(prod, shape.device());
    edit_->SetInputs(prod, inputs);
    edit_->RemoveAttr(prod, "Tidx");
    edit_->RemoveAttr(prod, "keep_dims");
    edit_->SetAttr(prod, "out_type", attr::Type(type));
    edit_->SetAttr(prod, "T", attr::Type(shape.GetType("T")));
    edit_->End();
    return true;
  }

  bool MakeRatio(const Node& div) {
    if (div.num_inputs() != 2) return true;
    DataType type = div.GetType("T");
    if (type != proto::DT_INT32 && type != proto::DT_INT64) return true;
    Node above = div.input_node(0), below = div.input_node(1);
    if (above.op() != "Size" || below.op() != "Size") return true;
    if (above.num_inputs() != 1 || below.num_inputs() != 1) return true;
    Shape a = edit_->ShapeOf(above.input(0)), b = edit_->ShapeOf(below.input(0));
    std::optional<int64_t> ratio = RatioOfSizes(a, b);
    if (!ratio) {
      edit_->Refuse(kRatio, div, "the sizes of {0} and {1} have no known ratio", a.ToString(),
                    b.ToString());
      return true;
    }
    if (!edit_->Begin(kRatio, div)) return false;
    llvm::SmallVector<Node, 4> controls = {above};
    if (below != above) controls.push_back(below);
    for (int i = 0; i < div.num_controls(); ++i) {
      if (!llvm::is_contained(controls, div.control(i))) controls.push_back(div.control(i));
    }
    edit_->TurnIntoConstant(div, Literal::Integers(type, {}, {*ratio}), controls);
    edit_->End();
    return true;
  }

  Editor* edit_ = nullptr;
};

GRAPNEL_PASS(
    ShapeOptimizer,
    (PassInfo{"shape_optimizer", "shape", 8, true, false, "shape_optimization",
              "asks for sizes of tensors directly, and works out their ratios",
              "products that keep dimensions; ratios of which unknown dimensions do not cancel"}),
    {kSizeOfProduct, "the product of a shape is the size"},
    {kRatio, "the ratio of two sizes is a constant where unknown dimensions cancel"});

}  // namespace
}  // namespace grapnel
