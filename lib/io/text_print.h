// Messages as protobuf's text, piece by piece. For lib/io/write.cpp and lib/io/canonical.cpp.
#ifndef GRAPNEL_LIB_IO_TEXT_PRINT_H_
#define GRAPNEL_LIB_IO_TEXT_PRINT_H_

#include "google/protobuf/message.h"
#include "lib/support/error.h"
#include "llvm/Support/raw_ostream.h"

namespace grapnel {

// Damaged bytes are read as far as they go: reading listed the problem. An error above 2 GiB, which
// has no text form.
Error ParseForText(llvm::StringRef bytes, google::protobuf::Message* message);

// Fields by number, entries of maps by key.
void PrintMessage(const google::protobuf::Message& message, int indent, llvm::raw_ostream& os);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_IO_TEXT_PRINT_H_
