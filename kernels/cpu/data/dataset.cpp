#include "kernels/cpu/data/dataset.h"

#include "kernels/cpu/array/data_move.h"
#include "kernels/cpu/control/function_call.h"

namespace grapnel {

Expected<DatasetRef> DatasetOf(const Tensor& tensor) {
  if (tensor.dtype() == proto::DT_VARIANT && tensor.num_elements() == 1) {
    if (auto* dataset = dynamic_cast<Dataset*>(tensor.data<ObjectRef>()->get()))
      return DatasetRef(dataset);
  }
  return MakeError("expected a dataset, got {0}", tensor.ToString());
}

Expected<DatasetRef> DatasetIn(const KernelContext& ctx, int i) {
  auto dataset = DatasetOf(ctx.input(i));
  if (!dataset) return Annotate("input " + std::to_string(i), dataset.takeError());
  return dataset;
}

Expected<int64_t> ScalarIn(const KernelContext& ctx, int i) {
  if (ctx.input(i).num_elements() == 1) return ctx.input(i).IntAt(0);
  return MakeError("input {0} is of shape {1}, one element was expected", i,
                   DimsText(ctx.input(i).dims()));
}

int CountTypes(const Node& node, llvm::StringRef key) {
  auto attr = node.Attr(key);
  return attr ? static_cast<int>(attr->AsTypes().value_or(std::vector<DataType>()).size()) : 0;
}

std::vector<Tensor> InputsOf(const KernelContext& ctx, int begin, int end) {
  std::vector<Tensor> inputs;
  for (int i = begin; i < end; ++i) inputs.push_back(ctx.input(i));
  return inputs;
}

namespace {

struct CompiledFunction : IteratorState {
  CompiledFunction(const Node& node, llvm::StringRef name) : call(node, name) {}
  FunctionCall call;
};

}  // namespace

Expected<CapturedFunction> CapturedFunction::Make(const Node& node, llvm::StringRef attr) {
  CapturedFunction function;
  ASSIGN_OR_RETURN(function.name_, FunctionAttr(node, attr));
  function.node_ = node;
  return function;
}

CapturedFunction CapturedFunction::With(std::vector<Tensor> captured) const {
  CapturedFunction function = *this;
  function.captured_ = std::move(captured);
  return function;
}

Expected<DatasetElement> CapturedFunction::Call(DatasetContext& context,
                                                DatasetElement arguments) const {
  auto& state = context.states[name_];
  if (!state) state = std::make_shared<CompiledFunction>(node_, name_);
  arguments.insert(arguments.end(), captured_.begin(), captured_.end());
  llvm::SmallVector<Tensor, 8> results;
  FunctionCall& call = static_cast<CompiledFunction&>(*state).call;
  RETURN_IF_ERROR(call.Run(context.services, arguments, &results));
  return DatasetElement(std::make_move_iterator(results.begin()),
                        std::make_move_iterator(results.end()));
}

Expected<bool> CapturedFunction::Test(DatasetContext& context, DatasetElement arguments) const {
  ASSIGN_OR_RETURN(DatasetElement results, Call(context, std::move(arguments)));
  if (results.size() != 1)
    return MakeError("function '{0}' gives {1} results, 1 was expected", name_, results.size());
  return IsTrue(results[0]);
}

Expected<Tensor> CopyOfRow(const RunServices& services, const Tensor& tensor, int64_t i) {
  Tensor row = tensor.Slice(i, i + 1).Reshaped(tensor.dims().drop_front());
  // Kernels read aligned vectors from the start of a tensor, so an unaligned row is copied.
  if (row.offset() % 64 == 0) return row;
  ASSIGN_OR_RETURN(Tensor copy, Tensor::Allocate(row.dtype(), row.dims(), services.allocator));
  CopyElements(row.dtype(), row.raw(), copy.raw(), row.num_elements());
  return copy;
}

Expected<DatasetElement> StackElements(const RunServices& services,
                                       llvm::ArrayRef<DatasetElement> elements) {
  DatasetElement batch;
  for (size_t c = 0; c < elements[0].size(); ++c) {
    const Tensor& first = elements[0][c];
    Dims dims = {static_cast<int64_t>(elements.size())};
    dims.append(first.dims().begin(), first.dims().end());
    ASSIGN_OR_RETURN(Tensor out, Tensor::Allocate(first.dtype(), dims, services.allocator));
    for (size_t k = 0; k < elements.size(); ++k) {
      if (elements[k].size() != elements[0].size())
        return MakeError("elements 0 and {0} of a batch have {1} and {2} components", k,
                         elements[0].size(), elements[k].size());
      const Tensor& tensor = elements[k][c];
      if (tensor.dims() != first.dims() || tensor.dtype() != first.dtype()) {
        return MakeError(
            "component {0} of elements 0 and {1} of a batch differs in dtype or shape; the shapes "
            "are {2} and {3}",
            c, k, DimsText(first.dims()), DimsText(tensor.dims()));
      }
      CopyElements(out.dtype(), tensor.raw(), At(out, k * first.num_elements()),
                   first.num_elements());
    }
    batch.push_back(std::move(out));
  }
  return batch;
}

Expected<std::vector<DatasetElement>> NextBatch(DatasetNext& input, DatasetContext& context,
                                                int64_t size, bool drop_remainder, bool& done) {
  std::vector<DatasetElement> elements;
  while (!done && static_cast<int64_t>(elements.size()) < size) {
    ASSIGN_OR_RETURN(auto element, input(context));
    done = !element;
    if (element) elements.push_back(std::move(*element));
  }
  if (drop_remainder && static_cast<int64_t>(elements.size()) < size) elements.clear();
  return elements;
}

DatasetNext BatchesOf(DatasetNext input, int64_t size, bool drop_remainder) {
  return [input = std::move(input), size, drop_remainder,
          done = false](DatasetContext& context) mutable -> NextElement {
    ASSIGN_OR_RETURN(auto elements, NextBatch(input, context, size, drop_remainder, done));
    if (elements.empty()) return NoElement();
    ASSIGN_OR_RETURN(DatasetElement batch, StackElements(context.services, elements));
    return std::optional(std::move(batch));
  };
}

int64_t CardinalityOfRepeat(int64_t n, int64_t count) {
  if (n == 0 || count == 0) return 0;
  if (count < 0) return Dataset::kInfinite;
  int64_t elements = 0;
  if (n < 0) return n;
  return __builtin_mul_overflow(n, count, &elements) ? INT64_MAX : elements;
}

int64_t CardinalityOfBatches(int64_t elements, int64_t size, bool drop_remainder) {
  if (elements < 0) return elements;
  return elements / size + (elements % size != 0 && !drop_remainder);
}

}  // namespace grapnel
