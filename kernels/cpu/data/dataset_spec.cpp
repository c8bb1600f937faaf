// Infers the dtypes and shapes of a dataset's elements from its op, attributes and inputs, before
// any element is created.
#include <google/protobuf/unknown_field_set.h>

#include "kernels/common/dims.h"
#include "kernels/cpu/data/dataset.h"
#include "llvm/ADT/STLExtras.h"

namespace grapnel {
namespace {

Shape WithoutFirst(const Shape& shape) {
  if (!shape.known_rank() || shape.rank() == 0) return Shape::Unknown();
  return Shape(shape.dims().drop_front());
}

Shape WithFirst(int64_t size, const Shape& shape) {
  if (!shape.known_rank()) return Shape::Unknown();
  Dims dims(shape.dims().begin(), shape.dims().end());
  dims.insert(dims.begin(), size);
  return Shape(dims);
}

// Returns the most specific shape that is compatible with both `a` and `b`.
Shape Common(const Shape& a, const Shape& b) {
  if (!a.known_rank() || !b.known_rank() || a.rank() != b.rank()) return Shape::Unknown();
  Shape common = a;
  for (int i = 0; i < a.rank(); ++i) {
    if (a.dim(i) != b.dim(i)) common.set_dim(i, -1);
  }
  return common;
}

std::vector<const ElementSpec*> SpecsOfInputs(const KernelContext& ctx) {
  std::vector<const ElementSpec*> specs;
  for (int i = 0; i < ctx.num_inputs(); ++i) {
    const Tensor& input = ctx.input(i);
    if (input.dtype() != proto::DT_VARIANT || input.num_elements() != 1) continue;
    auto* dataset = dynamic_cast<Dataset*>(input.data<ObjectRef>()->get());
    if (dataset) specs.push_back(&dataset->spec());
  }
  return specs;
}

ElementSpec CommonOf(llvm::ArrayRef<const ElementSpec*> specs) {
  ElementSpec common = *specs[0];
  for (const ElementSpec* spec : specs.drop_front()) {
    for (size_t i = 0; i < std::min(common.shapes.size(), spec->shapes.size()); ++i)
      common.shapes[i] = Common(common.shapes[i], spec->shapes[i]);
  }
  return common;
}

ElementSpec JoinedOf(llvm::ArrayRef<const ElementSpec*> specs) {
  ElementSpec joined;
  for (const ElementSpec* spec : specs) {
    if (spec->dtypes.empty()) return {};
    llvm::append_range(joined.dtypes, spec->dtypes);
    llvm::append_range(joined.shapes, spec->shapes);
  }
  return joined;
}

// Returns the spec of batches of `size` elements of `spec`; -1: of an unknown number of elements.
ElementSpec BatchOf(ElementSpec spec, int64_t size) {
  for (Shape& shape : spec.shapes) shape = WithFirst(size, shape);
  return spec;
}

bool KeepsElements(llvm::StringRef op) {
  constexpr const char* kKeep[] = {"AssertCardinality",
                                   "AssertNext",
                                   "AssertPrev",
                                   "AutoShard",
                                   "BytesProducedStats",
                                   "Cache",
                                   "ChooseFastest",
                                   "Filter",
                                   "Finalize",
                                   "IgnoreErrors",
                                   "LatencyStats",
                                   "MaxIntraOpParallelism",
                                   "Model",
                                   "NonSerializable",
                                   "Optimize",
                                   "Options",
                                   "ParallelFilter",
                                   "Prefetch",
                                   "PrivateThreadPool",
                                   "Repeat",
                                   "Rewrite",
                                   "Sampling",
                                   "SetStatsAggregator",
                                   "Shard",
                                   "Shuffle",
                                   "ShuffleAndRepeat",
                                   "Skip",
                                   "Sleep",
                                   "Take",
                                   "TakeWhile",
                                   "Unique"};
  return llvm::is_contained(kKeep, op);
}

// Returns the base name of an op: "ExperimentalShuffleDatasetV2" is a "Shuffle".
llvm::StringRef KindOf(llvm::StringRef op) {
  op.consume_front("Experimental");
  return op.substr(0, op.rfind("Dataset"));
}

}  // namespace

ElementSpec SpecOfAttrs(const Node& node) {
  ElementSpec spec;
  for (const char* key : {"output_types", "Toutput_types"}) {
    if (std::optional<AttrView> types = node.Attr(key))
      spec.dtypes = types->AsTypes().value_or(std::vector<DataType>());
  }
  if (std::optional<AttrView> shapes = node.Attr("output_shapes"))
    spec.shapes = shapes->AsShapes().value_or(std::vector<Shape>());
  return spec;
}

namespace {

// True if every batch is full: the dataset is infinite, or the node drops a short last batch.
bool IsFull(const KernelContext& ctx, const Node& node, int64_t cardinality) {
  if (cardinality == Dataset::kInfinite) return true;
  llvm::StringRef op = node.op();
  bool can_drop = op == "BatchDatasetV2" || op == "PaddedBatchDatasetV2" ||
                  op == "ParallelBatchDataset" || op == "ExperimentalParallelBatchDataset";
  const Tensor& last = ctx.input(ctx.num_inputs() - 1);
  return can_drop && last.dtype() == proto::DT_BOOL && last.num_elements() == 1 &&
         *last.data<bool>();
}

// Returns the element spec of a node's dataset with this cardinality.
ElementSpec SpecOfElements(const KernelContext& ctx, const Node& node, int64_t cardinality) {
  ElementSpec said = SpecOfAttrs(node);
  llvm::StringRef kind = KindOf(node.op());
  std::vector<const ElementSpec*> inputs = SpecsOfInputs(ctx);
  if (kind == "Tensor" || kind == "TensorSlice") {
    said.shapes.clear();
    for (int i = 0; i < ctx.num_inputs(); ++i) {
      Shape whole(ctx.input(i).dims());
      said.shapes.push_back(kind == "Tensor" ? whole : WithoutFirst(whole));
    }
    return said;
  }
  if (kind == "Range" || kind == "Random") {
    said.shapes.assign(said.dtypes.size(), Shape::Scalar());
    return said;
  }
  if (inputs.empty()) return said;
  if (KeepsElements(kind)) return *inputs[0];
  if (kind == "Zip") return JoinedOf(inputs);
  if (kind == "Concatenate") return CommonOf(inputs);
  if (kind == "DirectedInterleave" && inputs.size() > 1)
    return CommonOf(llvm::ArrayRef(inputs).drop_front());
  if (kind == "PaddedBatch") {
    bool is_full = IsFull(ctx, node, cardinality);
    ElementSpec padded{inputs[0]->dtypes, {}};
    for (int64_t i = 0; i < node.GetInt("N"); ++i) {
      Shape shape(IntsOf(ctx.input(static_cast<int>(2 + i))));
      padded.shapes.push_back(WithFirst(is_full ? ctx.input(1).IntAt(0) : -1, shape));
    }
    return padded;
  }
  if (kind == "SlidingWindow") return BatchOf(*inputs[0], -1);
  if (kind == "Batch" || kind == "ParallelBatch") {
    bool is_full = IsFull(ctx, node, cardinality);
    return BatchOf(*inputs[0], is_full ? ctx.input(1).IntAt(0) : -1);
  }
  return said;
}

}  // namespace

Error PutDataset(KernelContext& ctx, const Node& node, int64_t cardinality, Dataset::Begin begin) {
  if (!IsMessage(node.GetString("metadata")))
    return MakeError("attribute 'metadata' is not a serialized message");
  ElementSpec spec = SpecOfElements(ctx, node, cardinality);
  if (KindOf(node.op()) == "Tensor" || KindOf(node.op()) == "TensorSlice")
    RETURN_IF_ERROR(SpecOfAttrs(node).Check(spec));
  ctx.SetOutput(
      0, Tensor::OfObject(proto::DT_VARIANT, new Dataset(node.op().str(), cardinality,
                                                         std::move(spec), std::move(begin))));
  return Error::success();
}

bool IsMessage(llvm::StringRef bytes) {
  google::protobuf::UnknownFieldSet fields;
  return fields.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()));
}

Error CheckParallelCalls(int64_t calls) {
  if (calls > 0 || calls == -1) return Error::success();
  return MakeError("num_parallel_calls is {0}: 1 or more were expected, or -1 for any", calls);
}

Error CheckDeterminism(const Node& node) {
  std::optional<AttrView> attr = node.Attr("deterministic");
  std::optional<llvm::StringRef> is = attr ? attr->AsString() : std::nullopt;
  if (!is || *is == "true" || *is == "false" || *is == "default") return Error::success();
  return MakeError("attribute 'deterministic' is '{0}', true, false or default was expected", *is);
}

}  // namespace grapnel
