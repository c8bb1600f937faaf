#include "lib/diff/value_diff.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <set>

#include "lib/diff/variable_pairs.h"
#include "lib/io/saved_variables.h"
#include "lib/io/signature.h"
#include "lib/io/variable_values.h"
#include "lib/ir/node_types.h"
#include "lib/support/text.h"
#include "llvm/ADT/STLExtras.h"

namespace grapnel {
namespace {

std::string TypeOf(const Literal& literal) {
  return DataTypeName(literal.dtype()).str() + Shape(literal.dims()).ToString();
}

bool SameElement(const Literal& x, const Literal& y, int64_t i) {
  // Compares integers as such: 64 bits do not fit into a double.
  if (IsInteger(x.dtype())) return x.AsInt(i) == y.AsInt(i);
  double a = x.AsDouble(i), b = y.AsDouble(i);
  return a == b || (std::isnan(a) && std::isnan(b));
}

void CompareNumber(const Literal& x, const Literal& y, int64_t i, double* square, double* square_a,
                   ValueDistance* result) {
  double a = x.AsDouble(i), b = y.AsDouble(i);
  if (!std::isfinite(a)) ++result->not_finite_a;
  if (!std::isfinite(b)) ++result->not_finite_b;
  if (std::isfinite(a)) *square_a += a * a;
  if (SameElement(x, y, i)) return;
  ++result->differing;
  double difference = std::fabs(a - b);
  if (IsInteger(x.dtype())) {  // beyond 2^53, different integers may be the same double
    auto low = static_cast<uint64_t>(std::min(x.AsInt(i), y.AsInt(i)));
    difference = static_cast<double>(static_cast<uint64_t>(std::max(x.AsInt(i), y.AsInt(i))) - low);
  }
  if (!std::isfinite(difference)) difference = std::numeric_limits<double>::infinity();
  result->largest = std::max(result->largest, difference);
  *square += difference * difference;
}

llvm::StringRef ElementBytes(const Literal& literal, int64_t i) {
  size_t size = DataTypeSize(literal.dtype());
  return literal.bytes().substr(literal.is_splat() ? 0 : i * size, size);
}

const std::string& ElementString(const Literal& literal, int64_t i) {
  return literal.strings()[literal.is_splat() ? 0 : i];
}

// Returns the same numbers in the dtype of `like`.
Literal InTypeOf(const Literal& like, const Literal& value) {
  std::string bytes;
  int64_t stored = value.is_splat() ? 1 : value.num_elements();
  for (int64_t i = 0; i < stored; ++i)
    bytes += Literal::Scalar(like.dtype(), value.AsDouble(i)).bytes();
  return Literal::Make(like.dtype(), value.dims(), bytes);
}

bool AreAlikeButForSize(DataType a, DataType b) {
  return (IsFloating(a) && IsFloating(b)) || (IsInteger(a) && IsInteger(b));
}

bool HasNumbers(DataType type) { return IsNumeric(type) || type == proto::DT_BOOL; }

// The variables of a model, with their nodes and texts for the report.
class Side {
 public:
  static Expected<Side> Open(const ValueSide& side) {
    ASSIGN_OR_RETURN(VariableValues values, VariableValues::Open(*side.graph, side.checkpoint));
    return Side(*side.graph, std::move(values));
  }

  VariableValues& values() { return values_; }
  VariableSide ToPair() const { return {graph_, values_.variables().vec()}; }
  size_t size() const { return values_.variables().size(); }

  Node NodeOf(size_t i) const { return graph_->module->main.node(values_.variables()[i].node); }
  std::string NameOf(size_t i) const { return NameOfVariable(NodeOf(i)); }
  std::string TypeOf(size_t i) const {
    const SavedVariable& variable = values_.variables()[i];
    return DataTypeName(BaseType(variable.dtype)).str() + variable.shape.ToString();
  }

 private:
  Side(const GraphInFile& graph, VariableValues values)
      : graph_(&graph), values_(std::move(values)) {}

  const GraphInFile* graph_;
  VariableValues values_;
};

class Comparison {
 public:
  Comparison(const ValueSide& a, const ValueSide& b) : a_(a), b_(b) {
    for (const ValueSide* side : {&a, &b}) {
      for (const Node& node : ReachedBySaver(*side->graph))
        of_saver_.insert({&node.graph(), node.id()});
    }
  }

