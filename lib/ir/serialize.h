// Deterministic serialization of messages.
#ifndef GRAPNEL_LIB_IR_SERIALIZE_H_
#define GRAPNEL_LIB_IR_SERIALIZE_H_

#include <string>

#include "google/protobuf/message_lite.h"

namespace grapnel {

// Serializes maps in the order of their keys, so that a message gives the same bytes in every run.
// Accepts messages that lack required fields. At most 2 GiB, which is protobuf's limit.
std::string SerializeInOrder(const google::protobuf::MessageLite& message);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_IR_SERIALIZE_H_
