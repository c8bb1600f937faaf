// Messages as bytes.
#ifndef GRAPNEL_LIB_IR_SERIALIZE_H_
#define GRAPNEL_LIB_IR_SERIALIZE_H_

#include <string>

#include "google/protobuf/message_lite.h"

namespace grapnel {

// Maps in the order of their keys: a message gives the same bytes in every run. What a message
// requires and has not is left out. At most 2 GiB, which is protobuf's limit.
std::string SerializeInOrder(const google::protobuf::MessageLite& message);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_IR_SERIALIZE_H_
