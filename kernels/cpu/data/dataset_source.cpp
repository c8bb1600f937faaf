// Datasets from tensors and from ranges of numbers, and the ops that wrap a dataset in a variant
// and unwrap it.
#include "kernels/common/dims.h"
#include "kernels/common/dispatch.h"
#include "kernels/cpu/data/dataset.h"

namespace grapnel {
namespace {

Expected<KernelFn> MakeTensor(const KernelSetup& setup) {
  return KernelFn([node = setup.node()](KernelContext& ctx) -> Error {
    std::vector<Tensor> components = InputsOf(ctx, 0, ctx.num_inputs());
    return PutDataset(ctx, node, 1, [components](DatasetContext&) -> Expected<DatasetNext> {
      return DatasetNext([components, given = false](DatasetContext&) mutable -> NextElement {
        if (std::exchange(given, true)) return NoElement();
        return std::optional(components);
      });
    });
  });
}

// Element i is row i of every component.
Expected<KernelFn> MakeTensorSlice(const KernelSetup& setup) {
  return KernelFn([node = setup.node()](KernelContext& ctx) -> Error {
    std::vector<Tensor> components = InputsOf(ctx, 0, ctx.num_inputs());
    if (components.empty()) return MakeError("an element needs at least one component");
    for (const Tensor& component : components) {
      if (component.rank() > 0 && component.dim(0) == components[0].dim(0)) continue;
      return MakeError(
          "all components must have at least one dimension and the same number of rows, got shapes "
          "{0} and {1}",
          DimsText(components[0].dims()), DimsText(component.dims()));
    }
    int64_t rows = components[0].dim(0);
    return PutDataset(
        ctx, node, rows, [components, rows](DatasetContext&) -> Expected<DatasetNext> {
          return DatasetNext(
              [components, rows, row = int64_t{0}](DatasetContext& context) mutable -> NextElement {
                if (row == rows) return NoElement();
                DatasetElement element;
                for (const Tensor& component : components) {
                  ASSIGN_OR_RETURN(Tensor part, CopyOfRow(context.services, component, row));
                  element.push_back(std::move(part));
                }
                ++row;
                return std::optional(std::move(element));
              });
        });
  });
}

Expected<Tensor> NumberOf(DataType dtype, int64_t value) {
  ASSIGN_OR_RETURN(Tensor number, Tensor::Allocate(dtype, {}));
  bool known = ForType(dtype, NumberTypes(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    *number.data<T>() = static_cast<T>(value);
    return true;
  });
  if (!known) return MakeError("a range cannot have dtype {0}", DataTypeName(dtype));
  return number;
}

Expected<KernelFn> MakeRange(const KernelSetup& setup) {
  auto attr = setup.node().Attr("output_types");
  auto types = attr ? attr->AsTypes() : std::nullopt;
  DataType dtype = types && !types->empty() ? (*types)[0] : proto::DT_INT64;
  return KernelFn([node = setup.node(), dtype](KernelContext& ctx) -> Error {
    ASSIGN_OR_RETURN(int64_t start, ScalarIn(ctx, 0));
    ASSIGN_OR_RETURN(int64_t stop, ScalarIn(ctx, 1));
    ASSIGN_OR_RETURN(int64_t step, ScalarIn(ctx, 2));
    if (step == 0) return MakeError("the step of a range must not be 0");
    // Unsigned arithmetic avoids overflow: even the widest range fits.
    auto from = static_cast<uint64_t>(start), by = static_cast<uint64_t>(step);
    bool is_empty = step > 0 ? stop <= start : stop >= start;
    uint64_t width = step > 0 ? static_cast<uint64_t>(stop) - from : from - stop;
    uint64_t numbers = is_empty ? 0 : (width - 1) / (step > 0 ? by : 0 - by) + 1;
    auto count = static_cast<int64_t>(std::min<uint64_t>(numbers, INT64_MAX));
    // As in TensorFlow, a limit of INT64_MAX means an infinite range.
    int64_t length = stop == INT64_MAX ? Dataset::kInfinite : count;
    return PutDataset(ctx, node, length, [=](DatasetContext&) -> Expected<DatasetNext> {
      return DatasetNext([=, i = int64_t{0}](DatasetContext&) mutable -> NextElement {
        if (i == count) return NoElement();
        auto value = static_cast<int64_t>(from + static_cast<uint64_t>(i++) * by);
        ASSIGN_OR_RETURN(Tensor number, NumberOf(dtype, value));
        return std::optional(DatasetElement{std::move(number)});
      });
    });
  });
}

// A dataset and its wrapped variant share one representation, so the handle is passed through.
Expected<KernelFn> MakeHandle(const KernelSetup&) {
  return KernelFn([](KernelContext& ctx) -> Error {
    ctx.SetOutput(0, ctx.TakeInput(0));
    return Error::success();
  });
}

// Groups the inputs into elements of as many components as the spec has.
Expected<KernelFn> MakeList(const KernelSetup& setup) {
  int width = CountTypes(setup.node(), "output_types");
  if (width < 1 || setup.num_inputs() % width != 0)
    return MakeError("{0} tensors do not form elements of {1} components each", setup.num_inputs(),
                     width);
  return KernelFn([node = setup.node(), width](KernelContext& ctx) -> Error {
    std::vector<Tensor> all = InputsOf(ctx, 0, ctx.num_inputs());
    int64_t count = static_cast<int64_t>(all.size()) / width;
    return PutDataset(ctx, node, count, [all, width](DatasetContext&) -> Expected<DatasetNext> {
      return DatasetNext([all, width, at = size_t{0}](DatasetContext&) mutable -> NextElement {
        if (at == all.size()) return NoElement();
        DatasetElement element(all.begin() + at, all.begin() + at + width);
        at += width;
        return std::optional(std::move(element));
      });
    });
  });
}

GRAPNEL_CPU_KERNEL("TensorDataset", MakeTensor, KernelCost::kCheap);
GRAPNEL_CPU_KERNEL("TensorSliceDataset", MakeTensorSlice, KernelCost::kCheap);
GRAPNEL_CPU_KERNEL("RangeDataset", MakeRange, KernelCost::kCheap);
GRAPNEL_CPU_KERNEL("ListDataset", MakeList, KernelCost::kCheap);
GRAPNEL_CPU_KERNEL("WrapDatasetVariant", MakeHandle, KernelCost::kCheap);
GRAPNEL_CPU_KERNEL("UnwrapDatasetVariant", MakeHandle, KernelCost::kCheap);

}  // namespace
}  // namespace grapnel
