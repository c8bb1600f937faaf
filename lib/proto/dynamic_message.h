// Messages that the program reads, compares and prints but never looks into: ConfigProto and its
// fields' messages. They are built from their descriptors on first use, which saves the compile
// time of generated code and, at start-up, the registration of messages that few runs need.
#ifndef GRAPNEL_LIB_PROTO_DYNAMIC_MESSAGE_H_
#define GRAPNEL_LIB_PROTO_DYNAMIC_MESSAGE_H_

#include <memory>

#include "google/protobuf/message.h"

namespace grapnel::proto {

// Returns an empty message of that name ("ConfigProto"): one of config.proto or of its imports.
// Thread-safe. The first call takes about 1 ms.
std::unique_ptr<google::protobuf::Message> MakeDynamicMessage(const char* name);

}  // namespace grapnel::proto

#endif  // GRAPNEL_LIB_PROTO_DYNAMIC_MESSAGE_H_
