// Prints the parts of a GraphDef in protobuf's text format. For lib/io/write.cpp and
// lib/io/canonical.cpp.
#ifndef GRAPNEL_LIB_IO_TEXT_PRINT_H_
#define GRAPNEL_LIB_IO_TEXT_PRINT_H_

#include "google/protobuf/message.h"
#include "lib/support/error.h"
#include "llvm/Support/raw_ostream.h"

namespace grapnel {

// Parses a message in order to print it. Of damaged bytes, parses as much as possible and reports
// nothing, because the import has already listed the problem. Fails above 2 GiB, which the text
// format cannot represent.
Error ParseForText(llvm::StringRef bytes, google::protobuf::Message* message);

// Prints fields in the order of their numbers and map entries in the order of their keys.
void PrintMessage(const google::protobuf::Message& message, int indent, llvm::raw_ostream& os);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_IO_TEXT_PRINT_H_
