#include "lib/library/trace_differences.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <set>

#include "lib/ir/literal.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLExtras.h"

namespace grapnel {
namespace {

constexpr int64_t kFewElements = 64;  // larger constants show only dtype and shape

bool IsEnd(const Node& node) { return node.op() == "_Arg" || node.op() == "_Retval"; }

bool IsConst(const Node& node) { return node.op() == "Const"; }

// The sizes that differ between the arguments of two traces, as pairs: a dimension in one trace and
// the corresponding dimension in the other.
class SizePairs {
 public:
  SizePairs(const LibraryFunction& a, const LibraryFunction& b) {
    for (const FunctionArgument& of_a : a.arguments) {
      auto of_b = llvm::find_if(
          b.arguments, [&](const FunctionArgument& each) { return each.name == of_a.name; });
      if (of_b != b.arguments.end()) Add(of_a.shape, of_b->shape);
    }
  }

  // True if the numbers `a` and `b` differ only because sizes differ: a number is the size itself,
  // a multiple or a fraction of it, a constant divided by it, or the size plus or minus a constant.
  bool Explain(double a, double b) const {
    if (a == b) return true;
    return llvm::any_of(pairs_, [&](const std::pair<double, double>& sizes) {
      auto [x, y] = sizes;
      auto near = [](double p, double q) { return std::abs(p - q) <= 1e-5 * std::abs(p); };
      return near(a * y, b * x) || near(a * x, b * y) || a - b == x - y;
    });
  }
  bool ranks_differ() const { return ranks_differ_; }

 private:
  void Add(const Shape& a, const Shape& b) {
    if (a == b) return;
    if (!a.known_rank() || !b.known_rank() || a.rank() != b.rank()) {
      ranks_differ_ = true;
      return;
    }
    double all_a = 1, all_b = 1;
    for (int i = 0; i < a.rank(); ++i) {
      if (a.dim(i) == b.dim(i)) continue;
      double x = static_cast<double>(a.dim(i)), y = static_cast<double>(b.dim(i));
      pairs_.push_back({x, y});
      all_a *= x;
      all_b *= y;
    }
    pairs_.push_back({all_a, all_b});
  }

  std::vector<std::pair<double, double>> pairs_;
  bool ranks_differ_ = false;
};

// Returns the value of a Const; nullopt if the value cannot be read.
std::optional<Literal> ValueOf(const Node& node) {
  auto literal = Literal::FromConst(node);
  if (literal) return std::move(*literal);
  llvm::consumeError(literal.takeError());
  return std::nullopt;
}

bool IsNumber(DataType type) {
  return IsFloating(type) || IsInteger(type) || type == proto::DT_BOOL;
}

std::string LiteralText(const Literal& literal) {
  if (literal.num_elements() > kFewElements)
    return (DataTypeName(literal.dtype()) + DimsText(literal.dims())).str();
  return literal.ToString(6);
}

bool Differ(const Literal& a, const Literal& b, const SizePairs& sizes) {
  if (!IsNumber(a.dtype()) || !IsNumber(b.dtype())) return !a.SameValue(b);
  if (a.num_elements() != b.num_elements())
    return !(sizes.ranks_differ() && IsInteger(a.dtype()) && IsInteger(b.dtype()));
  if (sizes.ranks_differ() && IsInteger(a.dtype())) return false;
  if (a.num_elements() > kFewElements) return !a.SameValue(b);
  for (int64_t i = 0; i < a.num_elements(); ++i) {
    double x = a.AsDouble(i), y = b.AsDouble(i);
    if (!(std::isnan(x) && std::isnan(y)) && !sizes.Explain(x, y)) return true;
  }
  return false;
}

// True for attributes that can contain Python values. Dtypes and shapes follow from arguments,
// functions have their own names, and seeds, tokens and resource names are new in every trace.
bool MayBeValue(llvm::StringRef key, AttrView value) {
  if (key.starts_with("_") || key == "token" || key == "shared_name" || key == "container" ||
      key.contains("seed"))
    return false;
  switch (value.kind()) {
    case AttrKind::kInt:
    case AttrKind::kFloat:
    case AttrKind::kBool:
    case AttrKind::kString:
      return true;
    case AttrKind::kList: {
      auto ints = value.AsInts();
      auto floats = value.AsFloats();
      auto strings = value.AsStrings();
      auto filled = [](const auto& list) { return list && !list->empty(); };
      auto types = value.AsTypes();
      return (filled(ints) && !filled(types)) || filled(floats) || filled(strings);
    }
    default:
      return false;
  }
}

bool Differ(AttrView a, AttrView b, const SizePairs& sizes) {
  if (a.bytes() == b.bytes()) return false;
  auto x = a.AsInt(), y = b.AsInt();
  if (a.kind() == AttrKind::kInt && x && y)
    return !sizes.Explain(static_cast<double>(*x), static_cast<double>(*y));
  return true;
}

class Comparer {
 public:
  explicit Comparer(const std::vector<LibraryFunction*>& traces) : traces_(traces) {
    for (size_t i = 0; i < traces.size(); ++i) {
      for (Node node : traces[i]->function->body.nodes())
        if (!IsEnd(node)) AddNode(i, node);
    }
  }

