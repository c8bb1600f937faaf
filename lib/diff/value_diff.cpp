#include "lib/diff/value_diff.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>

#include "lib/io/saved_variables.h"
#include "lib/io/signature.h"
#include "lib/io/variable_binding.h"
#include "lib/ir/node_types.h"
#include "lib/support/text.h"
#include "llvm/ADT/STLExtras.h"

namespace grapnel {
namespace {

std::string TypeOf(const Literal& literal) {
  return DataTypeName(literal.dtype()).str() + Shape(literal.dims()).ToString();
}

bool SameElement(const Literal& x, const Literal& y, int64_t i) {
  // 64 bits of an integer are more than a double holds.
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
  if (IsInteger(x.dtype())) {  // of two that are neighbours beyond 2^53 the doubles are one
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

// The same numbers as another dtype has them.
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

bool IsConst(const Node& node) { return node.op() == "Const" || node.op() == "HostConst"; }

bool HasNumbers(DataType type) { return IsNumeric(type) || type == proto::DT_BOOL; }

// The variables of the main graph that have a value.
std::map<NodeId, std::string> KeysOf(const VariableBinding& binding) {
  std::map<NodeId, std::string> keys;
  for (const VariableBinding::Bound& bound : binding.bound) keys[bound.variable] = bound.key;
  return keys;
}

class Comparison {
 public:
  Comparison(const ValueSide& a, const ValueSide& b) : a_(a), b_(b) {}

  Expected<ValueReport> Run(const Diff& diff) && {
    ASSIGN_OR_RETURN(keys_a_, ReadKeys(a_));
    ASSIGN_OR_RETURN(keys_b_, ReadKeys(b_));
    for (auto [a, b] : VariablePairs(diff)) RETURN_IF_ERROR(CompareVariables(a, b));
    for (const MatchedPair& pair : diff.matched) {
      RETURN_IF_ERROR(CheckHasValue(pair.a.node));
      RETURN_IF_ERROR(CheckHasValue(pair.b.node));
      CompareConstants(pair);
    }
    for (const auto& [id, key] : keys_a_)
      if (done_a_.insert(key).second) AddAlone(a_, id, true);
    for (const auto& [id, key] : keys_b_)
      if (done_b_.insert(key).second) AddAlone(b_, id, false);
    llvm::stable_sort(report_.different, [](const ValueDiff& x, const ValueDiff& y) {
      return x.distance.relative > y.distance.relative;
    });
    return std::move(report_);
  }

 private:
  using Keys = std::map<NodeId, std::string>;

  static Expected<Keys> ReadKeys(const ValueSide& side) {
    if (!side.bundle) return Keys();
    ASSIGN_OR_RETURN(VariableBinding binding, BindVariables(*side.graph, side.bundle));
    Keys keys = KeysOf(binding);
    // What an export lists once more has a value of its own, and is read by its saver alone.
    if (side.graph->object_graph.empty()) return keys;
    for (const SavedVariable& variable : VariablesOf(*side.graph)) {
      if (!variable.is_own) keys.erase(variable.node);
    }
    return keys;
  }

  static bool IsOfMain(const ValueSide& side, const NodeEntry& entry) {
    return &entry.node.graph() == &side.graph->module->main;
  }

  static std::string NameOf(const ValueSide& side, NodeId id) {
    return NameOfVariable(side.graph->module->main.node(id));
  }

  // Each variable once. What the network reads in the same place is the same variable: calls say it
  // best, then other readers. A saver reads them in any order, and names may have moved.
  std::vector<std::pair<NodeId, NodeId>> VariablePairs(const Diff& diff) const {
    std::vector<std::pair<NodeId, NodeId>> pairs;
    std::set<NodeId> done_a, done_b;
    auto add = [&](NodeId a, NodeId b) {
      bool are_free = keys_a_.count(a) && keys_b_.count(b) && !done_a.count(a) && !done_b.count(b);
      if (!are_free) return;
      done_a.insert(a);
      done_b.insert(b);
      pairs.emplace_back(a, b);
    };
    const std::vector<NodeId> saver = NodesOfSaver(*a_.graph);
    const std::set<NodeId> of_saver(saver.begin(), saver.end());
    for (bool calls : {true, false}) {
      for (const MatchedPair& pair : diff.matched) {
        const Node &a = pair.a.node, &b = pair.b.node;
        if (!AreOfMain(pair) || of_saver.count(a.id()) || MayCallFunctions(a) != calls) continue;
        for (int i = 0; i < std::min(a.num_inputs(), b.num_inputs()); ++i)
          add(a.input(i).node, b.input(i).node);
      }
    }
    for (const MatchedPair& pair : diff.matched) {
      if (AreOfMain(pair)) add(pair.a.node.id(), pair.b.node.id());
    }
    return pairs;
  }
  bool AreOfMain(const MatchedPair& pair) const {
    return IsOfMain(a_, pair.a) && IsOfMain(b_, pair.b);
  }

  // What is left in the keys in the end has no partner.
  Error CompareVariables(NodeId variable_a, NodeId variable_b) {
    auto at_a = keys_a_.find(variable_a), at_b = keys_b_.find(variable_b);
    auto keys = std::pair(at_a->second, at_b->second);
    keys_a_.erase(at_a);
    keys_b_.erase(at_b);
    // A saver has nodes of its own for what the network reads by others.
    bool new_a = done_a_.insert(keys.first).second, new_b = done_b_.insert(keys.second).second;
    if (!new_a || !new_b) return Error::success();
    ASSIGN_OR_RETURN(Literal a, a_.bundle->Read(keys.first, false));
    ASSIGN_OR_RETURN(Literal b, b_.bundle->Read(keys.second, false));
    Compare(NameOf(a_, variable_a), NameOf(b_, variable_b), a, b);
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
    if (!differ || !IsConst(pair.a.node) || !IsConst(pair.b.node)) return;
    auto a = Literal::FromConst(pair.a.node), b = Literal::FromConst(pair.b.node);
    // A number and a matrix are two constants that stand in one place.
    if (a && b && a->dims().size() != b->dims().size()) return;
    if (a && b) return Compare(pair.a.name.str(), pair.b.name.str(), *a, *b);
    for (auto* side : {&a, &b})
      if (!*side) AddProblem(pair, TextOf(side->takeError()));
  }

  void AddProblem(const MatchedPair& pair, std::string problem) {
    ValueDiff one;
    one.a = pair.a.name.str();
    one.b = pair.b.name.str();
    one.problem = std::move(problem);
    report_.different.push_back(std::move(one));
  }

  void Compare(std::string name_a, std::string name_b, const Literal& a, const Literal& b) {
    ++report_.compared;
    // A dtype that changed is told of by the diff; its numbers are read as A has them.
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
    one.type = TypeOf(a);
    if (a.dtype() == b.dtype() && a.dims() == b.dims()) {
      one.distance = DistanceOf(a, b);
    } else {
      one.type += " -> " + TypeOf(b);
      one.problem = "another type";
    }
    report_.different.push_back(std::move(one));
  }

  void AddAlone(const ValueSide& side, NodeId id, bool before) {
    ValueDiff one;
    (before ? one.a : one.b) = NameOf(side, id);
    one.problem = before ? "only before" : "only after";
    report_.different.push_back(std::move(one));
  }

  ValueSide a_, b_;
  Keys keys_a_, keys_b_;                   // of variables that are still to be compared
  std::set<std::string> done_a_, done_b_;  // keys of those that were
  ValueReport report_;
};

std::vector<std::string> RowOf(const ValueDiff& one) {
  std::string name = one.a.empty() ? one.b : one.a;
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
  os << "values: " << WithCommas(report.different.size()) << " differ, " << WithCommas(report.same)
     << " the same\n";
}

}  // namespace grapnel
