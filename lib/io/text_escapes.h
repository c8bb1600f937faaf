// Replaces the escapes in string literals of protobuf's text format.
#ifndef GRAPNEL_LIB_IO_TEXT_ESCAPES_H_
#define GRAPNEL_LIB_IO_TEXT_ESCAPES_H_

#include "llvm/ADT/StringRef.h"

namespace grapnel {

// Writes the contents of a literal, without its quotes, to `to`, which has room for literal.size()
// bytes. Returns the end of what it wrote; null for a literal that protobuf must parse, because it
// is malformed, or has an escape that is neither octal nor one character.
char* Unescape(llvm::StringRef literal, char* to);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_IO_TEXT_ESCAPES_H_
