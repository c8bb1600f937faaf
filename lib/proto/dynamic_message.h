// Messages that the program reads, compares and prints but never looks into: ConfigProto and what
// it holds. They are made of their descriptions when first asked for, so that nobody waits for the
// compiler or, at start, for protobuf to register what hardly a run needs.
#ifndef GRAPNEL_LIB_PROTO_DYNAMIC_MESSAGE_H_
#define GRAPNEL_LIB_PROTO_DYNAMIC_MESSAGE_H_

#include <memory>

#include "google/protobuf/message.h"

namespace grapnel::proto {

// An empty message of that name ("ConfigProto"): one of config.proto or of what it imports. May be
// called by several threads. The first takes about 1 ms.
std::unique_ptr<google::protobuf::Message> MakeDynamicMessage(const char* name);

}  // namespace grapnel::proto

#endif  // GRAPNEL_LIB_PROTO_DYNAMIC_MESSAGE_H_
