// Prints messages in protobuf's text format, one field at a time. For lib/io/write.cpp and
// lib/io/canonical.cpp.
#ifndef GRAPNEL_LIB_IO_TEXT_PRINT_H_
#define GRAPNEL_LIB_IO_TEXT_PRINT_H_

#include "google/protobuf/message.h"
#include "lib/support/error.h"
#include "llvm/Support/raw_ostream.h"

namespace grapnel {

// Parses a message to be printed; damaged bytes as far as possible, because reading has already
// listed the problem. Fails above 2 GiB, which the text format cannot represent.
Error ParseForText(llvm::StringRef bytes, google::protobuf::Message* message);

// Prints fields by number and map entries by key.
void PrintMessage(const google::protobuf::Message& message, int indent, llvm::raw_ostream& os);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_IO_TEXT_PRINT_H_
