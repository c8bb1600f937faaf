// A tap that writes a debug folder.
#ifndef GRAPNEL_LIB_TFDBG_DEBUG_TAP_H_
#define GRAPNEL_LIB_TFDBG_DEBUG_TAP_H_

#include "lib/tfdbg/debug_writer.h"
#include "lib/watch/tap.h"

namespace grapnel {

// Converts a tap's mode to TensorFlow's TensorDebugMode.
proto::TensorDebugMode DebugModeOf(TapMode mode);

// Writes the tensors that match `filter` to `writer`, which must outlive the tap and must have been
// created for the module that runs. Only ops and dtypes that TensorFlow's debugger records are
// written.
class DebugTap : public WrittenTap {
 public:
  DebugTap(TapFilter filter, TapMode mode, DebugWriter* writer)
      : WrittenTap(std::move(filter), mode,
                   [writer](const TapEvent& event) { writer->AddTrace(event); }) {}
  bool Wants(const Node& node) override { return Tap::Wants(node) && IsDebugged(node.op()); }
  std::string WhyNot(const Node& node, DataType dtype) const override;

 protected:
  bool TellsTime() const override { return true; }
};

// Like DebugTap, for a program in eager mode: each op of the program is written as an execution, in
// the order in which they ran, and each op in a called function that matches `filter` as a trace.
// As in TensorFlow, every execution is written, except of ops that its debugger skips; for outputs
// that do not match `filter`, without a value.
class EagerDebugTap : public Tap {
 public:
  EagerDebugTap(TapFilter filter, TapMode mode) : Tap(std::move(filter), mode) {}
  // Call it before the first op; `writer` must outlive the tap.
  void WriteTo(DebugWriter* writer) { writer_ = writer; }
  bool Wants(const Node& node) override;
  Error AfterNode(const Node& node, llvm::ArrayRef<Tensor> outputs) override;

 protected:
  bool Tells() const override { return true; }
  bool TellsTime() const override { return true; }
  void Emit(TapEvent&& event) override { writer_->AddTrace(event); }

 private:
  DebugWriter* writer_ = nullptr;
};

}  // namespace grapnel

#endif  // GRAPNEL_LIB_TFDBG_DEBUG_TAP_H_
