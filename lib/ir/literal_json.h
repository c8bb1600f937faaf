// Elements of constants and tensors as JSON.
#ifndef GRAPNEL_LIB_IR_LITERAL_JSON_H_
#define GRAPNEL_LIB_IR_LITERAL_JSON_H_

#include "lib/ir/literal.h"
#include "lib/ir/literal_statistics.h"
#include "llvm/Support/JSON.h"

namespace grapnel {

// Writes element `i`: a number in the fewest digits that read back as the same value, true or
// false, a string (with bytes that are not UTF-8 replaced), or [real, imaginary]; "nan", "inf" and
// "-inf", which JSON numbers cannot express; null for a dtype without elements.
void WriteElementJson(const Literal& literal, int64_t i, llvm::json::OStream& json);

// Writes an object with one member per statistic, named like its field in LiteralStatistics.
void WriteStatisticsJson(const LiteralStatistics& statistics, llvm::json::OStream& json);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_IR_LITERAL_JSON_H_
