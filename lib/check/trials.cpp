#include "lib/check/trials.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <random>

#include "lib/ir/find.h"
#include "lib/ir/node_types.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/xxhash.h"

namespace grapnel {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr std::array<double, 5> kNotFinite = {std::numeric_limits<double>::quiet_NaN(), kInfinity,
                                              -kInfinity, -0.0, 3e38};
constexpr int64_t kApart = 4;

Expected<Tensor> Generate(llvm::StringRef name, DataType type, llvm::ArrayRef<int64_t> dims,
                          const MadeUp& how) {
  std::optional<int64_t> count = NumElements(dims);
  if (!count || *count > (int64_t{1} << 30))
    return MakeError("feed '{0}': a value of shape {1} is too large to generate: feed one", name,
                     DimsText(dims));
  std::mt19937_64 random(llvm::xxHash64(name));
  auto below = [&](uint64_t n) { return random() % n; };
  if (type == proto::DT_STRING) {
    std::vector<std::string> strings;
    for (int64_t i = 0; i < *count; ++i)
      strings.push_back((how.negative_integers ? "-" : "") + std::to_string(below(100)));
    return Tensor::FromLiteral(Literal::MakeStrings(dims, std::move(strings)));
  }
  size_t size = DataTypeSize(type);
  if (size == 0)
    return MakeError("feed '{0}': a value of dtype {1} cannot be generated: feed one", name,
                     DataTypeName(type));
  bool is_signed = type == proto::DT_INT8 || type == proto::DT_INT16 || type == proto::DT_INT32 ||
                   type == proto::DT_INT64;
  std::string bytes;
  bytes.reserve(*count * size);
  for (int64_t i = 0; i < *count; ++i) {
    double value = static_cast<double>(below(type == proto::DT_BOOL ? 2 : 4));
    if (IsFloating(type) || IsComplex(type)) {
      // Multiples of 1/64 are exact in every floating-point dtype of 16 bits or more.
      value = (static_cast<double>(below(127)) + 1) / 64;
      if (below(2)) value = -value;
      if (how.negative) value = -value;
      if (how.first_not_finite && i % kApart == 0)
        value = kNotFinite[(*how.first_not_finite + i / kApart) % kNotFinite.size()];
    } else if (type == proto::DT_BOOL) {
      if (how.negative) value = 1 - value;
    } else if (how.negative_integers && is_signed) {
      value = -value;
    }
    bytes += Literal::Scalar(type, value).bytes();
  }
  return Tensor::FromLiteral(Literal::Make(type, dims, bytes));
}

bool IsFedByDefault(const Node& node) {
  return node.op() == "Placeholder" || node.op() == "PlaceholderV2";
}

Shape ShapeOfPlaceholder(const Node& node) {
  auto attr = node.Attr("shape");
  return attr ? attr->AsShape().value_or(Shape()) : Shape();
}

Expected<llvm::DenseSet<NodeId>> FedNodes(const Graph& graph, const std::vector<FedValue>& given) {
  llvm::DenseSet<NodeId> fed;
  for (const FedValue& feed : given) {
    ASSIGN_OR_RETURN(Port port, FindTensor(graph, feed.tensor));
    fed.insert(port.node);
  }
  return fed;
}

// Returns choices for the size of unknown dimensions: the first size, then larger ones, which a
// graph with convolutions may need.
std::vector<MadeUp> Sizes(llvm::ArrayRef<int64_t> sizes) {
  std::vector<MadeUp> choices;
  for (int64_t size : sizes) choices.push_back({size});
  return choices;
}

}  // namespace

Expected<std::vector<FedValue>> CompleteFeeds(const Graph& graph, std::vector<FedValue> given,
                                              const MadeUp& how) {
  ASSIGN_OR_RETURN(llvm::DenseSet<NodeId> fed, FedNodes(graph, given));
  for (Node node : graph.nodes()) {
    if (!IsFedByDefault(node) || fed.contains(node.id())) continue;
    Shape shape = ShapeOfPlaceholder(node);
    Dims dims;
    for (int i = 0; shape.known_rank() && i < shape.rank(); ++i)
      dims.push_back(shape.IsKnown(i) ? shape.dim(i) : how.open_size);
    ASSIGN_OR_RETURN(Tensor value,
                     Generate(node.name(), BaseType(node.GetType("dtype")), dims, how));
    given.push_back({node.name().str(), std::move(value)});
  }
  return given;
}

// Returns the placeholders that need generated values: those that `given` does not feed; none if
// the graph lacks the tensor of a given feed.
static std::vector<Node> MadeUpNodes(const Graph& graph, const std::vector<FedValue>& given) {
  std::vector<Node> nodes;
  auto fed = FedNodes(graph, given);
  if (!fed) {
    llvm::consumeError(fed.takeError());
    return nodes;
  }
  for (Node node : graph.nodes()) {
    if (IsFedByDefault(node) && !fed->contains(node.id())) nodes.push_back(node);
  }
  return nodes;
}

std::vector<Trial> TrialsOf(const Graph& graph, const std::vector<FedValue>& given) {
  std::vector<Node> made_up = MadeUpNodes(graph, given);
  bool is_open = llvm::any_of(made_up, [](const Node& node) {
    Shape shape = ShapeOfPlaceholder(node);
    return shape.known_rank() && !shape.IsFullyKnown();
  });
  std::vector<Trial> trials = {
      {is_open ? "even open sizes" : "", Sizes({2, 8, 32, 64}), false, is_open}};
  if (is_open) {
    trials.push_back({"open sizes of 1", {{1, true, true}, {1, true}, {1}}, false, true});
    trials.push_back({"odd open sizes", Sizes({3, 9, 33, 65}), false, true});
    trials.push_back({"open sizes of 0", Sizes({0}), true, true});
  }
  if (!made_up.empty()) trials.push_back({"negated values", {{2, true, true}, {2, true}}, true});
  return trials;
}

std::vector<Trial> WildTrialsOf(const Graph& graph, const std::vector<FedValue>& given) {
  const std::vector<MadeUp> sizes = Sizes({2, 8, 32, 64});
  constexpr int64_t kRoom = kApart * kNotFinite.size();
  std::optional<int64_t> least_room;  // number of elements of the smallest float tensor
  for (const Node& node : MadeUpNodes(graph, given)) {
    DataType type = BaseType(node.GetType("dtype"));
    if (!IsFloating(type) && !IsComplex(type)) continue;
    Shape shape = ShapeOfPlaceholder(node);
    int64_t room = 1;
    for (int i = 0; shape.known_rank() && i < shape.rank() && room < kRoom; ++i)
      room *= shape.IsKnown(i) ? shape.dim(i) : sizes.front().open_size;
    least_room = std::min(room, least_room.value_or(room));
  }
  std::vector<Trial> trials;
  // If the smallest tensor cannot contain all kinds of values that are not finite, make a trial for
  // each kind.
  int kinds = !least_room ? 0 : *least_room >= kRoom ? 1 : static_cast<int>(kNotFinite.size());
  for (int first = 0; first < kinds; ++first) {
    Trial trial = {"values that are not finite", sizes, true};
    for (MadeUp& choice : trial.choices) choice.first_not_finite = first;
    trials.push_back(std::move(trial));
  }
  return trials;
}

}  // namespace grapnel
