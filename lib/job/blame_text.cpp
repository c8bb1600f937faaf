#include "lib/job/blame_text.h"

#include "lib/check/suggested_fix.h"
#include "lib/ir/tensor_name.h"
#include "lib/job/source.h"
#include "lib/support/text.h"
#include "lib/tfdbg/debug_text.h"
#include "llvm/ADT/STLExtras.h"

namespace grapnel {
namespace {

using llvm::json::fixUTF8;
using llvm::json::OStream;

constexpr size_t kMostNamesOfPath = 12;  // maximal number of node names shown for a path
constexpr size_t kMostOthers = 5;

const char* OriginName(BadOrigin origin) {
  switch (origin) {
    case BadOrigin::kOp:
      return "op";
    case BadOrigin::kConst:
      return "const";
    case BadOrigin::kFeed:
      return "feed";
    case BadOrigin::kVariable:
      return "variable";
  }
  return "";
}

const char* HarmName(Impact harm) {
  return harm == Impact::kDone ? "done" : harm == Impact::kNone ? "none" : "not tried";
}

void WriteProducerTensors(const BadProducer& producer, llvm::raw_ostream& os) {
  const Cause& cause = producer.cause;
  std::string place = producer.index.empty() ? "" : " at " + IndexText(producer.index);
  std::vector<std::vector<std::string>> rows;
  rows.push_back({"output", OutputName(cause.node, cause.alert.output),
                  RecordedTensorText(cause.value), producer.element + place});
  for (size_t i = 0; i < cause.inputs.size(); ++i) {
    const std::string& element = producer.elements[i];
    rows.push_back({"input", cause.inputs[i].tensor, RecordedTensorText(cause.inputs[i].value),
                    element.empty() ? "" : element + " there"});
  }
  os << Table(rows);
}

void WritePath(const RunBlame& blame, llvm::raw_ostream& os) {
  if (blame.path.size() < 2) return;
  os << "\nreaches ";
  for (size_t i = 1; i < blame.path.size(); ++i) {
    bool is_left_out = blame.path.size() > kMostNamesOfPath && i > kMostNamesOfPath / 2 &&
                       i + kMostNamesOfPath / 2 < blame.path.size();
    if (is_left_out && i == kMostNamesOfPath / 2 + 1)
      os << " > ... " << blame.path.size() - kMostNamesOfPath - 1 << " more";
    if (!is_left_out) os << (i > 1 ? " > " : "") << blame.path[i];
  }
  os << "\n";
}

void WriteOthers(const RunBlame& blame, llvm::raw_ostream& os) {
  size_t harmless = llvm::count_if(blame.producers,
                                   [](const BlamedProducer& p) { return p.harm == Impact::kNone; });
  size_t later = llvm::count_if(
      blame.producers, [](const BlamedProducer& p) { return p.harm == Impact::kNotTried; });
  if (harmless > 0) {
    os << "\n"
       << (harmless == 1 ? "one other made" : std::to_string(harmless) + " others made")
       << " NaN or infinity too, but no fetch is NaN or infinite because of it (a mask, minimum or "
          "comparison drops it):\n";
    size_t shown = 0;
    for (const BlamedProducer& p : blame.producers) {
      if (p.harm == Impact::kNone && shown++ < kMostOthers)
        os << "  " << ProducerSentence(p.producer) << "\n";
    }
    if (harmless > kMostOthers) os << "  ... and " << harmless - kMostOthers << " more\n";
  }
  if (later > 0)
    os << "\n"
       << Plural(later, "later op")
       << " made NaN or infinity from finite numbers too; fix this one, then run again\n";
}

void WriteBadFetches(const RunBlame& blame, llvm::raw_ostream& os) {
  if (blame.bad_run > 0 && !blame.failure.empty())
    os << "run " << blame.bad_run << " is the first that failed\n";
  else if (blame.bad_run > 0 && blame.is_of_variables)
    os << "run " << blame.bad_run << " is the first with a variable that is not finite\n";
  else if (blame.bad_run > 0)
    os << "run " << blame.bad_run << " is the first with a fetch that is not finite:\n";
  if (blame.is_of_variables)
    os << "all fetches are finite, but a variable that the run changed is not:\n";
  for (const BadFetch& fetch : blame.bad_fetches) {
    os << (fetch.is_variable ? "variable " : "fetch ");
    os << (fetch.key.empty() ? fetch.name : fetch.key + " (" + fetch.name + ")");
    os << " holds " << BadText(fetch.value) << " of " << WithCommas(fetch.value.health.elements)
       << "\n";
  }
  if (!blame.failure.empty()) os << "the run failed: " << blame.failure << "\n";
}

LineTable::Stack StackOf(const Cause& cause, const LineTable& lines) {
  return lines.StackOf(lines.Find(cause.function, cause.node));
}

void WriteProducerJson(const BadProducer& producer, const LineTable& lines, OStream& json) {
  const Cause& cause = producer.cause;
  json.object([&] {
    json.attribute("node", fixUTF8(cause.node));
    json.attribute("op", fixUTF8(cause.op_type));
    json.attribute("function", cause.function.empty() ? llvm::json::Value(nullptr)
                                                      : llvm::json::Value(fixUTF8(cause.function)));
    json.attribute("output", cause.alert.output);
    json.attributeArray("kinds", [&] {
      for (const std::string& kind : BadKinds(cause.value)) json.value(kind);
    });
    json.attributeArray("index", [&] {
      for (int64_t i : producer.index) json.value(i);
    });
    json.attribute("iteration", cause.iteration < 0 ? llvm::json::Value(nullptr)
                                                    : llvm::json::Value(cause.iteration));
    json.attribute("cause", OriginName(producer.origin));
    json.attribute("text", fixUTF8(ProducerSentence(producer)));
    json.attribute("element", producer.element);
    json.attribute("run",
                   producer.run > 0 ? llvm::json::Value(producer.run) : llvm::json::Value(nullptr));
    json.attribute("times", static_cast<int64_t>(cause.times));
    json.attribute("fix", SuggestedFix(cause));
    json.attribute("mend", SuggestedFix(cause));  // deprecated
    if (LineTable::Stack stack = StackOf(cause, lines); !stack.empty()) {
      json.attributeBegin("stack");
      WriteStackJson(stack, json);
      json.attributeEnd();
    }
    json.attributeBegin("value");
    WriteRecordedTensorJson(cause.value, json);
    json.attributeEnd();
    json.attributeArray("inputs", [&] {
      for (size_t i = 0; i < cause.inputs.size(); ++i) {
        json.object([&] {
          json.attribute("tensor", fixUTF8(cause.inputs[i].tensor));
          json.attribute("element", producer.elements[i].empty()
                                        ? llvm::json::Value(nullptr)
                                        : llvm::json::Value(producer.elements[i]));
          json.attributeBegin("value");
          WriteRecordedTensorJson(cause.inputs[i].value, json);
          json.attributeEnd();
        });
      }
    });
    json.attributeBegin("calls");
    WriteCallsJson(producer.calls, json);
    json.attributeEnd();
  });
}

}  // namespace

std::string IndexText(llvm::ArrayRef<int64_t> index) {
  std::string text = "[";
  for (size_t i = 0; i < index.size(); ++i) text += (i ? "," : "") + std::to_string(index[i]);
  return text + "]";
}

std::string CallsText(llvm::ArrayRef<CallSite> calls) {
  std::string text;
  for (const CallSite& call : llvm::reverse(calls)) {
    if (!text.empty()) text += ", ";
    text += call.caller.empty() ? "in loop " + call.function
                                : "in " + call.function + " that " + call.caller + " calls";
    if (call.iteration >= 0) text += ", iteration " + std::to_string(call.iteration);
  }
  return text;
}

void WriteCallsJson(llvm::ArrayRef<CallSite> calls, OStream& json) {
  json.array([&] {
    for (const CallSite& call : calls) {
      json.object([&] {
        json.attribute("caller", call.caller.empty() ? llvm::json::Value(nullptr)
                                                     : llvm::json::Value(fixUTF8(call.caller)));
        json.attribute("function", fixUTF8(call.function));
        json.attribute("iteration", call.iteration < 0 ? llvm::json::Value(nullptr)
                                                       : llvm::json::Value(call.iteration));
      });
    }
  });
}

std::string ProducerSentence(const BadProducer& producer) {
  const Cause& cause = producer.cause;
  std::string text = cause.node;
  if (!cause.op_type.empty()) text += " (" + cause.op_type + ")";
  text += producer.origin == BadOrigin::kOp ? " made " : " holds ";
  text += BadText(cause.value);
  if (cause.value.health.elements > 1) text += " of " + WithCommas(cause.value.health.elements);
  if (producer.run > 0) text += " in run " + std::to_string(producer.run) + ",";
  std::string calls = CallsText(producer.calls);
  if (!calls.empty()) text += " " + calls + ",";
  return text + " " + cause.reason;
}

void WriteRunBlameText(const RunBlame& blame, const LineTable& lines, llvm::raw_ostream& os) {
  const BadProducer* first = blame.first_harmful();
  if (!blame.IsBad()) {
    os << "all fetches are finite";
    if (blame.runs > 1) os << " in all " << blame.runs << " runs";
    os << "\n";
    WriteOthers(blame, os);
    return;
  }
  if (!first) {
    WriteBadFetches(blame, os);
    os << "the source could not be found: no op made it from finite numbers\n";
    return;
  }
  os << ProducerSentence(*first) << StackText(StackOf(first->cause, lines)) << "\n\n";
  WriteProducerTensors(*first, os);
  os << "\n";
  WriteBadFetches(blame, os);
  WritePath(blame, os);
  std::string fix = SuggestedFix(first->cause);
  if (!fix.empty()) os << "\nto fix it: " << fix << "\n";
  if (!blame.is_certain)
    os << "\nthis may be incomplete: with the other bad values replaced, the run made new ones\n";
  WriteOthers(blame, os);
}

void WriteRunBlameJson(const RunBlame& blame, const LineTable& lines, OStream& json) {
  auto write = [&](const char* key, const BadProducer* producer) {
    json.attributeBegin(key);
    if (producer)
      WriteProducerJson(*producer, lines, json);
    else
      json.value(nullptr);
    json.attributeEnd();
  };
  // "first_bad" is about fetches; a bad variable is reported as "first_bad_kept".
  write("first_bad", blame.is_of_variables ? nullptr : blame.first_harmful());
  write("first_bad_kept", blame.is_of_variables ? blame.first_harmful() : nullptr);
  write("first_any", blame.producers.empty() ? nullptr : &blame.producers[0].producer);
  json.attributeArray("producers", [&] {
    for (const BlamedProducer& p : blame.producers) {
      json.object([&] {
        json.attribute("harm", HarmName(p.harm));
        json.attributeBegin("producer");
        WriteProducerJson(p.producer, lines, json);
        json.attributeEnd();
      });
    }
  });
  json.attributeArray("bad_fetches", [&] {
    for (const BadFetch& fetch : blame.bad_fetches) {
      json.object([&] {
        json.attribute(fetch.is_variable ? "variable" : "tensor", fixUTF8(fetch.name));
        if (!fetch.key.empty()) json.attribute("key", fixUTF8(fetch.key));
        json.attributeBegin("value");
        WriteRecordedTensorJson(fetch.value, json);
        json.attributeEnd();
      });
    }
  });
  json.attribute("failure", blame.failure.empty() ? llvm::json::Value(nullptr)
                                                  : llvm::json::Value(fixUTF8(blame.failure)));
  json.attributeArray("path", [&] {
    for (const std::string& name : blame.path) json.value(fixUTF8(name));
  });
  json.attribute("is_certain", blame.is_certain);
}

}  // namespace grapnel
