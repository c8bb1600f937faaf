#include "lib/check/bad_producers.h"

#include <cmath>
#include <complex>
#include <cstring>
#include <limits>

#include "lib/check/cause_reason.h"
#include "lib/check/tensor_difference.h"
#include "lib/ir/module.h"
#include "lib/ir/node_types.h"
#include "lib/ir/tensor_name.h"
#include "llvm/ADT/STLExtras.h"

namespace grapnel {
namespace {

bool HoldsNumbers(const Tensor& tensor) {
  DataType type = tensor.dtype();
  return tensor && (IsFloating(type) || IsComplex(type));
}

// --- Single elements.

// Returns element `i` as a scalar literal.
Literal ElementOf(const Literal& literal, int64_t i) {
  size_t size = DataTypeSize(literal.dtype());
  llvm::StringRef bytes = literal.bytes().substr(literal.is_splat() ? 0 : i * size, size);
  return Literal::Make(literal.dtype(), {}, bytes);
}

int64_t FirstBadElement(const Tensor& tensor) {
  Literal literal = tensor.ToLiteral();
  auto is_bad = [&](int64_t i) {
    auto element = Tensor::FromLiteral(ElementOf(literal, i));
    if (element) return HealthOf(*element).IsBad();
    llvm::consumeError(element.takeError());
    return false;
  };
  // Search for the first block with a bad element, since checking single elements is slow.
  constexpr int64_t kBlock = 1024;
  int64_t size = tensor.num_elements(), at = 0;
  size_t width = DataTypeSize(literal.dtype());
  for (; at + kBlock < size; at += kBlock) {
    auto block = Tensor::FromLiteral(Literal::Make(
        literal.dtype(), {kBlock}, literal.bytes().substr(at * width, kBlock * width)));
    if (!block) {
      llvm::consumeError(block.takeError());
      break;
    }
    if (HealthOf(*block).IsBad()) break;
  }
  while (at + 1 < size && !is_bad(at)) ++at;
  return at;
}

// Returns, as text, the element that an op reads from `input` at `index` when it broadcasts the
// input to shape `dims`; empty if the input does not broadcast to it or has no numbers.
std::string ElementFor(const Tensor& input, llvm::ArrayRef<int64_t> dims,
                       llvm::ArrayRef<int64_t> index) {
  bool has_numbers = input && !input.HoldsObjects() && input.dtype() != proto::DT_STRING;
  if (!has_numbers || input.rank() > static_cast<int>(dims.size())) return "";
  int64_t flat = 0;
  size_t shift = dims.size() - input.rank();
  for (int i = 0; i < input.rank(); ++i) {
    int64_t dim = input.dims()[i];
    if (dim != 1 && dim != dims[i + shift]) return "";
    flat = flat * dim + (dim == 1 ? 0 : index[i + shift]);
  }
  return ElementOf(input.ToLiteral(), flat).ToString();
}

template <typename T>
void MakeFinite(T* data, int64_t size, bool ones) {
  constexpr T kLargest = std::numeric_limits<T>::max();
  for (int64_t i = 0; i < size; ++i) {
    if (std::isfinite(data[i])) continue;
    data[i] = ones || std::isnan(data[i]) ? T(1) : data[i] > 0 ? kLargest : -kLargest;
  }
}

template <typename T>
void MakeFinite(std::complex<T>* data, int64_t size, bool /*ones*/) {
  for (int64_t i = 0; i < size; ++i) {
    if (!std::isfinite(data[i].real()) || !std::isfinite(data[i].imag())) data[i] = T(1);
  }
}

// For 16-bit floats, passed as their bits: the bits of the largest finite number are those of
// infinity, minus 1.
void MakeFinite16(uint16_t* data, int64_t size, uint16_t infinity, uint16_t one, bool ones) {
  for (int64_t i = 0; i < size; ++i) {
    uint16_t magnitude = data[i] & 0x7FFF;
    if (magnitude < infinity) continue;
    bool is_nan = magnitude > infinity;
    data[i] = ones || is_nan ? one : (data[i] & 0x8000) | (infinity - 1);
  }
}

}  // namespace

std::vector<CallSite> CurrentCallSites() {
  std::vector<CallSite> sites;
  for (const CallFrame* call = CurrentCall(); call; call = call->outer) {
    sites.push_back({call->caller ? call->caller->name().str() : "",
                     call->function ? call->function->name().str() : call->loop.str(),
                     call->iteration});
  }
  std::reverse(sites.begin(), sites.end());
  return sites;
}

RecordedTensor RecordOf(const Tensor& tensor) {
  RecordedTensor record;
  if (!tensor || tensor.HoldsObjects()) return record;
  record.what = Recorded::kCounts;
  record.dtype = tensor.dtype();
  record.rank = tensor.rank();
  record.dims = tensor.dims().vec();
  record.health = HealthOf(tensor);
  record.bad = record.health.IsBad();
  return record;
}

bool IsBad(const Tensor& tensor) {
  return HoldsNumbers(tensor) && HealthOf(tensor, nullptr, HealthDetail::kBad).IsBad();
}

Tensor MadeFinite(const Tensor& tensor, bool ones) {
  if (!IsBad(tensor)) return tensor;
  auto copy = Tensor::Allocate(tensor.dtype(), tensor.dims());
  if (!copy) {
    llvm::consumeError(copy.takeError());
    return tensor;
  }
  std::memcpy(copy->raw(), tensor.raw(), tensor.num_elements() * DataTypeSize(tensor.dtype()));
  int64_t size = copy->num_elements();
  switch (copy->dtype()) {
    case proto::DT_FLOAT:
      MakeFinite(copy->data<float>(), size, ones);
      break;
    case proto::DT_DOUBLE:
      MakeFinite(copy->data<double>(), size, ones);
      break;
    case proto::DT_HALF:
      MakeFinite16(copy->data<uint16_t>(), size, 0x7C00, 0x3C00, ones);
      break;
    case proto::DT_BFLOAT16:
      MakeFinite16(copy->data<uint16_t>(), size, 0x7F80, 0x3F80, ones);
      break;
    case proto::DT_COMPLEX64:
      MakeFinite(copy->data<std::complex<float>>(), size, ones);
      break;
    case proto::DT_COMPLEX128:
      MakeFinite(copy->data<std::complex<double>>(), size, ones);
      break;
    default:
      break;
  }
  return *copy;
}

Tensor BadProducers::Feed(Port port, Tensor value) {
  if (!IsBad(value)) return value;
  Node node = graph_.node(port.node);
  Add(node, BadOrigin::kFeed, port.index, value);
  return IsTamed(node) ? MadeFinite(value, ones_) : value;
}

bool BadProducers::Wants(const Node& node) {
  if (!CalledFunctions(node).empty()) {
    std::lock_guard lock(mutex_);
    hands_on_.insert({&node.graph(), node.id()});
  }
  return true;
}

Tensor BadProducers::ReplaceConstant(const Node& node, const Tensor& value) {
  return IsTamed(node) ? MadeFinite(value, ones_) : value;
}

Error BadProducers::OnConstant(const Node& node, const Tensor& value, bool /*is_first*/) {
  if (IsBad(value)) Add(node, BadOrigin::kConst, 0, value);
  return Error::success();
}

Error BadProducers::BeforeNode(const Node& /*node*/, llvm::ArrayRef<Tensor> inputs) {
  inputs_.assign(inputs.begin(), inputs.end());
  return Error::success();
}

Error BadProducers::EditOutputs(const Node& node, llvm::MutableArrayRef<Tensor> outputs) {
  auto is_opaque = [](const Tensor& input) {
    return input.dtype() == proto::DT_VARIANT || input.dtype() == proto::DT_RESOURCE;
  };
  bool hands_on = hands_on_.count({&node.graph(), node.id()}) > 0;
  bool reads_opaque = !hands_on && llvm::any_of(inputs_, is_opaque);
  for (size_t i = 0; i < outputs.size() && !hands_on; ++i) {
    if (!IsBad(outputs[i])) continue;
    if (reads_opaque) {
      // No value was bad so far, so the resource behind the handle was bad before the first run.
      if (!has_seen_bad_) Add(node, BadOrigin::kVariable, static_cast<int>(i), outputs[i]);
    } else if (!has_seen_bad_ || llvm::none_of(inputs_, IsBad)) {
      Add(node, BadOrigin::kOp, static_cast<int>(i), outputs[i]);
    }
    if (IsTamed(node)) outputs[i] = MadeFinite(outputs[i], ones_);
  }
  inputs_.clear();
  return Error::success();
}

void BadProducers::OnCall(const CallFrame& call) { ++calls_[call.function]; }

// Returns the iteration of the innermost loop around the call; -1 if there is none. For a While,
// counts the calls of its condition since the first run.
int64_t BadProducers::IterationOf(const CallFrame* call) const {
  while (call && call->iteration < 0) call = call->outer;
  if (!call) return -1;
  if (!call->function || !call->caller) return call->iteration;
  std::optional<AttrView> attr = call->caller->FindAttr("cond");
  auto name = attr ? attr->AsFuncName() : std::nullopt;
  const Function* cond = name ? call->caller->graph().module().FindFunction(*name) : nullptr;
  auto runs = cond ? calls_.find(cond) : calls_.end();
  return runs == calls_.end() ? call->iteration : runs->second - 1;
}

void BadProducers::Add(const Node& node, BadOrigin origin, int output, const Tensor& value) {
  has_seen_bad_ = true;
  BadNode key(&node.graph(), node.id());
  auto known = llvm::find_if(producers_, [&](const BadProducer& p) { return p.key == key; });
  if (known != producers_.end()) {
    if (known->cause.alert.output == output) ++known->cause.times;
    return;
  }
  BadProducer made;
  made.key = key;
  made.origin = origin;
  made.run = run_;
  Cause& cause = made.cause;
  cause.alert.output = output;
  cause.alert.is_cause = true;
  cause.node = node.name().str();
  cause.op_type = node.op().str();
  if (const Function* function = FunctionOf(node.graph())) cause.function = function->name().str();
  cause.place = cause.function;
  cause.value = RecordOf(value);
  cause.iteration = static_cast<int>(IterationOf(CurrentCall()));
  int64_t first = FirstBadElement(value);
  made.index = IndexOfElement(first, value.dims());
  made.element = ElementOf(value.ToLiteral(), first).ToString();
  for (int i = 0;
       origin == BadOrigin::kOp && i < node.num_inputs() && i < static_cast<int>(inputs_.size());
       ++i) {
    Port from = node.input(i);
    CauseInput input;
    if (from.node != kNoNode)
      input.tensor = OutputName(node.graph().node(from.node).name(), from.index);
    input.made_by = input.tensor;
    input.made_in = cause.function;
    input.value = RecordOf(inputs_[i]);
    cause.inputs.push_back(std::move(input));
    made.elements.push_back(ElementFor(inputs_[i], value.dims(), made.index));
  }
  made.calls = CurrentCallSites();
  cause.reason = origin == BadOrigin::kFeed       ? "as the value fed for it"
                 : origin == BadOrigin::kVariable ? "which was there before the run"
                                                  : CauseReason(cause);
  producers_.push_back(std::move(made));
}

}  // namespace grapnel
