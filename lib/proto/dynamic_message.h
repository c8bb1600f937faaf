// Messages that are built from their descriptors on first use: those of config.proto, such as
// ConfigProto, which the program only reads, compares and prints. Generated C++ code would take
// time to compile and, at start-up, to register messages that few runs need.
#ifndef GRAPNEL_LIB_PROTO_DYNAMIC_MESSAGE_H_
#define GRAPNEL_LIB_PROTO_DYNAMIC_MESSAGE_H_

#include <memory>

#include "google/protobuf/message.h"

namespace grapnel::proto {

// Returns an empty message of the given type ("ConfigProto"), which config.proto or one of its
// imports defines. Thread-safe. The first call takes about 1 ms.
std::unique_ptr<google::protobuf::Message> MakeDynamicMessage(const char* name);

}  // namespace grapnel::proto

#endif  // GRAPNEL_LIB_PROTO_DYNAMIC_MESSAGE_H_
