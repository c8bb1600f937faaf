// Elements of constants and tensors as JSON.
#ifndef GRAPNEL_LIB_IR_LITERAL_JSON_H_
#define GRAPNEL_LIB_IR_LITERAL_JSON_H_

#include "lib/ir/literal.h"
#include "lib/ir/literal_statistics.h"
#include "llvm/Support/JSON.h"

namespace grapnel {

// Element `i`: a number in as few digits as give it again, true or false, a text (bytes that are no
// UTF-8 replaced), [real, imaginary]; "nan", "inf" and "-inf", which no number of JSON is; null of
// a dtype without elements.
void WriteElementJson(const Literal& literal, int64_t i, llvm::json::OStream& json);

// An object of the numbers that they are called by there.
void WriteStatisticsJson(const LiteralStatistics& statistics, llvm::json::OStream& json);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_IR_LITERAL_JSON_H_