  Expected<ValueReport> Run(const Diff& diff) && {
    RETURN_IF_ERROR(CompareAllVariables(diff));
    for (const MatchedPair& pair : diff.matched) {
      RETURN_IF_ERROR(CheckHasValue(pair.a.node));
      RETURN_IF_ERROR(CheckHasValue(pair.b.node));
      if (!IsOfSaver(pair.a.node) && !IsOfSaver(pair.b.node)) CompareConstants(pair);
    }
    llvm::stable_sort(report_.different, [](const ValueDiff& x, const ValueDiff& y) {
      return x.distance.relative > y.distance.relative;
    });
    return std::move(report_);
  }

 private:
  bool IsOfSaver(const Node& node) const {
    return of_saver_.count({&node.graph(), node.id()}) != 0;
  }

  Error CompareAllVariables(const Diff& diff) {
    ASSIGN_OR_RETURN(Side a, Side::Open(a_));
    ASSIGN_OR_RETURN(Side b, Side::Open(b_));
    report_.lacks_a = a.values().Lack();
    report_.lacks_b = b.values().Lack();
    std::vector<bool> has_partner_a(a.size()), has_partner_b(b.size());
    for (auto [in_a, in_b] : PairVariables(a.ToPair(), b.ToPair(), diff)) {
      has_partner_a[in_a] = has_partner_b[in_b] = true;
      if (report_.lacks_a || report_.lacks_b) continue;
      ASSIGN_OR_RETURN(std::optional<Literal> value_a, a.values().Read(in_a));
      ASSIGN_OR_RETURN(std::optional<Literal> value_b, b.values().Read(in_b));
      if (value_a && value_b) {
        Compare(a.NameOf(in_a), b.NameOf(in_b), *value_a, *value_b, b.NodeOf(in_b));
      } else if (value_a || value_b) {
        report_.different.push_back({a.NameOf(in_a),
                                     b.NameOf(in_b),
                                     a.TypeOf(in_a),
                                     {},
                                     value_a ? "no value after" : "no value before",
                                     b.NodeOf(in_b)});
      }
    }
    for (size_t i = 0; i < a.size(); ++i) {
      if (!has_partner_a[i])
        report_.different.push_back({a.NameOf(i), "", a.TypeOf(i), {}, "only before"});
    }
    for (size_t i = 0; i < b.size(); ++i) {
      if (!has_partner_b[i])
        report_.different.push_back({"", b.NameOf(i), b.TypeOf(i), {}, "only after", b.NodeOf(i)});
    }
    return Error::success();
  }

  static Error CheckHasValue(const Node& node) {
    if (!node.FindAttr(kValuesLeftOut)) return Error::success();
    return MakeError(
        "node '{0}': its value was left out of the graph (--no-values), so that values cannot be "
        "compared",
        node.name());
  }

  void CompareConstants(const MatchedPair& pair) {
    bool differ = llvm::any_of(pair.changes, [](const Change& c) { return c.what == "value"; });
    if (!differ || !IsConstant(pair.a.node) || !IsConstant(pair.b.node)) return;
    auto a = Literal::FromConst(pair.a.node), b = Literal::FromConst(pair.b.node);
    // Skips constants of different ranks: the one in B is not a new value of the one in A, but
    // another constant in its place.
    if (a && b && a->dims().size() != b->dims().size()) return;
    if (a && b) return Compare(pair.a.name.str(), pair.b.name.str(), *a, *b, pair.b.node);
    for (auto* side : {&a, &b})
      if (!*side) AddProblem(pair, TextOf(side->takeError()));
  }

  void AddProblem(const MatchedPair& pair, std::string problem) {
    ValueDiff one;
    one.a = pair.a.name.str();
    one.b = pair.b.name.str();
    one.problem = std::move(problem);
    one.in_b = pair.b.node;
    report_.different.push_back(std::move(one));
  }

  void Compare(std::string name_a, std::string name_b, const Literal& a, const Literal& b,
               const Node& in_b) {
    ++report_.compared;
    // Compares in A's dtype if only the size of the dtype changed, as from float to half: the diff
    // already reports the change.
    bool is_same = a.dtype() == b.dtype() || !AreAlikeButForSize(a.dtype(), b.dtype())
                       ? a.SameValue(b)
                       : a.dims() == b.dims() && a.SameValue(InTypeOf(a, b));
    if (is_same) {
      ++report_.same;
      return;
    }
    ValueDiff one;
    one.a = std::move(name_a);
    one.b = std::move(name_b);
    one.in_b = in_b;
    one.type = TypeOf(a);
    if (a.dtype() == b.dtype() && a.dims() == b.dims()) {
      one.distance = DistanceOf(a, b);
    } else {
      one.type += " -> " + TypeOf(b);
      one.problem = "another type";
    }
    report_.different.push_back(std::move(one));
  }

