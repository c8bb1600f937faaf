// String functions. Each makes the nodes that its counterpart in tf.strings makes, with the same
// names.
#ifndef GRAPNEL_LIB_TRACE_STRING_OPS_H_
#define GRAPNEL_LIB_TRACE_STRING_OPS_H_

#include "lib/support/public.h"
#include "lib/trace/tracer.h"

namespace grapnel {
namespace strings {

GRAPNEL_PUBLIC Value Join(const Values& values, llvm::StringRef separator = {},
                          SourceLocation where = SourceLocation());
GRAPNEL_PUBLIC Value Lower(const Value& x, SourceLocation where = SourceLocation());
GRAPNEL_PUBLIC Value Upper(const Value& x, SourceLocation where = SourceLocation());
GRAPNEL_PUBLIC Value Strip(const Value& x, SourceLocation where = SourceLocation());
GRAPNEL_PUBLIC Value Length(const Value& x, SourceLocation where = SourceLocation());  // in bytes
GRAPNEL_PUBLIC Value Substr(const Value& x, const Operand& position, const Operand& length,
                            SourceLocation where = SourceLocation());
GRAPNEL_PUBLIC Value AsString(const Value& x, SourceLocation where = SourceLocation());
GRAPNEL_PUBLIC Value ToNumber(const Value& x, DataType dtype = proto::DT_FLOAT,
                              SourceLocation where = SourceLocation());
// `pattern` has RE2 syntax; replaces all matches.
GRAPNEL_PUBLIC Value RegexReplace(const Value& x, llvm::StringRef pattern, llvm::StringRef rewrite,
                                  SourceLocation where = SourceLocation());
GRAPNEL_PUBLIC Value RegexFullMatch(const Value& x, llvm::StringRef pattern,
                                    SourceLocation where = SourceLocation());
GRAPNEL_PUBLIC Value ToHashBucketFast(const Value& x, int64_t buckets,
                                      SourceLocation where = SourceLocation());

}  // namespace strings
}  // namespace grapnel

#endif  // GRAPNEL_LIB_TRACE_STRING_OPS_H_
