// _Send and _Recv: the ends of an edge that was cut where it went to another device.
//
// A receiver waits for its sender while another part of the graph still runs; alone in a graph, or
// when all that is left waits, it is an error that names both ends.
#include "lib/exec/kernel.h"
#include "lib/exec/session.h"

namespace grapnel {
namespace {

std::string KeyOf(const Node& node) {
  return node.GetString("send_device") + ";" + node.GetString("recv_device") + ";" +
         node.GetString("tensor_name");
}

Expected<KernelFn> MakeSend(const KernelSetup& setup) {
  return KernelFn([key = KeyOf(setup.node())](KernelContext& ctx) -> Error {
    ctx.session()->rendezvous().Send(key, ctx.TakeInput(0));
    return Error::success();
  });
}

Expected<KernelFn> MakeRecv(const KernelSetup& setup) {
  return KernelFn([key = KeyOf(setup.node()), node = setup.node()](KernelContext& ctx) -> Error {
    auto value = ctx.session()->rendezvous().Receive(key);
    if (!value) {
      return Annotate(llvm::formatv("'{0}' from {1} to {2}", node.GetString("tensor_name"),
                                    node.GetString("send_device"), node.GetString("recv_device"))
                          .str(),
                      value.takeError());
    }
    if (value->dtype() != ctx.output_type(0)) {
      return MakeError("'{0}' from {1} to {2}: {3} was sent, {4} was expected",
                       node.GetString("tensor_name"), node.GetString("send_device"),
                       node.GetString("recv_device"), value->ToString(),
                       DataTypeName(ctx.output_type(0)));
    }
    ctx.SetOutput(0, std::move(*value));
    return Error::success();
  });
}

GRAPNEL_CPU_KERNEL("_Send", nullptr, {}, KernelCost::kCheap, MakeSend);
GRAPNEL_CPU_KERNEL("_HostSend", nullptr, {}, KernelCost::kCheap, MakeSend);
GRAPNEL_CPU_KERNEL("_Recv", nullptr, {}, KernelCost::kCheap, MakeRecv);
GRAPNEL_CPU_KERNEL("_HostRecv", nullptr, {}, KernelCost::kCheap, MakeRecv);

}  // namespace
}  // namespace grapnel
