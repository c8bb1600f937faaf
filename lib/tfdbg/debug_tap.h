// A tap that writes a debug folder.
#ifndef GRAPNEL_LIB_TFDBG_DEBUG_TAP_H_
#define GRAPNEL_LIB_TFDBG_DEBUG_TAP_H_

#include "lib/tfdbg/debug_writer.h"
#include "lib/watch/tap.h"

namespace grapnel {

// The mode of debug files that a tap's mode is.
proto::TensorDebugMode DebugModeOf(TapMode mode);

// What the tensors that `filter` fits were goes to `writer`, which must outlive it and be of the
// module that runs; of ops and dtypes that TensorFlow's debugger records.
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

// The same of a program in eager mode: its ops are executions, in the order in which they ran, and
// functions that it calls have traces. As in TensorFlow `filter` is of values alone: every
// execution is written.
class EagerDebugTap : public Tap {
 public:
  EagerDebugTap(TapFilter filter, TapMode mode) : Tap(std::move(filter), mode) {}
  // Before the first op; outlives it.
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
