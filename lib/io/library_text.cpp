#include "lib/io/library_text.h"

#include <algorithm>

#include "lib/support/printable.h"
#include "lib/support/text.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"

namespace grapnel {
namespace {

constexpr size_t kRows = 12, kTraces = 6, kParts = 4;  // the most that are printed, unless `all`

std::string JoinedUpTo(llvm::ArrayRef<std::string> parts, size_t limit) {
  std::string text = llvm::join(parts.take_front(limit), ", ");
  if (parts.size() > limit) text += ", and " + WithCommas(parts.size() - limit) + " more";
  return text;
}

class LibraryTextWriter {
 public:
  LibraryTextWriter(const FunctionLibrary& library, bool all, llvm::raw_ostream& os,
                    const ShortNames& names)
      : library_(library), all_(all), limit_(all ? ~size_t{0} : kParts), os_(os), names_(names) {}

  void Write() {
    if (library_.functions.empty()) return;
    size_t python = llvm::count_if(
        library_.rows, [](const FunctionRow& row) { return row.role == FunctionRole::kTrace; });
    os_ << "\nfunctions";
    if (python > 0) os_ << " (" << Plural(python, "Python function") << ")";
    os_ << "\n";
    size_t shown = all_ ? library_.rows.size() : std::min(kRows, library_.rows.size());
    for (size_t i = 0; i < shown; ++i) WriteRow(library_.rows[i]);
    if (shown == library_.rows.size()) return;
    size_t left = 0;
    for (size_t i = shown; i < library_.rows.size(); ++i) left += library_.rows[i].members.size();
    os_ << "  ... and " << WithCommas(left) << " more of "
        << Plural(library_.rows.size() - shown, "row") << " (--all)\n";
  }

 private:
  const LibraryFunction& At(int number) const { return library_.functions[number]; }

  void WriteRow(const FunctionRow& row) {
    if (row.role == FunctionRole::kEagerOp) return WriteEagerOps(row);
    std::vector<int> lines;
    for (int member : row.members)
      if (!IsTold(member)) lines.push_back(member);
    if (lines.size() == 1) {
      os_ << "  " << Printable(ShortName(At(lines[0]))) << ": " << Line(At(lines[0])) << "\n";
      return;
    }
    os_ << "  " << Printable(row.name) << ": ";
    if (row.role == FunctionRole::kTrace) {
      os_ << Plural(row.traces, "trace");
    } else {
      os_ << Plural(lines.size(), "function");
    }
    if (row.one_body) os_ << ", one body" << (SameShapes(row) ? "" : ", other shapes");
    os_ << "\n";
    size_t shown = all_ ? lines.size() : std::min(kTraces, lines.size());
    for (size_t i = 0; i < shown; ++i)
      os_ << "    " << Printable(LabelOf(At(lines[i]))) << ": " << Line(At(lines[i])) << "\n";
    if (shown < lines.size())
      os_ << "    ... and " << WithCommas(lines.size() - shown) << " more (--all)\n";
  }

  bool SameShapes(const FunctionRow& row) const {
    auto text = [&](int number) { return ArgumentsText(At(number), ~size_t{0}); };
    return llvm::all_of(llvm::ArrayRef(row.members).take_front(row.traces),
                        [&](int member) { return text(member) == text(row.members[0]); });
  }

  // True if function `number` is the forward or backward function of a trace in its row: the line
  // of that trace already names it.
  bool IsTold(int number) const {
    int trace = At(number).trace;
    return trace >= 0 && (At(trace).forward == number || At(trace).backward == number) &&
           At(trace).row == At(number).row;
  }

  void WriteEagerOps(const FunctionRow& row) {
    std::vector<std::string> ops;
    for (int member : row.members) ops.push_back(Printable(At(member).name.base));
    std::sort(ops.begin(), ops.end());
    os_ << "  eager ops, each run as a function: " << JoinedUpTo(ops, all_ ? ops.size() : 8)
        << "\n";
  }

  // Returns the label of a function's line in the row of its Python function: the number alone for
  // a trace ("66"), because the row already has the Python name.
  static std::string LabelOf(const LibraryFunction& each) {
    std::string name = ShortName(each);
    if (name == each.function->name() || !each.name.number) return name;
    return std::to_string(*each.name.number);
  }

  std::string Line(const LibraryFunction& each) const {
    std::vector<std::string> parts = {ArgumentsText(each, limit_)};
    auto add = [&](std::string part) {
      if (!part.empty()) parts.push_back(std::move(part));
    };
    add(RolePart(each));
    add(StatusPart(each));
    for (const TraceConstant& constant : llvm::ArrayRef(each.constants).take_front(limit_))
      add(Printable(ConstantText(constant)));
    if (each.constants.size() > limit_)
      add(WithCommas(each.constants.size() - limit_) + " more values");
    if (!each.has.empty()) add("has " + NamesText(each.has));
    if (!each.lacks.empty()) add("lacks " + NamesText(each.lacks));
    std::string size = Plural(each.nodes, "node");
    if (each.bytes > 0) size += ", " + HumanBytes(each.bytes);
    add(size);
    if (each.copy_of >= 0 &&
        !(library_.rows[each.row].one_body && At(each.copy_of).row == each.row))
      add("a copy of " + Printable(ShortName(At(each.copy_of))));
    add(PairPart(each));
    if (!each.calls.empty()) add("calls " + CalleesText(each.calls));
    return names_.InText(llvm::join(parts, "; "));
  }

