// Elements of constants and tensors as JSON.
#ifndef GRAPNEL_LIB_IR_LITERAL_JSON_H_
#define GRAPNEL_LIB_IR_LITERAL_JSON_H_

#include "lib/ir/literal.h"
#include "lib/ir/literal_statistics.h"
#include "llvm/Support/JSON.h"

namespace grapnel {

// Writes element `i` as JSON: a number with the fewest digits that read back as the same value, of
// a float dtype smaller than float as the same float; true or false; a string, in which bytes that
// are not UTF-8 are replaced; [real, imaginary] for a complex number. Writes "nan", "inf" and
// "-inf" as strings, because JSON has no such numbers, and null for a resource or variant.
void WriteElementJson(const Literal& literal, int64_t i, llvm::json::OStream& json);

// Writes the counts, extremes, mean, deviation and histogram as an object; min and max are 0 if no
// element is finite.
void WriteStatisticsJson(const LiteralStatistics& statistics, llvm::json::OStream& json);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_IR_LITERAL_JSON_H_
