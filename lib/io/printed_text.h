// Converts protobuf's text format, in the form in which programs print it, to wire format in one
// pass and without a message in between.
#ifndef GRAPNEL_LIB_IO_PRINTED_TEXT_H_
#define GRAPNEL_LIB_IO_PRINTED_TEXT_H_

#include <optional>
#include <string>

#include "google/protobuf/descriptor.h"
#include "llvm/ADT/StringRef.h"

namespace grapnel {

// Returns the same bytes as protobuf does if it parses the text as a message of this type and
// serializes the message with its map entries sorted. Returns nullopt for a text that only protobuf
// reads: one with an error, an unknown field, a comment, fields or map entries in another order
// than that in which they are serialized, more than 512 MiB, or anything else that printers don't
// write.
std::optional<std::string> PrintedTextToWire(llvm::StringRef text,
                                             const google::protobuf::Descriptor& type);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_IO_PRINTED_TEXT_H_
