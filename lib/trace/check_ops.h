// tf.debugging: what must hold when the graph runs. What can be decided while tracing is an error
// at the line of the call at once. Automatic control dependencies keep checks alive and in order,
// so nothing needs to read them.
#ifndef GRAPNEL_LIB_TRACE_CHECK_OPS_H_
#define GRAPNEL_LIB_TRACE_CHECK_OPS_H_

#include <string>
#include <vector>

#include "lib/support/public.h"
#include "lib/trace/tracer.h"

namespace grapnel {

struct GRAPNEL_PUBLIC CheckOptions {
  std::string message;  // said first
  int summarize = 3;    // elements of each tensor that are shown
};

// Ends the run with `data` (values and texts) where `condition`, a bool scalar, is false. What
// comes back can be given to ControlDependencies.
GRAPNEL_PUBLIC Operation Assert(const Value& condition, const std::vector<Operand>& data,
                                int summarize = 3, SourceLocation where = SourceLocation());

// Element by element, with broadcasting.
GRAPNEL_PUBLIC Operation AssertEqual(const Operand& x, const Operand& y,
                                     const CheckOptions& options = {}, SourceLocation where = SourceLocation());
GRAPNEL_PUBLIC Operation AssertNoneEqual(const Operand& x, const Operand& y,
                                         const CheckOptions& options = {}, SourceLocation where = SourceLocation());
GRAPNEL_PUBLIC Operation AssertLess(const Operand& x, const Operand& y,
                                    const CheckOptions& options = {}, SourceLocation where = SourceLocation());
GRAPNEL_PUBLIC Operation AssertLessEqual(const Operand& x, const Operand& y,
                                         const CheckOptions& options = {}, SourceLocation where = SourceLocation());
GRAPNEL_PUBLIC Operation AssertGreater(const Operand& x, const Operand& y,
                                       const CheckOptions& options = {}, SourceLocation where = SourceLocation());
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
                                           const CheckOptions& options = {}, SourceLocation where = SourceLocation());
// These are decided while tracing; EnsureShape (lib/trace/array_ops.h) asks the graph.
GRAPNEL_PUBLIC Operation AssertType(const Value& x, DataType dtype, SourceLocation where = SourceLocation());
GRAPNEL_PUBLIC Operation AssertInteger(const Value& x, SourceLocation where = SourceLocation());
GRAPNEL_PUBLIC void AssertScalar(const Value& x, SourceLocation where = SourceLocation());

// x, which must have no NaN and no infinity; the run ends with `message` where it has.
GRAPNEL_PUBLIC Value CheckNumerics(const Value& x, llvm::StringRef message, SourceLocation where = SourceLocation());

}  // namespace grapnel

#endif  // GRAPNEL_LIB_TRACE_CHECK_OPS_H_