  void Run() {
    values_.resize(traces_.size());
    for (size_t i = 0; i < traces_.size(); ++i) FindArgumentsThatBecameConstants(i);
    for (const Named& each : nodes_)
      if (each.nodes.size() > 1) CompareNodes(each);
    for (size_t i = 0; i < traces_.size(); ++i) {
      for (auto& [key, nodes] : values_[i])
        traces_[i]->constants.push_back({key.first, key.second, std::move(nodes)});
    }
    CountNames();
  }

 private:
  struct Named {
    llvm::SmallVector<std::pair<size_t, Node>, 2> nodes;  // by trace
  };

  void AddNode(size_t trace, const Node& node) {
    auto [it, is_new] = by_name_.try_emplace(node.name_id(), nodes_.size());
    if (is_new) nodes_.emplace_back();
    auto& nodes = nodes_[it->second].nodes;
    // If a broken body has a node name twice, the first node counts.
    if (nodes.empty() || nodes.back().first != trace) nodes.push_back({trace, node});
  }

  // Finds values that are constants in this trace and arguments in another trace.
  void FindArgumentsThatBecameConstants(size_t trace) {
    constexpr size_t kTried = 8;  // how many other traces to look at
    std::set<std::string> own, done;
    for (const FunctionArgument& argument : traces_[trace]->arguments) own.insert(argument.name);
    size_t tried = 0;
    for (size_t other = 0; other < traces_.size() && tried < kTried; ++other) {
      bool differs = false;
      const LibraryFunction& with = *traces_[other];
      for (size_t i = 0; i < with.arguments.size(); ++i) {
        const FunctionArgument& argument = with.arguments[i];
        if (argument.captured || own.count(argument.name) || done.count(argument.name)) continue;
        differs = true;
        if (FindConstantsOf(trace, with, i)) done.insert(argument.name);
      }
      tried += differs;
    }
  }

  bool FindConstantsOf(size_t trace, const LibraryFunction& with, size_t argument) {
    Node arg = with.function->body.node(with.function->args[argument]);
    const Graph& body = traces_[trace]->function->body;
    bool found = false;
    for (const Use& use : arg.uses()) {
      Node reader = with.function->body.node(use.node), same = body.Find(reader.name_id());
      if (!same || IsEnd(reader) || same.op_id() != reader.op_id()) continue;
      if (static_cast<int>(use.slot) >= std::min(same.num_inputs(), reader.num_inputs())) continue;
      Node constant = same.input_node(static_cast<int>(use.slot));
      auto value = constant && IsConst(constant) ? ValueOf(constant) : std::nullopt;
      if (!value) continue;
      found = true;
      if (!told_.insert({trace, constant.id()}).second) continue;
      values_[trace][{with.arguments[argument].name, LiteralText(*value)}].push_back(
          constant.name().str());
    }
    return found;
  }

  const SizePairs& SizesOf(size_t a, size_t b) {
    auto it = sizes_.find({a, b});
    if (it == sizes_.end()) it = sizes_.try_emplace({a, b}, *traces_[a], *traces_[b]).first;
    return it->second;
  }

