// Random tensors. Each function makes the nodes that its counterpart in tf.random makes, with the
// same names. The stateless functions return the same numbers for the same seed. The others
// continue their sequence of numbers from call to call and from run to run; with a seed, the
// sequence is the same each time the graph is loaded.
#ifndef GRAPNEL_LIB_TRACE_RANDOM_OPS_H_
#define GRAPNEL_LIB_TRACE_RANDOM_OPS_H_

#include <optional>

#include "lib/support/public.h"
#include "lib/trace/array_ops.h"
#include "lib/trace/tracer.h"

namespace grapnel {

struct GRAPNEL_PUBLIC UniformOptions {
  double minimum = 0, maximum = 1;  // `maximum` is excluded; required for integers
  DataType dtype = proto::DT_FLOAT;
  std::optional<int64_t> seed;  // not for the stateless functions
};
struct GRAPNEL_PUBLIC NormalOptions {
  double mean = 0, stddev = 1;
  DataType dtype = proto::DT_FLOAT;
  std::optional<int64_t> seed;
};

// `seed`: two integers.
GRAPNEL_PUBLIC Value StatelessUniform(Tracer& t, const DimList& shape, const Operand& seed,
                                      const UniformOptions& options = {},
                                      SourceLocation where = SourceLocation());
GRAPNEL_PUBLIC Value StatelessNormal(Tracer& t, const DimList& shape, const Operand& seed,
                                     const NormalOptions& options = {},
                                     SourceLocation where = SourceLocation());
GRAPNEL_PUBLIC Value RandomUniform(Tracer& t, const DimList& shape,
                                   const UniformOptions& options = {},
                                   SourceLocation where = SourceLocation());
GRAPNEL_PUBLIC Value RandomNormal(Tracer& t, const DimList& shape,
                                  const NormalOptions& options = {},
                                  SourceLocation where = SourceLocation());
GRAPNEL_PUBLIC Value RandomShuffle(const Value& x, const std::optional<int64_t>& seed = {},
                                   SourceLocation where = SourceLocation());

}  // namespace grapnel

#endif  // GRAPNEL_LIB_TRACE_RANDOM_OPS_H_
