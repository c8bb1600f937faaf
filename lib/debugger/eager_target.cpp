#include "lib/debugger/eager_target.h"

namespace grapnel {

std::string ResultName(size_t i) { return i == 0 ? "Identity" : "Identity_" + std::to_string(i); }

EagerTarget::EagerTarget(EagerProgram program, std::vector<Tensor> feeds, MessageSink print)
    : program_(std::move(program)), values_(std::move(feeds)), print_(std::move(print)), pool_(1) {
  for (const TensorSpec& input : program_.inputs) feeds_.push_back(input.name);
}

EagerTarget::~EagerTarget() = default;

Error EagerTarget::Begin() {
  tracer_.reset();
  session_ = std::make_unique<Session>();
  return Error::success();
}

Expected<std::vector<Tensor>> EagerTarget::Run(std::vector<Tensor> values) {
  tracer_.reset();
  lines_ = LineTable();
  num_nodes_ = 0;
  cancel_ = std::make_unique<CancelFlag>();
  EagerOptions options;
  options.pool = &pool_;
  options.session = session_.get();
  options.hook = hook();
  options.records = true;
  options.cancel = cancel_.get();
  options.print = [this](Severity severity, llvm::StringRef text) {
    if (!is_unseen() && print_) print_(severity, text);
  };
  tracer_ = std::make_unique<Tracer>(options);
  auto results =
      RunEagerly(*tracer_, program_.name, program_.inputs, program_.call, std::move(values));
  results_.clear();
  for (size_t i = 0; results && i < results->size(); ++i) results_.push_back(ResultName(i));
  return results;
}

void EagerTarget::End() { cancel_->Cancel(); }

const LineTable& EagerTarget::lines() const {
  size_t count = module().main.num_nodes();
  for (const auto& function : module().functions) count += function->body.num_nodes();
  if (count == num_nodes_) return lines_;
  num_nodes_ = count;
  lines_ = LinesOf(*tracer_);
  return lines_;
}

LineTable::Stack EagerTarget::StackOf(const Node& node) const {
  return tracer_ && node ? StackOfNode(*tracer_, node) : LineTable::Stack();
}

}  // namespace grapnel