  void CompareNodes(const Named& named) {
    auto [first, node] = named.nodes[0];
    if (IsConst(node)) return CompareConstants(named);
    std::set<std::string> different;
    for (const auto& [trace, other] : llvm::ArrayRef(named.nodes).drop_front()) {
      if (other.op_id() != node.op_id() ||
          node.graph().AttrBytes(node.id()) == other.graph().AttrBytes(other.id()))
        continue;
      const SizePairs& sizes = SizesOf(first, trace);
      for (const auto& [key, value] : node.Attrs()) {
        auto same = other.FindAttr(key);
        if (same && MayBeValue(key, value) && Differ(value, *same, sizes))
          different.insert(key.str());
      }
    }
    for (const std::string& key : different) {
      for (const auto& [trace, each] : named.nodes) {
        if (auto value = each.FindAttr(key))
          values_[trace][{"", value->ToString()}].push_back(each.name().str() + "." + key);
      }
    }
  }

  void CompareConstants(const Named& named) {
    auto [first, node] = named.nodes[0];
    bool is_told = false, differ = false;
    std::optional<AttrView> bytes = node.FindAttr("value");
    std::optional<Literal> value;
    for (const auto& [trace, other] : named.nodes) {
      is_told |= told_.count({trace, other.id()}) != 0;
      if (differ || !IsConst(other)) continue;
      auto other_bytes = other.FindAttr("value");
      if (bytes && other_bytes && bytes->bytes() == other_bytes->bytes()) continue;
      if (!value) value = ValueOf(node);
      std::optional<Literal> other_value = ValueOf(other);
      differ = value && other_value && Differ(*value, *other_value, SizesOf(first, trace));
    }
    if (!differ || is_told) return;
    for (const auto& [trace, each] : named.nodes) {
      if (!IsConst(each)) continue;
      if (auto of_each = ValueOf(each))
        values_[trace][{"", LiteralText(*of_each)}].push_back(each.name().str());
    }
  }

  // Lists the nodes that only some traces have: in `has` of these traces if at most half of all
  // traces have the node, in `lacks` of the other traces if at least half have it.
  void CountNames() {
    for (const Named& named : nodes_) {
      size_t count = named.nodes.size();
      if (count == traces_.size()) continue;
      bool is_told = llvm::any_of(named.nodes, [&](const auto& each) {
        return told_.count({each.first, each.second.id()}) != 0;
      });
      if (is_told) continue;
      std::string name = named.nodes[0].second.name().str();
      size_t next = 0;
      for (size_t i = 0; i < traces_.size(); ++i) {
        bool has = next < count && named.nodes[next].first == i;
        next += has;
        if (has && count * 2 <= traces_.size()) traces_[i]->has.push_back(name);
        if (!has && count * 2 >= traces_.size()) traces_[i]->lacks.push_back(name);
      }
    }
  }

  const std::vector<LibraryFunction*>& traces_;
  std::vector<Named> nodes_;  // in order of first occurrence
  llvm::DenseMap<StringId, size_t> by_name_;
  // For each trace: the names of the nodes that hold a Python value, by the argument that the value
  // stands for ("" if there is none) and the value's text.
  std::vector<std::map<std::pair<std::string, std::string>, std::vector<std::string>>> values_;
  std::set<std::pair<size_t, NodeId>> told_;  // constants listed as the value of an argument
  std::map<std::pair<size_t, size_t>, SizePairs> sizes_;
};

}  // namespace

void CompareTraces(const std::vector<LibraryFunction*>& traces) {
  if (traces.size() > 1) Comparer(traces).Run();
}

bool MayBeTracesOfOne(const LibraryFunction& a, const LibraryFunction& b) {
  std::set<llvm::StringRef> of_a, of_b;
  for (const auto& argument : a.arguments)
    if (!argument.captured) of_a.insert(argument.name);
  for (const auto& argument : b.arguments)
    if (!argument.captured) of_b.insert(argument.name);
  // Different lambdas share the name "<lambda>", and different dataset functions share parameter
  // names, so for lambdas only the bodies count.
  bool is_lambda = a.name.base == "<lambda>" || a.name.base == "lambda";
  if (!is_lambda && of_a.empty() == of_b.empty() &&
      (of_a.empty() || llvm::any_of(of_a, [&](llvm::StringRef name) { return of_b.count(name); })))
    return true;
  llvm::DenseSet<StringId> names;
  size_t common = 0, of_other = 0;
  for (Node node : a.function->body.nodes())
    if (!IsEnd(node)) names.insert(node.name_id());
  for (Node node : b.function->body.nodes()) {
    if (IsEnd(node)) continue;
    ++of_other;
    common += names.count(node.name_id());
  }
  return common * (is_lambda ? 2 : 3) >= std::max<size_t>(names.size(), of_other);
}

}  // namespace grapnel
