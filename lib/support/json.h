// Parsing of untrusted JSON, and numbers that JSON cannot represent.
#ifndef GRAPNEL_LIB_SUPPORT_JSON_H_
#define GRAPNEL_LIB_SUPPORT_JSON_H_

#include "lib/support/error.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/JSON.h"

namespace grapnel {

// Like llvm::json::parse, for texts from unknown sources. LLVM's parser calls itself for each
// nested array and object; this function rejects a text that is nested more than 256 deep, before
// its parsing could overflow the stack. Errors name line and column.
Expected<llvm::json::Value> ParseJson(llvm::StringRef text);

// Makes only the check of the nesting that ParseJson makes, for use with other parsers. Linear;
// looks only at brackets, and skips strings.
Error CheckJsonDepth(llvm::StringRef text);

// Returns the number as JSON; "nan", "inf" and "-inf" are strings, because JSON has no such
// numbers.
llvm::json::Value NumberOrText(double number);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_SUPPORT_JSON_H_
