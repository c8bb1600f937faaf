#include "kernels/cpu/quantized/quantized_number.h"

namespace grapnel {

Expected<QuantizedRange> RangeIn(const KernelContext& ctx, int first) {
  for (int i : {first, first + 1}) {
    if (ctx.input(i).num_elements() != 1)
      return MakeError("input {0}, an end of a range, must have one element, got shape {1}", i,
                       DimsText(ctx.input(i).dims()));
  }
  return QuantizedRange{*ctx.input(first).data<float>(), *ctx.input(first + 1).data<float>()};
}

Expected<QuantizedRange> WideRangeIn(const KernelContext& ctx, int first) {
  ASSIGN_OR_RETURN(QuantizedRange range, RangeIn(ctx, first));
  if (range.high > range.low) return range;
  return MakeError(
      "the minimum, input {0}, must be less than the maximum, input {1}, got {2} and {3}", first,
      first + 1, range.low, range.high);
}

Error PutRange(KernelContext& ctx, int first, QuantizedRange range) {
  ASSIGN_OR_RETURN(Tensor * low, ctx.Allocate(first, {}));
  ASSIGN_OR_RETURN(Tensor * high, ctx.Allocate(first + 1, {}));
  *low->data<float>() = range.low;
  *high->data<float>() = range.high;
  return Error::success();
}

Error CheckTypes(const KernelSetup& setup, llvm::ArrayRef<DataType> inputs,
                 llvm::ArrayRef<DataType> outputs) {
  int given = static_cast<int>(inputs.size()), results = static_cast<int>(outputs.size());
  if (setup.num_inputs() < given || setup.num_outputs() < results)
    return MakeError("the node must have at least {0} inputs and {1} outputs", given, results);
  for (int i = 0; i < given; ++i) {
    if (inputs[i] != proto::DT_INVALID && setup.input_type(i) != inputs[i])
      return MakeError("input {0} has dtype {1}, {2} was expected", i,
                       DataTypeName(setup.input_type(i)), DataTypeName(inputs[i]));
  }
  for (int i = 0; i < results; ++i) {
    if (outputs[i] != proto::DT_INVALID && setup.output_type(i) != outputs[i])
      return MakeError("output {0} has dtype {1}, {2} was expected", i,
                       DataTypeName(setup.output_type(i)), DataTypeName(outputs[i]));
  }
  return Error::success();
}

}  // namespace grapnel
