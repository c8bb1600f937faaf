#include "lib/watch/tap_lines.h"

#include "lib/ir/literal_json.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/JSON.h"

namespace grapnel {
namespace {

// Returns the text as a JSON string, with quotes.
std::string Quoted(llvm::StringRef text) {
  std::string quoted;
  llvm::raw_string_ostream os(quoted);
  os << llvm::json::Value(llvm::json::fixUTF8(text));
  return quoted;
}

// Lines are formatted by hand, because a JSON writer often takes more time than counting the
// tensor.
void WriteShape(const TapEvent& event, llvm::raw_ostream& os) {
  os << ",\"dtype\":\"" << DataTypeName(event.dtype) << "\",\"shape\":[";
  for (size_t i = 0; i < event.dims.size(); ++i) os << (i ? "," : "") << event.dims[i];
  os << "]";
}

void WriteCalls(llvm::ArrayRef<TapCall> calls, llvm::raw_ostream& os) {
  const char* before = ",\"calls\":[{";
  for (const TapCall& call : calls) {
    os << before;
    before = ",{";
    if (call.caller) os << "\"node\":" << Quoted(call.caller.name()) << ",";
    if (call.function)
      os << "\"function\":" << Quoted(call.function->name());
    else
      os << "\"loop\":" << Quoted(call.loop);
    if (call.iteration >= 0) os << ",\"iteration\":" << call.iteration;
    os << "}";
  }
  os << "]";
}

void WriteBadCounts(const Health& health, llvm::raw_ostream& os) {
  os << ",\"neg_inf\":" << health.neg_inf << ",\"pos_inf\":" << health.pos_inf
     << ",\"nan\":" << health.nan;
}

// Writes a scalar as one element, and the elements of another tensor as one list, row by row; a
// resource or variant as text.
void WriteElements(const TapEvent& event, llvm::raw_ostream& os) {
  if (!event.value) {
    os << Quoted(event.text);
    return;
  }
  llvm::json::OStream json(os);
  Literal literal = event.value.ToLiteral();
  if (literal.dims().empty()) return WriteElementJson(literal, 0, json);
  json.array([&] {
    for (int64_t i = 0; i < literal.num_elements(); ++i) WriteElementJson(literal, i, json);
  });
}

void WriteValue(const TapEvent& event, TapMode mode, llvm::raw_ostream& os) {
  const Health& health = event.health;
  auto yes = [](int64_t count) { return count > 0 ? "true" : "false"; };
  switch (mode) {
    case TapMode::kNoTensor:
      break;
    case TapMode::kCurtHealth:
      os << ",\"bad\":" << yes(health.IsBad());
      break;
    case TapMode::kThreeSlots:
      os << ",\"has_neg_inf\":" << yes(health.neg_inf) << ",\"has_pos_inf\":" << yes(health.pos_inf)
         << ",\"has_nan\":" << yes(health.nan);
      break;
    case TapMode::kConciseHealth:
      os << ",\"elements\":" << health.elements;
      WriteBadCounts(health, os);
      break;
    case TapMode::kFullHealth:
      WriteShape(event, os);
      WriteBadCounts(health, os);
      os << ",\"neg\":" << health.negative << ",\"zero\":" << health.zero
         << ",\"pos\":" << health.positive;
      break;
    case TapMode::kShape:
      WriteShape(event, os);
      break;
    case TapMode::kFullTensor:
      WriteShape(event, os);
      os << ",\"value\":";
      WriteElements(event, os);
      break;
  }
}

}  // namespace

// Returns the beginning of the node's lines, which is the same for all its events.
const std::string& TapLines::HeadOf(const Node& node) {
  std::unique_ptr<std::string>& head = heads_[{&node.graph(), node.id()}];
  if (!head) {
    head = std::make_unique<std::string>("\"node\":" + Quoted(node.name()) +
                                         ",\"op\":" + Quoted(node.op()));
    if (!node.device().empty()) *head += ",\"device\":" + Quoted(node.device());
  }
  return *head;
}

const std::string& TapLines::TextOf(const TapCalls& calls) {
  if (calls != calls_) {
    calls_ = calls;
    calls_text_.clear();
    llvm::raw_string_ostream os(calls_text_);
    if (calls) WriteCalls(*calls, os);
  }
  return calls_text_;
}

void TapLines::Format(const TapEvent& event, llvm::raw_ostream& os) {
  os << "{";
  if (event.run) os << "\"run\":" << event.run << ",";
  os << HeadOf(event.node) << ",\"output\":" << event.output;
  os << TextOf(event.calls);
  WriteValue(event, mode_, os);
  os << "}\n";
}

}  // namespace grapnel
