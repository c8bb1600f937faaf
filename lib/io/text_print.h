// Prints messages in protobuf's text format, piece by piece. For lib/io/write.cpp and
// lib/io/canonical.cpp.
#ifndef GRAPNEL_LIB_IO_TEXT_PRINT_H_
#define GRAPNEL_LIB_IO_TEXT_PRINT_H_

#include "google/protobuf/message.h"
#include "lib/support/error.h"
#include "llvm/Support/raw_ostream.h"

namespace grapnel {

// Parses damaged bytes as far as possible: reading already listed the problem. Fails above 2 GiB,
// which has no text form.
Error ParseForText(llvm::StringRef bytes, google::protobuf::Message* message);

// Fields by number, entries of maps by key.
void PrintMessage(const google::protobuf::Message& message, int indent, llvm::raw_ostream& os);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_IO_TEXT_PRINT_H_
