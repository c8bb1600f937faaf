// Converts protobuf's text format to wire format and lists problems by line.
#ifndef GRAPNEL_LIB_IO_TEXT_PROTO_H_
#define GRAPNEL_LIB_IO_TEXT_PROTO_H_

#include <memory>
#include <vector>

#include "google/protobuf/message.h"
#include "lib/ir/module.h"
#include "lib/support/error.h"
#include "lib/support/file.h"

namespace grapnel {

// Parses the text in `file` into `message`, as far as possible. A syntax error becomes a Problem
// ("12:3: expected ..."), and `message` keeps what comes before it. An unknown field becomes a
// warning and is dropped, because protobuf cannot keep it when it parses text. Returns false after
// a syntax error.
bool ParseText(const FileBytes& file, google::protobuf::Message* message,
               std::vector<Problem>* problems);

// Returns the wire format of a message, with map entries sorted. Fails above 2 GiB.
Expected<std::string> Serialize(const google::protobuf::MessageLite& message);

// TextToWire: converts the text of a GraphDef, SavedModel or MetaGraphDef to wire format; the
// result has the file name of the text. Adds problems as ParseText does, and returns an error
// ("x.pbtxt:12:3: ...") if no node or function could be read because of a syntax error. Also fails
// if the text gives a message above 2 GiB, except for a GraphDef with smaller nodes.
enum class TextKind { kGraphDef, kSavedModel, kMetaGraph };
Expected<std::shared_ptr<const FileBytes>> TextToWire(const FileBytes& text, TextKind kind,
                                                      std::vector<Problem>* problems);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_IO_TEXT_PROTO_H_
