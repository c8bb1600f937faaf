// ParseExample, ParseExampleV2, ParseSingleExample.
#include "kernels/cpu/data/example_parser.h"

namespace grapnel {
namespace {

llvm::ArrayRef<std::string> StringsOf(const Tensor& tensor) {
  return {tensor.data<std::string>(), static_cast<size_t>(tensor.num_elements())};
}

Error Parse(KernelContext& ctx, const ExampleSpec& spec, const ExampleBatch& batch) {
  ASSIGN_OR_RETURN(std::vector<Tensor> outputs, ParseExamples(ctx.services(), spec, batch));
  if (static_cast<int>(outputs.size()) != ctx.num_outputs())
    return MakeError("the node has {0} outputs, but its features give {1}", ctx.num_outputs(),
                     outputs.size());
  for (size_t i = 0; i < outputs.size(); ++i)
    ctx.SetOutput(static_cast<int>(i), std::move(outputs[i]));
  return Error::success();
}

std::vector<Tensor> Inputs(const KernelContext& ctx, int begin) {
  std::vector<Tensor> inputs;
  for (int i = begin; i < ctx.num_inputs(); ++i) inputs.push_back(ctx.input(i));
  return inputs;
}

// Appends one feature per key, with the dtype at the same position.
template <typename Spec>
Error AddFeatures(llvm::ArrayRef<std::string> keys, llvm::ArrayRef<DataType> types,
                  llvm::StringRef what, std::vector<Spec>* to) {
  if (keys.size() != types.size())
    return MakeError("there are {0} {1} keys, but {2} dtypes", keys.size(), what, types.size());
  for (size_t i = 0; i < keys.size(); ++i) {
    Spec spec;
    spec.key = keys[i];
    spec.dtype = types[i];
    to->push_back(std::move(spec));
  }
  return Error::success();
}

struct Types {
  std::vector<DataType> sparse, dense, ragged, splits;
  std::vector<Shape> dense_shapes;
};

Types TypesOf(const Node& node) {
  return {TypesAttr(node, "sparse_types"), TypesAttr(node, "Tdense"),
          TypesAttr(node, "ragged_value_types"), TypesAttr(node, "ragged_split_types"),
          ShapesAttr(node, "dense_shapes")};
}

Expected<ExampleSpec> MakeSpec(const Types& types, llvm::ArrayRef<std::string> sparse,
                               llvm::ArrayRef<std::string> dense,
                               llvm::ArrayRef<std::string> ragged,
                               const std::vector<Tensor>& defaults) {
  ExampleSpec spec;
  RETURN_IF_ERROR(AddFeatures(sparse, types.sparse, "sparse", &spec.sparse));
  RETURN_IF_ERROR(AddFeatures(dense, types.dense, "dense", &spec.dense));
  RETURN_IF_ERROR(AddFeatures(ragged, types.ragged, "ragged", &spec.ragged));
  if (types.splits.size() != types.ragged.size())
    return MakeError("there are {0} ragged features, but {1} dtypes of row splits",
                     types.ragged.size(), types.splits.size());
  for (size_t i = 0; i < spec.ragged.size(); ++i) spec.ragged[i].split_type = types.splits[i];
  RETURN_IF_ERROR(FinishSpec(spec, types.dense_shapes, defaults));
  return spec;
}

// The keys are scalars, one input each, between the names and the defaults.
Expected<KernelFn> MakeParseExample(const KernelSetup& setup) {
  Types types = TypesOf(setup.node());
  int sparse = static_cast<int>(types.sparse.size()), dense = static_cast<int>(types.dense.size());
  if (setup.num_inputs() != 2 + sparse + 2 * dense)
    return MakeError("the node has {0} inputs, but {1} sparse and {2} dense features need {3}",
                     setup.num_inputs(), sparse, dense, 2 + sparse + 2 * dense);
  return KernelFn([types, sparse, dense](KernelContext& ctx) -> Error {
    std::vector<std::string> keys;
    for (int i = 2; i < 2 + sparse + dense; ++i) {
      if (ctx.input(i).num_elements() != 1)
        return MakeError("input {0}, a key, must have one element, got shape {1}", i,
                         DimsText(ctx.input(i).dims()));
      keys.push_back(*ctx.input(i).data<std::string>());
    }
    if (ctx.input(0).rank() != 1)
      return MakeError("serialized must be a vector, got shape {0}", DimsText(ctx.input(0).dims()));
    llvm::ArrayRef<std::string> all = keys;
    ASSIGN_OR_RETURN(ExampleSpec spec,
                     MakeSpec(types, all.take_front(sparse), all.drop_front(sparse), {},
                              Inputs(ctx, 2 + sparse + dense)));
    return Parse(ctx, spec, {StringsOf(ctx.input(0)), StringsOf(ctx.input(1)), false});
  });
}

// The keys are vectors; a scalar input is one example without a batch dimension.
Expected<KernelFn> MakeParseExampleV2(const KernelSetup& setup) {
  return KernelFn([types = TypesOf(setup.node())](KernelContext& ctx) -> Error {
    const Tensor& serialized = ctx.input(0);
    if (serialized.rank() > 1)
      return MakeError("serialized must be a scalar or a vector, got shape {0}",
                       DimsText(serialized.dims()));
    const Tensor& names = ctx.input(1);
    if (names.num_elements() > 0 && names.dims() != serialized.dims())
      return MakeError("names must have the shape {0} of serialized, or be empty, got shape {1}",
                       DimsText(serialized.dims()), DimsText(names.dims()));
    ASSIGN_OR_RETURN(ExampleSpec spec,
                     MakeSpec(types, StringsOf(ctx.input(2)), StringsOf(ctx.input(3)),
                              StringsOf(ctx.input(4)), Inputs(ctx, 5)));
    return Parse(ctx, spec, {StringsOf(serialized), StringsOf(names), serialized.rank() == 0});
  });
}

// The keys are attributes of the node.
Expected<KernelFn> MakeParseSingleExample(const KernelSetup& setup) {
  const Node& node = setup.node();
  return KernelFn([types = TypesOf(node), sparse = StringsAttr(node, "sparse_keys"),
                   dense = StringsAttr(node, "dense_keys")](KernelContext& ctx) -> Error {
    const Tensor& serialized = ctx.input(0);
    if (serialized.rank() != 0)
      return MakeError("serialized must be a scalar, got shape {0}", DimsText(serialized.dims()));
    ASSIGN_OR_RETURN(ExampleSpec spec, MakeSpec(types, sparse, dense, {}, Inputs(ctx, 1)));
    return Parse(ctx, spec, {StringsOf(serialized), {}, true});
  });
}

GRAPNEL_CPU_KERNEL("ParseExample", MakeParseExample);
GRAPNEL_CPU_KERNEL("ParseExampleV2", MakeParseExampleV2);
GRAPNEL_CPU_KERNEL("ParseSingleExample", MakeParseSingleExample);

}  // namespace
}  // namespace grapnel
