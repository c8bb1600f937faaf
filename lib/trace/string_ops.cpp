#include "lib/trace/string_ops.h"

#include "lib/trace/op_builder.h"

namespace grapnel {
namespace strings {

Value Join(const Values& values, llvm::StringRef separator, SourceLocation where) {
  return OpBuilder(values, where)
      .Op("StringJoin", Operand(values, where), {{"separator", separator}});
}
Value Lower(const Value& x, SourceLocation where) {
  return OpBuilder(x, where).Op("StringLower", x);
}
Value Upper(const Value& x, SourceLocation where) {
  return OpBuilder(x, where).Op("StringUpper", x);
}
Value Strip(const Value& x, SourceLocation where) {
  return OpBuilder(x, where).Op("StringStrip", x);
}
Value Length(const Value& x, SourceLocation where) {
  return OpBuilder(x, where).Op("StringLength", x);
}

Value Substr(const Value& x, const Operand& position, const Operand& length, SourceLocation where) {
  return OpBuilder(x, where).Op("Substr", {x, position, length});
}

Value AsString(const Value& x, SourceLocation where) {
  return OpBuilder(x, where).Op("AsString", x);
}

Value ToNumber(const Value& x, DataType dtype, SourceLocation where) {
  return OpBuilder(x, where).Op("StringToNumber", x, {{"out_type", dtype}});
}

Value RegexReplace(const Value& x, llvm::StringRef pattern, llvm::StringRef rewrite,
                   SourceLocation where) {
  return OpBuilder(x, where).Op("StaticRegexReplace", x,
                                {{"pattern", pattern}, {"rewrite", rewrite}});
}

Value RegexFullMatch(const Value& x, llvm::StringRef pattern, SourceLocation where) {
  return OpBuilder(x, where).Op("StaticRegexFullMatch", x, {{"pattern", pattern}});
}

Value ToHashBucketFast(const Value& x, int64_t buckets, SourceLocation where) {
  return OpBuilder(x, where).Op("StringToHashBucketFast", x, {{"num_buckets", buckets}});
}

}  // namespace strings
}  // namespace grapnel