  std::string RolePart(const LibraryFunction& each) const {
    std::string part = PartOfText(library_, each);
    if (!part.empty()) return Printable(part);
    return each.role == FunctionRole::kTrace || each.role == FunctionRole::kPlain ? ""
                                                                                  : RoleText(each);
  }

  std::string StatusPart(const LibraryFunction& each) const {
    switch (each.status) {
      case FunctionStatus::kEntry:
        return "entry point";
      case FunctionStatus::kSuperseded:
        if (each.successor >= 0)
          return "superseded: it creates variables, " + Printable(ShortName(At(each.successor))) +
                 " runs once they exist";
        return each.forward >= 0 ? "" : "superseded with its callers";
      case FunctionStatus::kUnused:
        return each.callers.empty() ? "unused" : "unused: its callers are too";
      default:
        return "";
    }
  }

  std::string PairPart(const LibraryFunction& each) const {
    if (each.role == FunctionRole::kGradient)
      return each.trace < 0 ? "" : "of " + NameOf(each.trace);
    if (each.forward < 0 && each.backward < 0)
      return each.partner < 0 ? "" : "pairs with " + NameOf(each.partner);
    std::string pair = each.forward < 0 ? "" : NameOf(each.forward);
    if (each.backward >= 0) pair += (pair.empty() ? "" : " and ") + NameOf(each.backward);
    if (each.forward < 0) return "gradient: " + pair;
    if (each.status != FunctionStatus::kSuperseded) return "for gradients: " + pair;
    bool by_python = At(each.forward).status == FunctionStatus::kEntry;
    return (by_python ? "superseded: Python runs " : "superseded: runs as ") + pair;
  }

  std::string NameOf(int number) const { return Printable(At(number).function->name()); }

  std::string CalleesText(llvm::ArrayRef<int> calls) const {
    std::vector<std::string> names;
    for (int callee : calls) names.push_back(Printable(ShortName(At(callee))));
    return JoinedUpTo(names, limit_);
  }

  std::string NamesText(llvm::ArrayRef<std::string> names) const {
    std::vector<std::string> scopes = ByScope(names);
    for (std::string& scope : scopes) scope = Printable(scope);
    return JoinedUpTo(scopes, limit_);
  }

  const FunctionLibrary& library_;
  bool all_;
  size_t limit_;
  llvm::raw_ostream& os_;
  const ShortNames& names_;
};

}  // namespace

void WriteLibraryText(const FunctionLibrary& library, bool all, llvm::raw_ostream& os,
                      const ShortNames& names) {
  LibraryTextWriter(library, all, os, names).Write();
}

std::string ArgumentsText(const LibraryFunction& each, size_t limit) {
  std::vector<std::string> parts;
  std::string last;
  size_t captured = 0;
  for (const FunctionArgument& argument : each.arguments) {
    if (argument.captured && ++captured) continue;
    std::string type = Printable(argument.ToString()), name = Printable(argument.name);
    if (!parts.empty() && type == last) {
      parts.back().insert(parts.back().size() - type.size() - 1, ", " + name);
    } else {
      parts.push_back(llvm::join_items(" ", name, type));
    }
    last = std::move(type);
  }
  if (captured > 0) parts.push_back(WithCommas(captured) + " captured");
  return parts.empty() ? "no arguments" : JoinedUpTo(parts, limit);
}

std::string ShortName(const LibraryFunction& function) {
  const FunctionName& name = function.name;
  bool is_plain_trace = name.kind == FunctionName::Kind::kTrace && name.number &&
                        !name.is_control_flow && !name.is_specialized;
  if (!is_plain_trace) return function.function->name().str();
  return name.base + " " + std::to_string(*name.number);
}

std::string ConstantText(const TraceConstant& constant) {
  std::string nodes = llvm::join(constant.nodes, ", ");
  if (constant.argument.empty()) return nodes + " = " + constant.value;
  return constant.argument + " = " + constant.value + ", a constant (" + nodes + ")";
}

std::vector<std::string> ByScope(llvm::ArrayRef<std::string> names) {
  auto scope_of = [](llvm::StringRef name) { return name.split('/').first; };
  llvm::StringMap<size_t> counts;
  for (const std::string& name : names) ++counts[scope_of(name)];
  std::vector<std::string> out;
  for (const std::string& name : names) {
    size_t& count = counts[scope_of(name)];
    if (count > 1) out.push_back((scope_of(name) + "/ (" + Plural(count, "node") + ")").str());
    if (count == 1) out.push_back(name);
    if (count > 1) count = 0;
  }
  return out;
}

std::string PartOfText(const FunctionLibrary& library, const LibraryFunction& function) {
  if (function.part.empty()) return "";
  if (function.uses.empty()) return RoleText(function);
  const FunctionUse& use = function.uses[0];
  std::string text =
      (RoleText(function) + " of " + use.node.op() + " '" + use.node.name() + "'").str();
  if (use.caller >= 0) text += " in " + ShortName(library.functions[use.caller]);
  return text;
}

}  // namespace grapnel
