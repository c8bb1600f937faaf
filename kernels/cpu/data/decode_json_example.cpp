// DecodeJSONExample: converts a tf.train.Example from protobuf's JSON to serialized bytes.
#include <google/protobuf/descriptor.h>
#include <google/protobuf/util/json_util.h>
#include <google/protobuf/util/type_resolver.h>
#include <google/protobuf/util/type_resolver_util.h>

#include <memory>
#include <string>

#include "kernels/common/kernel_of.h"
#include "lib/proto/example.pb.h"
#include "llvm/ADT/StringRef.h"

namespace grapnel {
namespace {

namespace protobuf = google::protobuf;

constexpr char kTypes[] = "type.googleapis.com";

// Converts without an intermediate message, whose map has no order, so that the features keep the
// order that they have in the JSON.
Error DecodeJsonExample(KernelContext& ctx) {
  const Tensor& in = ctx.input(0);
  const protobuf::Descriptor* example = proto::Example::descriptor();
  std::unique_ptr<protobuf::util::TypeResolver> types(
      protobuf::util::NewTypeResolverForDescriptorPool(kTypes, example->file()->pool()));
  std::string type = std::string(kTypes) + "/" + example->full_name();
  ASSIGN_OR_RETURN(Tensor * out, ctx.Allocate(0, in.dims()));
  for (int64_t i = 0; i < in.num_elements(); ++i) {
    auto status = protobuf::util::JsonToBinaryString(types.get(), type, in.data<std::string>()[i],
                                                     &out->data<std::string>()[i]);
    if (status.ok()) continue;
    std::string why = status.message().ToString();  // lines after the first repeat the text
    return MakeError("element {0}: Error while parsing JSON: {1}", i,
                     llvm::StringRef(why).split('\n').first.ltrim(": "));
  }
  return Error::success();
}

GRAPNEL_CPU_KERNEL("DecodeJSONExample", KernelOf<DecodeJsonExample>);

}  // namespace
}  // namespace grapnel
