#include "lib/trace/random_ops.h"

#include "lib/trace/op_builder.h"

namespace grapnel {
namespace {

constexpr int kAnyAlgorithm = 3;  // the device's default: Philox on CPUs and GPUs

std::vector<OpAttribute> WithSeed(std::vector<OpAttribute> attributes,
                                  const std::optional<int64_t>& seed) {
  attributes.emplace_back("seed", seed ? kGraphSeed : int64_t{0});
  attributes.emplace_back("seed2", seed.value_or(0));
  return attributes;
}

Value ShapeTensor(const OpBuilder& make, const DimList& shape) {
  return shape.shape.body() ? shape.shape : make.Packed(shape.dims, "shape");
}

// Maps numbers from [0, 1) to [low, high).
Value Between(const OpBuilder& make, const Value& unit, const Value& low, const Value& high) {
  Value width = make.Scoped("Sub", {high, low}, {}, "sub");
  return make.Exact("AddV2", {make.Scoped("Mul", {unit, width}, {}, "mul"), low});
}

Value Spread(const OpBuilder& make, const Value& unit, const Value& mean, const Value& stddev) {
  return make.Exact("AddV2", {make.Scoped("Mul", {unit, stddev}, {}, "mul"), mean});
}

}  // namespace

Value StatelessUniform(Tracer& t, const DimList& shape, const Operand& seed,
                       const UniformOptions& options, SourceLocation where) {
  OpBuilder make(t, where);
  auto scope = make.Scope("stateless_random_uniform");
  Value size = ShapeTensor(make, shape);
  Value low = make.Scalar(options.minimum, options.dtype, "min");
  Value high = make.Scalar(options.maximum, options.dtype, "max");
  Operation key = make.Op("StatelessRandomGetKeyCounter", seed);
  if (IsInteger(options.dtype)) {
    Value algorithm = make.Scalar(kAnyAlgorithm, proto::DT_INT32, "alg");
    return make.Exact("StatelessRandomUniformIntV2",
                      {size, key.output(0), key.output(1), algorithm, low, high});
  }
  Value unit =
      make.Op("StatelessRandomUniformV2", {size, key.output(0), key.output(1), kAnyAlgorithm},
              {{"dtype", options.dtype}});
  return Between(make, unit, low, high);
}

Value StatelessNormal(Tracer& t, const DimList& shape, const Operand& seed,
                      const NormalOptions& options, SourceLocation where) {
  OpBuilder make(t, where);
  auto scope = make.Scope("stateless_random_normal");
  Value size = ShapeTensor(make, shape);
  Value mean = make.Scalar(options.mean, options.dtype, "mean");
  Value stddev = make.Scalar(options.stddev, options.dtype, "stddev");
  Operation key = make.Op("StatelessRandomGetKeyCounter", seed);
  Value unit =
      make.Op("StatelessRandomNormalV2", {size, key.output(0), key.output(1), kAnyAlgorithm},
              {{"dtype", options.dtype}});
  return Spread(make, unit, mean, stddev);
}

Value RandomUniform(Tracer& t, const DimList& shape, const UniformOptions& options,
                    SourceLocation where) {
  OpBuilder make(t, where);
  auto scope = make.Scope("random_uniform");
  Value size = ShapeTensor(make, shape);
  Value low = make.Scalar(options.minimum, options.dtype, "min");
  Value high = make.Scalar(options.maximum, options.dtype, "max");
  if (IsInteger(options.dtype))
    return make.Exact("RandomUniformInt", {size, low, high}, WithSeed({}, options.seed));
  Value unit = make.Op("RandomUniform", size, WithSeed({{"dtype", options.dtype}}, options.seed));
  return Between(make, unit, low, high);
}

Value RandomNormal(Tracer& t, const DimList& shape, const NormalOptions& options,
                   SourceLocation where) {
  OpBuilder make(t, where);
  auto scope = make.Scope("random_normal");
  Value size = ShapeTensor(make, shape);
  Value mean = make.Scalar(options.mean, options.dtype, "mean");
  Value stddev = make.Scalar(options.stddev, options.dtype, "stddev");
  Value unit =
      make.Op("RandomStandardNormal", size, WithSeed({{"dtype", options.dtype}}, options.seed));
  return Spread(make, unit, mean, stddev);
}

Value RandomShuffle(const Value& x, const std::optional<int64_t>& seed, SourceLocation where) {
  return OpBuilder(x, where).Op("RandomShuffle", x, WithSeed({}, seed));
}

}  // namespace grapnel
