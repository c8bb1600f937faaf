// Deterministic serialization of messages.
#ifndef GRAPNEL_LIB_IR_SERIALIZE_H_
#define GRAPNEL_LIB_IR_SERIALIZE_H_

#include <string>

#include "google/protobuf/message_lite.h"

namespace grapnel {

// Serializes a message with its map entries sorted by key, so that the same message gives the same
// bytes in every run. Accepts messages that lack required fields. For messages of up to 2 GiB,
// protobuf's limit.
std::string SerializeInOrder(const google::protobuf::MessageLite& message);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_IR_SERIALIZE_H_
