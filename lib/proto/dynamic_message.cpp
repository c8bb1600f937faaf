#include "lib/proto/dynamic_message.h"

#include <cassert>
#include <string>

#include "google/protobuf/descriptor.h"
#include "google/protobuf/descriptor.pb.h"
#include "google/protobuf/dynamic_message.h"

extern "C" {
extern const char grapnel_described_begin[];
extern const char grapnel_described_end[];
}

namespace grapnel::proto {
namespace {

// The messages of the embedded descriptors. These are a FileDescriptorSet that protoc wrote, in
// which each file comes after its imports.
const google::protobuf::DescriptorPool& DescribedMessages() {
  static const auto* pool = [] {
    auto* made = new google::protobuf::DescriptorPool;
    google::protobuf::FileDescriptorSet files;
    files.ParseFromArray(grapnel_described_begin,
                         static_cast<int>(grapnel_described_end - grapnel_described_begin));
    for (const google::protobuf::FileDescriptorProto& file : files.file()) made->BuildFile(file);
    return made;
  }();
  return *pool;
}

}  // namespace

std::unique_ptr<google::protobuf::Message> MakeDynamicMessage(const char* name) {
  static auto* factory = new google::protobuf::DynamicMessageFactory;
  const google::protobuf::Descriptor* type =
      DescribedMessages().FindMessageTypeByName(std::string("grapnel.proto.") + name);
  assert(type && "no such message");
  return std::unique_ptr<google::protobuf::Message>(factory->GetPrototype(type)->New());
}

}  // namespace grapnel::proto
