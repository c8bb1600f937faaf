// ParseExampleDataset: parses batches of serialized Examples into features, sorted by key.
#include <map>

#include "kernels/cpu/data/dataset.h"
#include "kernels/cpu/data/example_parser.h"
#include "kernels/cpu/ragged/variant.h"
#include "kernels/cpu/state/variant_tensor.h"

namespace grapnel {
namespace {

Expected<ExampleSpec> SpecOf(const Node& node, const std::vector<Tensor>& defaults) {
  ExampleSpec spec;
  auto add = [&](auto* list, const char* keys, const char* types) -> Error {
    std::vector<std::string> names = StringsAttr(node, keys);
    std::vector<DataType> dtypes = TypesAttr(node, types);
    if (names.size() != dtypes.size())
      return MakeError("{1} has {0} entries, but {3} has {2}", names.size(), keys, dtypes.size(),
                       types);
    list->resize(names.size());
    for (size_t i = 0; i < names.size(); ++i) {
      (*list)[i].key = names[i];
      (*list)[i].dtype = dtypes[i];
    }
    return Error::success();
  };
  RETURN_IF_ERROR(add(&spec.sparse, "sparse_keys", "sparse_types"));
  RETURN_IF_ERROR(add(&spec.dense, "dense_keys", "Tdense"));
  RETURN_IF_ERROR(add(&spec.ragged, "ragged_keys", "ragged_value_types"));
  std::vector<DataType> splits = TypesAttr(node, "ragged_split_types");
  if (splits.size() != spec.ragged.size())
    return MakeError("ragged_split_types has {0} entries, but ragged_keys has {1}", splits.size(),
                     spec.ragged.size());
  for (size_t i = 0; i < splits.size(); ++i) spec.ragged[i].split_type = splits[i];
  RETURN_IF_ERROR(FinishSpec(spec, ShapesAttr(node, "dense_shapes"), defaults));
  return spec;
}

Expected<Tensor> SparseComponent(const RunServices& services, const Tensor* parts[3]) {
  ASSIGN_OR_RETURN(Tensor packed, Tensor::Allocate(proto::DT_VARIANT, {3}, services.allocator));
  for (int i = 0; i < 3; ++i) packed.data<ObjectRef>()[i] = new TensorValue(*parts[i]);
  return packed;
}

// Returns one component per key, in key order.
Expected<DatasetElement> Components(const RunServices& services, const ExampleSpec& spec,
                                    llvm::ArrayRef<Tensor> parsed) {
  std::map<std::string, Tensor> by_key;
  size_t sparse = spec.sparse.size(), dense = spec.dense.size(), ragged = spec.ragged.size();
  for (size_t i = 0; i < sparse; ++i) {
    const Tensor* parts[] = {&parsed[i], &parsed[sparse + i], &parsed[2 * sparse + i]};
    ASSIGN_OR_RETURN(by_key[spec.sparse[i].key], SparseComponent(services, parts));
  }
  for (size_t i = 0; i < dense; ++i) by_key[spec.dense[i].key] = parsed[3 * sparse + i];
  for (size_t i = 0; i < ragged; ++i) {
    llvm::IntrusiveRefCntPtr<RaggedValue> value(new RaggedValue);
    value->values = parsed[3 * sparse + dense + i];
    value->splits = {parsed[3 * sparse + dense + ragged + i]};
    by_key[spec.ragged[i].key] = Tensor::OfObject(proto::DT_VARIANT, std::move(value));
  }
  DatasetElement element;
  for (auto& [key, tensor] : by_key) element.push_back(std::move(tensor));
  return element;
}

Expected<KernelFn> MakeParseExampleDataset(const KernelSetup& setup) {
  return KernelFn([node = setup.node()](KernelContext& ctx) -> Error {
    ASSIGN_OR_RETURN(DatasetRef input, DatasetIn(ctx, 0));
    ASSIGN_OR_RETURN(int64_t calls, ScalarIn(ctx, 1));
    RETURN_IF_ERROR(CheckParallelCalls(calls));
    RETURN_IF_ERROR(CheckDeterminism(node));
    ASSIGN_OR_RETURN(ExampleSpec spec, SpecOf(node, InputsOf(ctx, 2, ctx.num_inputs())));
    return PutDataset(
        ctx, node, input->cardinality(),
        [input, spec](DatasetContext& begin) -> Expected<DatasetNext> {
          ASSIGN_OR_RETURN(DatasetNext next, input->MakeIterator(begin));
          return DatasetNext([next = std::move(next),
                              spec](DatasetContext& context) mutable -> NextElement {
            ASSIGN_OR_RETURN(auto element, next(context));
            if (!element) return NoElement();
            if (element->size() != 1)
              return MakeError("expected elements of one component, got {0}", element->size());
            const Tensor& batch = (*element)[0];
            if (batch.dtype() != proto::DT_STRING || batch.rank() != 1)
              return MakeError("expected a vector of serialized examples, got {0}",
                               batch.ToString(0));
            ExampleBatch examples{
                {batch.data<std::string>(), static_cast<size_t>(batch.num_elements())}, {}, false};
            ASSIGN_OR_RETURN(std::vector<Tensor> parsed,
                             ParseExamples(context.services, spec, examples));
            ASSIGN_OR_RETURN(DatasetElement out, Components(context.services, spec, parsed));
            return std::optional(std::move(out));
          });
        });
  });
}

GRAPNEL_CPU_KERNEL("ParseExampleDataset", MakeParseExampleDataset, KernelCost::kCheap);
GRAPNEL_CPU_KERNEL("ParseExampleDatasetV2", MakeParseExampleDataset, KernelCost::kCheap);
GRAPNEL_CPU_KERNEL("ExperimentalParseExampleDataset", MakeParseExampleDataset, KernelCost::kCheap);

}  // namespace
}  // namespace grapnel
