// tf.debugging: assertions about tensors, checked when the graph runs. A failure that is known
// while tracing, such as that of a comparison of constants, is reported immediately, at the line of
// the call. Automatic control dependencies keep assertions alive and in order, so no node needs to
// read them.
#ifndef GRAPNEL_LIB_TRACE_CHECK_OPS_H_
#define GRAPNEL_LIB_TRACE_CHECK_OPS_H_

#include <string>
#include <vector>

#include "lib/support/public.h"
#include "lib/trace/tracer.h"

namespace grapnel {

struct GRAPNEL_PUBLIC CheckOptions {
  std::string message;  // printed first
  int summarize = 3;    // elements to show of each tensor
};

// Fails the run and prints `data` (values and texts) if `condition`, a bool scalar, is false. The
// result can be passed to ControlDependencies.
GRAPNEL_PUBLIC Operation Assert(const Value& condition, const std::vector<Operand>& data,
                                int summarize = 3, SourceLocation where = SourceLocation());

// The following assertions compare x with y, or with 0, element by element, with broadcasting;
// AssertRank and AssertRankAtLeast check the rank.
GRAPNEL_PUBLIC Operation AssertEqual(const Operand& x, const Operand& y,
                                     const CheckOptions& options = {},
                                     SourceLocation where = SourceLocation());
GRAPNEL_PUBLIC Operation AssertNoneEqual(const Operand& x, const Operand& y,
                                         const CheckOptions& options = {},
                                         SourceLocation where = SourceLocation());
GRAPNEL_PUBLIC Operation AssertLess(const Operand& x, const Operand& y,
                                    const CheckOptions& options = {},
                                    SourceLocation where = SourceLocation());
GRAPNEL_PUBLIC Operation AssertLessEqual(const Operand& x, const Operand& y,
                                         const CheckOptions& options = {},
                                         SourceLocation where = SourceLocation());
GRAPNEL_PUBLIC Operation AssertGreater(const Operand& x, const Operand& y,
                                       const CheckOptions& options = {},
                                       SourceLocation where = SourceLocation());
GRAPNEL_PUBLIC Operation AssertGreaterEqual(const Operand& x, const Operand& y,
                                            const CheckOptions& options = {},
                                            SourceLocation where = SourceLocation());
GRAPNEL_PUBLIC Operation AssertPositive(const Value& x, const CheckOptions& options = {},
                                        SourceLocation where = SourceLocation());
GRAPNEL_PUBLIC Operation AssertNegative(const Value& x, const CheckOptions& options = {},
                                        SourceLocation where = SourceLocation());
GRAPNEL_PUBLIC Operation AssertNonNegative(const Value& x, const CheckOptions& options = {},
                                           SourceLocation where = SourceLocation());
GRAPNEL_PUBLIC Operation AssertNonPositive(const Value& x, const CheckOptions& options = {},
                                           SourceLocation where = SourceLocation());

GRAPNEL_PUBLIC Operation AssertRank(const Value& x, int rank, const CheckOptions& options = {},
                                    SourceLocation where = SourceLocation());
GRAPNEL_PUBLIC Operation AssertRankAtLeast(const Value& x, int rank,
                                           const CheckOptions& options = {},
                                           SourceLocation where = SourceLocation());
// The following assertions are decided while tracing, except that AssertScalar checks a value of
// unknown rank when the graph runs. EnsureShape (lib/trace/array_ops.h) always checks when the
// graph runs.
GRAPNEL_PUBLIC Operation AssertType(const Value& x, DataType dtype,
                                    SourceLocation where = SourceLocation());
GRAPNEL_PUBLIC Operation AssertInteger(const Value& x, SourceLocation where = SourceLocation());
GRAPNEL_PUBLIC void AssertScalar(const Value& x, SourceLocation where = SourceLocation());

// Returns x; the run fails with `message` if x has a NaN or an infinity.
GRAPNEL_PUBLIC Value CheckNumerics(const Value& x, llvm::StringRef message,
                                   SourceLocation where = SourceLocation());

}  // namespace grapnel

#endif  // GRAPNEL_LIB_TRACE_CHECK_OPS_H_
