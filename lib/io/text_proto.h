// Protobuf's text format to wire format, with problems listed by line.
#ifndef GRAPNEL_LIB_IO_TEXT_PROTO_H_
#define GRAPNEL_LIB_IO_TEXT_PROTO_H_

#include <memory>
#include <vector>

#include "google/protobuf/message.h"
#include "lib/ir/module.h"
#include "lib/support/error.h"
#include "lib/support/file.h"

namespace grapnel {

// Parses the text in `file` into `message`, as far as it goes. A syntax error becomes a Problem
// ("12:3: expected ..."), and what stands before it is kept; a field that is not known becomes a
// warning and is dropped, as the text format has no way to keep it. False when there was a syntax
// error.
bool ParseText(const FileBytes& file, google::protobuf::Message* message,
               std::vector<Problem>* problems);

// The wire format of a message, map entries sorted. Fails above 2 GiB.
Expected<std::string> Serialize(const google::protobuf::MessageLite& message);

// Text that holds a GraphDef, SavedModel or MetaGraphDef -> its wire format, under the same name.
// Problems as above; an error ("x.pbtxt:12:3: ...") when nothing could be read.
enum class TextKind { kGraphDef, kSavedModel, kMetaGraph };
Expected<std::shared_ptr<const FileBytes>> TextToWire(const FileBytes& text, TextKind kind,
                                                      std::vector<Problem>* problems);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_IO_TEXT_PROTO_H_
