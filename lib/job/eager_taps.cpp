#include "lib/job/eager_taps.h"

namespace grapnel {

EagerTaps::EagerTaps(TapRequest request, MessageSink sink)
    : request_(std::move(request)), sink_(std::move(sink)) {
  if (!request_.logdir.empty()) {
    auto tap = std::make_unique<EagerDebugTap>(request_.filter, request_.mode);
    debug_tap_ = tap.get();
    tap_ = std::move(tap);
  } else {
    lines_ = TextOfTaps(request_);
    tap_ = std::make_unique<CallbackTap>(
        request_.filter, request_.mode,
        [lines = lines_.get()](const TapEvent& event) { lines->Write(event); });
  }
  Prepare(*tap_, request_);
}

Error EagerTaps::Begin(Tracer& t) {
  if (!debug_tap_) return Error::success();
  DebugWriterOptions options = LogdirOptions(request_, sink_);
  options.source = request_.model;
  options.is_eager = true;
  options.stack_of = [&t](const Node& node) { return StackOfNode(t, node); };
  ASSIGN_OR_RETURN(logdir_, DebugWriter::Create(t.module(), std::move(options)));
  debug_tap_->WriteTo(logdir_.get());
  return Error::success();
}

Error EagerTaps::End(bool has_failed) {
  int64_t left_out = logdir_ ? logdir_->left_out() : lines_ ? lines_->left_out() : 0;
  ReportOmitted(left_out, request_.most_bytes, sink_);
  if (!has_failed && tap_->tensors_tapped() == 0)
    sink_(Severity::kWarning, "nothing was tapped: no op that ran matches");
  return logdir_ ? logdir_->Close() : Error::success();
}

}  // namespace grapnel
