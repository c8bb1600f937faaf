// Parsing of untrusted JSON, and numbers that JSON cannot represent.
#ifndef GRAPNEL_LIB_SUPPORT_JSON_H_
#define GRAPNEL_LIB_SUPPORT_JSON_H_

#include "lib/support/error.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/JSON.h"

namespace grapnel {

// llvm::json::parse for untrusted texts. LLVM's parser recurses into each nested array and object;
// this function rejects texts nested more than 256 deep, so that no text overflows the stack.
// Errors name line and column.
Expected<llvm::json::Value> ParseJson(llvm::StringRef text);

// Only the depth check of ParseJson, for other parsers. Linear; looks only at brackets and quotes.
Error CheckJsonDepth(llvm::StringRef text);

// Returns the number as JSON, or the string "nan", "inf" or "-inf".
llvm::json::Value NumberOrText(double number);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_SUPPORT_JSON_H_
