// A tap that writes a debug folder.
#ifndef GRAPNEL_LIB_TFDBG_DEBUG_TAP_H_
#define GRAPNEL_LIB_TFDBG_DEBUG_TAP_H_

#include "lib/tfdbg/debug_writer.h"
#include "lib/watch/tap.h"

namespace grapnel {

// The mode of debug files that a tap's mode is.
proto::TensorDebugMode DebugModeOf(TapMode mode);

// What the nodes that `globs` fit put out goes to `writer`, which must outlive it and be of the
// module that runs; of ops and dtypes that TensorFlow's debugger records.
class DebugTap : public Tap {
 public:
  DebugTap(std::vector<Glob> globs, TapMode mode, DebugWriter* writer)
      : Tap(std::move(globs), mode, nullptr), writer_(*writer) {}
  bool Wants(const Node& node) override { return IsDebugged(node.op()) && Tap::Wants(node); }

 private:
  void SayOne(const Node& node, size_t output, const Tensor& tensor,
              const Health& health) override {
    writer_.AddTrace(node, static_cast<int>(output), tensor, health);
  }

  DebugWriter& writer_;
};

}  // namespace grapnel

#endif  // GRAPNEL_LIB_TFDBG_DEBUG_TAP_H_