  ValueSide a_, b_;
  std::set<std::pair<const Graph*, NodeId>> of_saver_;
  ValueReport report_;
};

std::vector<std::string> RowOf(const ValueDiff& one) {
  std::string name = one.a.empty() ? one.b : one.a;
  if (!one.name.empty()) name = one.name + ", " + name;
  if (!one.a.empty() && !one.b.empty() && one.a != one.b) name += " (now " + one.b + ")";
  if (!one.problem.empty()) return {name, one.type, one.problem, "", "", ""};
  const ValueDistance& d = one.distance;
  std::string share = WithCommas(d.differing) + " of " + WithCommas(d.elements);
  if (d.largest == 0) return {name, one.type, share, "", "", ""};
  std::string bad;
  if (d.not_finite_a + d.not_finite_b > 0)
    bad = WithCommas(d.not_finite_a) + " -> " + WithCommas(d.not_finite_b);
  return {name, one.type, share, NumberText(d.largest, 3), NumberText(d.relative, 3), bad};
}

// Lists variables of the same name with different types, whose values are not compared.
void WriteOtherShapes(const ValueReport& report, llvm::raw_ostream& os) {
  for (const ValueDiff& a : report.different) {
    if (a.a.empty() || !a.b.empty()) continue;
    for (const ValueDiff& b : report.different) {
      if (b.a.empty() && b.b == a.a)
        os << a.a << " has another type: " << a.type << " -> " << b.type << "\n";
    }
  }
}

}  // namespace

ValueDistance DistanceOf(const Literal& a, const Literal& b) {
  ValueDistance result;
  result.elements = a.num_elements();
  bool strings = a.dtype() == proto::DT_STRING, numbers = HasNumbers(a.dtype());
  double square = 0, square_a = 0;
  for (int64_t i = 0; i < result.elements; ++i) {
    if (numbers && !IsComplex(a.dtype())) {
      CompareNumber(a, b, i, &square, &square_a, &result);
    } else {
      result.differing += strings ? ElementString(a, i) != ElementString(b, i)
                                  : ElementBytes(a, i) != ElementBytes(b, i);
    }
  }
  if (square > 0)
    result.relative =
        square_a > 0 ? std::sqrt(square / square_a) : std::numeric_limits<double>::infinity();
  return result;
}

Expected<ValueReport> DiffValues(const ValueSide& a, const ValueSide& b, const Diff& diff) {
  return Comparison(a, b).Run(diff);
}

std::string WhyNotCompared(const ValueReport& report, llvm::StringRef a, llvm::StringRef b) {
  if (report.lacks_a && report.lacks_b)
    return Sentence("{0} and {1} come without the values of their variables", a, b);
  if (!report.lacks_a && !report.lacks_b) return "";
  return Sentence("{0} comes without the values of its variables", report.lacks_a ? a : b);
}

std::string DistanceText(const ValueDiff& one) {
  if (!one.problem.empty()) return one.problem;
  const ValueDistance& d = one.distance;
  std::string text = WithCommas(d.differing) + " of " + WithCommas(d.elements) + " elements differ";
  return d.largest == 0 ? text : text + ", by up to " + NumberText(d.largest, 3);
}

std::vector<Node> DifferentInB(const ValueReport& report) {
  std::vector<Node> nodes;
  for (const ValueDiff& one : report.different) {
    if (one.in_b) nodes.push_back(one.in_b);
  }
  return nodes;
}

std::string ValuesSummary(const ValueReport& report) {
  return "values: " + WithCommas(report.different.size()) + " differ, " + WithCommas(report.same) +
         " the same";
}

void WriteValueReport(const ValueReport& report, size_t limit, llvm::raw_ostream& os) {
  std::vector<std::vector<std::string>> rows;
  for (const ValueDiff& one : report.different) {
    if (rows.size() == limit) break;
    rows.push_back(RowOf(one));
  }
  if (!rows.empty()) {
    rows.insert(rows.begin(), {"value", "type", "elements", "largest", "relative", "not finite"});
    os << Table(rows);
  }
  if (report.different.size() > limit)
    os << "... and " << WithCommas(report.different.size() - limit) << " more (--all)\n";
  WriteOtherShapes(report, os);
  std::string why = WhyNotCompared(report);
  if (!why.empty()) os << "variables: not compared: " << why << "\n";
  os << ValuesSummary(report) << "\n";
}

}  // namespace grapnel
