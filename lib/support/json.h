// JSON from outside, and what JSON has no word for.
#ifndef GRAPNEL_LIB_SUPPORT_JSON_H_
#define GRAPNEL_LIB_SUPPORT_JSON_H_

#include "lib/support/error.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/JSON.h"

namespace grapnel {

// llvm::json::parse for texts that anybody may have written: that calls itself for each array and
// object in another, and this refuses what is nested more than 256 deep, so no text overflows the
// stack. Errors name line and column.
Expected<llvm::json::Value> ParseJson(llvm::StringRef text);

// The refusal alone, for another parser. Linear; reads no more than brackets and quotes.
Error CheckJsonDepth(llvm::StringRef text);

// A number of which JSON may have none: "nan", "inf" and "-inf" are texts.
llvm::json::Value NumberOrText(double number);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_SUPPORT_JSON_H_
