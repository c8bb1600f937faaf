#include "lib/job/compare_text.h"

#include <cmath>

#include "lib/ir/tensor_name.h"
#include "lib/job/blame_text.h"
#include "lib/support/json.h"
#include "lib/support/text.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Format.h"

namespace grapnel {
namespace {

using llvm::json::fixUTF8;
using llvm::json::OStream;

std::string Short(double number) { return NumberText(number, 3); }

std::string NodeWithOp(llvm::StringRef node, llvm::StringRef op) {
  return (node + " (" + op + ")").str();
}

// Returns "largest error 0.25 (rel 0.5, 4.2e+06 ulp), cosine 0.98".
std::string ErrorText(const TensorDifference& d) {
  bool is_float = d.max_ulps > 0;
  std::string text = "largest error " + Short(d.max_abs) + " (rel " + Short(d.max_rel);
  if (is_float) text += ", " + Short(std::round(d.max_ulps)) + " ulp";
  text += ")";
  if (is_float) text += ", cosine " + NumberText(d.cosine, 6);
  return text;
}

// Returns "diverges in 3 of 6 elements", or another description of the mismatch.
std::string HowText(const Mismatch& p) {
  const TensorDifference& d = p.difference;
  if (d.mismatch == "dtype" || d.mismatch == "shape")
    return "is " + p.type_a + " in A and " + p.type_b + " in B";
  std::string of = d.elements > 1 ? " in " + WithCommas(d.diverged) + " of " +
                                        WithCommas(d.elements) + " elements"
                                  : "";
  if (d.mismatch == "nan") return "is NaN or infinite in only one run" + of;
  return "diverges" + of;
}

std::string MismatchSentence(const Mismatch& p) {
  std::string text = NodeWithOp(p.node, p.op);
  // If the counterpart in B is inside a function call, the report names it on a separate line
  // instead.
  if (!p.node_b.empty() && p.calls_b.empty())
    text += ", in B " + NodeWithOp(p.node_b, p.op_b) + ",";
  text += " " + HowText(p);
  std::string calls = CallsText(p.calls);
  bool is_clause = llvm::StringRef(p.reason).starts_with("which");
  if (!calls.empty()) text += " " + calls;
  if (!calls.empty() || is_clause) text += ",";
  return text + " " + p.reason;
}

std::string InputText(const ComparedInput& input) {
  const TensorDifference& d = input.difference;
  if (!input.is_compared) return "not compared";
  if (d.agreement == Agreement::kSame) return "the same";
  if (d.mismatch == "dtype" || d.mismatch == "shape") return "another " + d.mismatch;
  std::string text = d.agreement == Agreement::kWithin ? "agrees" : "diverges";
  if (d.max_abs > 0) text += ": largest error " + Short(d.max_abs);
  return text + (d.norm_error > 0 ? " (" + Short(d.norm_error) + " of its largest number)" : "");
}

void WriteMismatchTensors(const Mismatch& p, llvm::raw_ostream& os) {
  const TensorDifference& d = p.difference;
  bool has_values = !d.value_a.empty();
  std::vector<std::vector<std::string>> rows;
  rows.push_back({"output", OutputName(p.node, p.output), p.type_a,
                  has_values ? d.value_a + " in A, " + d.value_b + " in B" +
                                   (d.index.empty() ? "" : " at " + IndexText(d.index))
                             : p.type_b + " in B"});
  if (d.mismatch.empty()) rows.push_back({"", "", "", ErrorText(d)});
  for (const ComparedInput& input : p.inputs)
    rows.push_back({"input", input.name, "", InputText(input)});
  os << Table(rows);
  if (!p.calls_b.empty())
    os << "in B    " << NodeWithOp(p.node_b.empty() ? p.node : p.node_b, p.op_b) << "\n        "
       << CallsText(p.calls_b) << "\n";
  if (!p.made_at.empty()) os << "source  " << p.made_at << "\n";
}

std::string CauseName(MismatchKind cause) {
  return cause == MismatchKind::kFault      ? "fault"
         : cause == MismatchKind::kRounding ? "rounding"
                                            : "consequence";
}

void WriteWorst(const RunComparison& comparison, llvm::raw_ostream& os) {
  const Divergence& all = comparison.divergence;
  if (all.worst.empty()) return;
  std::vector<std::vector<std::string>> rows = {
      {"the worst", "op", "error", "rel", "ulp", "cosine", "what"}};
  for (const Mismatch& p : all.worst) {
    const TensorDifference& d = p.difference;
    bool has_numbers = d.mismatch.empty() || d.mismatch == "nan";
    bool is_float = d.max_ulps > 0;
    std::string cause = comparison.Agrees() ? "rewritten" : CauseName(p.cause);
    std::string what = d.agreement == Agreement::kWithin ? "within the tolerance"
                       : d.mismatch.empty()              ? cause
                                                         : d.mismatch + ", " + cause;
    if (p.times > 1) what += ", " + WithCommas(p.times) + " times";
    std::string name;
    for (const CallSite& call : p.calls) {
      if (!call.caller.empty()) name.append(call.caller).append(" > ");
    }
    name += OutputName(p.node, p.output);
    rows.push_back({name, p.op, has_numbers ? Short(d.max_abs) : "",
                    has_numbers ? Short(d.max_rel) : "",
                    is_float ? Short(std::round(d.max_ulps)) : "",
                    is_float ? NumberText(d.cosine, 6) : "", what});
  }
  os << "\n" << Table(rows);
}

void WriteComparedFetches(llvm::ArrayRef<ComparedFetch> fetches, llvm::raw_ostream& os) {
  for (const ComparedFetch& fetch : fetches) {
    const TensorDifference& d = fetch.difference;
    os << "fetch " << fetch.name << " ";
    if (!fetch.is_compared) {
      os << "is not compared\n";
    } else if (d.agreement == Agreement::kSame) {
      os << "is the same\n";
    } else if (d.mismatch == "dtype" || d.mismatch == "shape") {
      os << "has another " << d.mismatch << "\n";
    } else {
      os << (d.agreement == Agreement::kDiverged ? "diverges" : "agrees")
         << (d.mismatch == "nan" ? " (NaN or infinity in only one run)" : "") << ": largest error "
         << Short(d.max_abs) << " (rel " << Short(d.max_rel) << ")";
      if (!d.value_a.empty() && d.agreement == Agreement::kDiverged)
        os << ", " << d.value_a << " in A, " << d.value_b << " in B"
           << (d.index.empty() ? "" : " at " + IndexText(d.index));
      os << "\n";
    }
  }
}

void WriteCounts(const RunComparison& comparison, llvm::raw_ostream& os) {
  const Divergence& all = comparison.divergence;
  os << Plural(all.tensors, "tensor") << " compared: " << WithCommas(all.same) << " the same, "
     << WithCommas(all.within) << " within the tolerance, " << WithCommas(all.diverged)
     << " beyond it";
  int64_t alone = comparison.nodes_of_a - comparison.paired;
  if (alone > 0)
    os << "; " << WithCommas(alone) << " of " << Plural(comparison.nodes_of_a, "execution")
       << " of nodes in A have no counterpart in B";
  os << "\n";
}

void WriteFailures(const RunComparison& comparison, llvm::raw_ostream& os) {
  if (!comparison.failure_a.empty()) os << "run A failed: " << comparison.failure_a << "\n";
  if (!comparison.failure_b.empty()) os << "run B failed: " << comparison.failure_b << "\n";
}

const char* VerdictOf(const RunComparison& comparison) {
  if (comparison.Agrees()) return "agree";
  return !comparison.first_fault() && comparison.divergence.first_rounding ? "rounding" : "fault";
}

void WriteDifferenceJson(const TensorDifference& d, OStream& json) {
  json.attribute("agreement", d.agreement == Agreement::kSame     ? "same"
                              : d.agreement == Agreement::kWithin ? "within"
                                                                  : "parted");
  json.attribute("mismatch",
                 d.mismatch.empty() ? llvm::json::Value(nullptr) : llvm::json::Value(d.mismatch));
  json.attribute("elements", d.elements);
  json.attribute("diverged", d.diverged);
  json.attribute("parted", d.diverged);  // deprecated
  json.attribute("max_abs", NumberOrText(d.max_abs));
  json.attribute("max_rel", NumberOrText(d.max_rel));
  json.attribute("max_ulps", NumberOrText(d.max_ulps));
  json.attribute("cosine", NumberOrText(d.cosine));
  json.attribute("norm_error", NumberOrText(d.norm_error));
  json.attributeArray("index", [&] {
    for (int64_t i : d.index) json.value(i);
  });
  json.attribute("a", fixUTF8(d.value_a));
  json.attribute("b", fixUTF8(d.value_b));
}

llvm::json::Value TextOrNull(const std::string& text) {
  return text.empty() ? llvm::json::Value(nullptr) : llvm::json::Value(fixUTF8(text));
}

void WriteMismatchJson(const Mismatch& p, OStream& json) {
  json.object([&] {
    json.attribute("node", fixUTF8(p.node));
    json.attribute("op", fixUTF8(p.op));
    json.attribute("node_b", fixUTF8(p.node_b.empty() ? p.node : p.node_b));
    json.attribute("op_b", fixUTF8(p.op_b));
    json.attribute("output", p.output);
    json.attribute("type_a", p.type_a);
    json.attribute("type_b", p.type_b);
    json.attribute("cause", CauseName(p.cause));
    json.attribute("text", fixUTF8(MismatchSentence(p)));
    json.attribute("times", p.times);
    json.attribute("source", TextOrNull(p.made_at));
    WriteDifferenceJson(p.difference, json);
    json.attributeBegin("calls");
    WriteCallsJson(p.calls, json);
    json.attributeEnd();
    json.attributeBegin("calls_b");
    WriteCallsJson(p.calls_b.empty() ? p.calls : p.calls_b, json);
    json.attributeEnd();
    json.attributeArray("inputs", [&] {
      for (const ComparedInput& input : p.inputs) {
        json.object([&] {
          json.attribute("tensor", fixUTF8(input.name));
          json.attribute("is_compared", input.is_compared);
          if (input.is_compared) WriteDifferenceJson(input.difference, json);
        });
      }
    });
  });
}

void WriteOneJson(const char* key, const Mismatch* mismatch, OStream& json) {
  json.attributeBegin(key);
  if (mismatch)
    WriteMismatchJson(*mismatch, json);
  else
    json.value(nullptr);
  json.attributeEnd();
}

void WriteFetchesJson(const char* key, llvm::ArrayRef<ComparedFetch> fetches, OStream& json) {
  json.attributeArray(key, [&] {
    for (const ComparedFetch& fetch : fetches) {
      json.object([&] {
        json.attribute("tensor", fixUTF8(fetch.name));
        json.attribute("is_compared", fetch.is_compared);
        if (fetch.is_compared) WriteDifferenceJson(fetch.difference, json);
      });
    }
  });
}

const char* LossName(LossKind kind) {
  return kind == LossKind::kOverflow    ? "overflow"
         : kind == LossKind::kUnderflow ? "underflow"
                                        : "cancellation";
}

std::string LossText(const PrecisionLoss& loss) {
  std::string of = WithCommas(loss.lost) + " of " + Plural(loss.elements, "element");
  switch (loss.kind) {
    case LossKind::kOverflow:
      return of + " overflow, the largest " + Short(loss.extreme);
    case LossKind::kUnderflow:
      return of + " become 0, the smallest " + Short(loss.extreme);
    case LossKind::kCancelled:
      return "no digit is left: the error of its inputs is " + Short(loss.error_before) +
             " of their largest number, its own " + Short(loss.norm_error);
  }
  return "";
}

}  // namespace

void WriteComparisonText(const RunComparison& comparison, llvm::raw_ostream& os) {
  const Divergence& all = comparison.divergence;
  const Mismatch* fault = comparison.first_fault();
  if (comparison.Agrees()) {
    os << "the runs agree\n";
    if (all.diverged > 0)
      os << "rewrites changed " << Plural(all.diverged, "tensor")
         << " inside the graph; the fetches agree\n";
  } else if (fault) {
    os << MismatchSentence(*fault) << "\n\n";
    WriteMismatchTensors(*fault, os);
  } else if (all.first_rounding) {
    os << "the runs diverge by rounding: no op adds more error than rounding does\n\n"
       << MismatchSentence(*all.first_rounding) << "\n\n";
    WriteMismatchTensors(*all.first_rounding, os);
  } else if (all.first_diverged) {
    os << MismatchSentence(*all.first_diverged) << "\n\n";
    WriteMismatchTensors(*all.first_diverged, os);
  } else {
    os << "the runs diverge, but no tensor that was compared does\n";
  }
  os << "\n";
  WriteFailures(comparison, os);
  if (!comparison.Agrees()) WriteComparedFetches(comparison.fetches, os);
  WriteCounts(comparison, os);
  if (!fault && all.growth && all.growth->Factor() > 1)
    os << "rounding grew most at " << NodeWithOp(all.growth->node, all.growth->op) << ": from "
       << Short(all.growth->before) << " to " << Short(all.growth->after)
       << " of the largest number, " << Short(all.growth->Factor()) << " times as much\n";
  WriteWorst(comparison, os);
}

void WriteComparisonJson(const RunComparison& comparison, OStream& json) {
  const Divergence& all = comparison.divergence;
  json.attribute("verdict", VerdictOf(comparison));
  WriteOneJson("first", comparison.first_fault(), json);
  WriteOneJson("first_diverged", all.first_diverged ? &*all.first_diverged : nullptr, json);
  WriteOneJson("first_parted", all.first_diverged ? &*all.first_diverged : nullptr,
               json);  // deprecated
  json.attributeArray("worst", [&] {
    for (const Mismatch& mismatch : all.worst) WriteMismatchJson(mismatch, json);
  });
  json.attributeBegin("growth");
  if (all.growth) {
    json.object([&] {
      json.attribute("node", fixUTF8(all.growth->node));
      json.attribute("op", fixUTF8(all.growth->op));
      json.attribute("before", NumberOrText(all.growth->before));
      json.attribute("after", NumberOrText(all.growth->after));
    });
  } else {
    json.value(nullptr);
  }
  json.attributeEnd();
  WriteFetchesJson("fetches", comparison.fetches, json);
  json.attribute("tensors", all.tensors);
  json.attribute("same", all.same);
  json.attribute("within", all.within);
  json.attribute("diverged", all.diverged);
  json.attribute("parted", all.diverged);  // deprecated
  json.attribute("nodes_of_a", comparison.nodes_of_a);
  json.attribute("paired", comparison.paired);
  json.attribute("parts", comparison.parts);
  json.attribute("failure_a", TextOrNull(comparison.failure_a));
  json.attribute("failure_b", TextOrNull(comparison.failure_b));
}

void WritePrecisionText(const PrecisionReport& report, llvm::raw_ostream& os) {
  std::string format = DataTypeName(report.format).str();
  if (report.format == proto::DT_HALF) format = "float16";
  os << WithCommas(report.tensors) << " tensors rounded to " << format << "\n";
  WriteComparedFetches(report.all_rounded, os);
  if (!report.failure.empty()) os << "the rounded run failed: " << report.failure << "\n";
  if (report.losses.empty()) {
    os << "\nnothing overflows, vanishes or cancels\n";
    return;
  }
  std::vector<std::vector<std::string>> rows = {{"tensor", "op", "loss", ""}};
  constexpr size_t kMost = 20;
  for (const PrecisionLoss& loss : llvm::ArrayRef(report.losses).take_front(kMost)) {
    std::string calls = CallsText(loss.calls);
    rows.push_back({OutputName(loss.node, loss.output), loss.op, LossText(loss), calls});
  }
  os << "\n" << Table(rows);
  if (report.losses.size() > kMost) os << "... and " << report.losses.size() - kMost << " more\n";
  if (report.kept.empty()) return;
  os << "\nkeep in float32:\n";
  std::vector<std::vector<std::string>> kept;
  for (const KeptOp& op : report.kept)
    kept.push_back({op.function.empty() ? op.node : op.function + "/" + op.node, op.op, op.reason});
  os << Table(kept, "  ");
  if (!report.readers.empty()) {
    os << "and their readers: ";
    for (size_t i = 0; i < std::min<size_t>(report.readers.size(), 8); ++i)
      os << (i ? ", " : "") << report.readers[i];
    if (report.readers.size() > 8) os << ", ... " << report.readers.size() - 8 << " more";
    os << "\n";
  }
  os << "\nthen\n";
  WriteComparedFetches(report.with_kept, os);
}

void WritePrecisionJson(const PrecisionReport& report, OStream& json) {
  json.attribute("precision", report.format == proto::DT_HALF ? "float16" : "bfloat16");
  json.attribute("agrees", report.Agrees());
  json.attribute("rtol", report.rtol);
  json.attribute("tensors", report.tensors);
  json.attribute("failure", TextOrNull(report.failure));
  json.attributeArray("losses", [&] {
    for (const PrecisionLoss& loss : report.losses) {
      json.object([&] {
        json.attribute("kind", LossName(loss.kind));
        json.attribute("node", fixUTF8(loss.node));
        json.attribute("op", fixUTF8(loss.op));
        json.attribute("output", loss.output);
        json.attributeBegin("calls");
        WriteCallsJson(loss.calls, json);
        json.attributeEnd();
        json.attribute("elements", loss.elements);
        json.attribute("lost", loss.lost);
        json.attribute("extreme", NumberOrText(loss.extreme));
        json.attribute("norm_error", NumberOrText(loss.norm_error));
        json.attribute("error_before", NumberOrText(loss.error_before));
        json.attribute("times", loss.times);
        json.attribute("is_harmful", loss.is_harmful);
      });
    }
  });
  json.attributeArray("keep", [&] {
    for (const KeptOp& op : report.kept) {
      json.object([&] {
        json.attribute("node", fixUTF8(op.node));
        json.attribute("op", fixUTF8(op.op));
        json.attribute("function", TextOrNull(op.function));
        json.attribute("reason", op.reason);
      });
    }
  });
  json.attributeArray("readers", [&] {
    for (const std::string& reader : report.readers) json.value(fixUTF8(reader));
  });
  WriteFetchesJson("all_rounded", report.all_rounded, json);
  WriteFetchesJson("with_kept", report.with_kept, json);
}

}  // namespace grapnel
