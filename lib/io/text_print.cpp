#include "lib/io/text_print.h"

#include <string>

#include "google/protobuf/text_format.h"

namespace grapnel {

Error ParseForText(llvm::StringRef bytes, google::protobuf::Message* message) {
  if (bytes.size() > INT32_MAX) {
    return MakeError("a {0} of {1} bytes is above protobuf's limit of 2 GiB and has no text form",
                     message->GetDescriptor()->name(), bytes.size());
  }
  message->ParsePartialFromArray(bytes.data(), static_cast<int>(bytes.size()));
  return Error::success();
}

void PrintMessage(const google::protobuf::Message& message, int indent, llvm::raw_ostream& os) {
  google::protobuf::TextFormat::Printer printer;
  printer.SetInitialIndentLevel(indent);
  std::string text;
  printer.PrintToString(message, &text);
  os << text;
}

}  // namespace grapnel
