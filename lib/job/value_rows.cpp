#include "lib/job/value_rows.h"

#include <algorithm>

#include "lib/io/layers/layer_names.h"
#include "lib/io/variable_values.h"
#include "lib/ir/literal_statistics.h"
#include "lib/ir/node_selection.h"
#include "lib/ir/node_types.h"
#include "lib/support/file.h"
#include "lib/support/sentence.h"
#include "lib/support/text.h"

namespace grapnel {
namespace {

constexpr int64_t kElementsAPart = int64_t{1}
                                   << 20;  // fixed, so that sums do not depend on threads
constexpr size_t kHeldBytes = size_t{64} << 20;
constexpr size_t kWorthReleasing = size_t{64} << 10;  // bytes
constexpr double kCostOfElement = 2;                  // nanoseconds

class ValueReader {
 public:
  ValueReader(const OpenedGraph& opened, ThreadPool& pool)
      : opened_(opened), pool_(pool), layers_(opened.file()) {}

  std::vector<ValueRow> Read() && {
    ReadVariables();
    ReadConstants(opened_.module().main);
    for (const auto& function : opened_.module().functions) ReadConstants(function->body);
    Evaluate();
    return std::move(rows_);
  }

 private:
  struct Held {
    size_t row;
    Literal value;
  };
  // Some elements of a held value.
  struct Part {
    const Held* held;
    int64_t begin, end;
    NumberStatistics numbers = {};
    std::string hash = {};
  };

  void ReadVariables() {
    const GraphInFile& file = opened_.file();
    auto opened = VariableValues::Open(file, opened_.model().variables_prefix);
    std::string why;
    if (!opened) why = TextOf(opened.takeError());
    // Without a checkpoint there is nothing that could fail.
    VariableValues values =
        why.empty() ? std::move(*opened) : llvm::cantFail(VariableValues::Open(file, ""));
    for (size_t i = 0; i < values.variables().size(); ++i) {
      const SavedVariable& variable = values.variables()[i];
      Node of_file = file.module->main.node(variable.node);
      Node node = opened_.module().main.Find(of_file.name());
      if (!node) continue;
      ValueRow& row = rows_.emplace_back();
      row.node = node;
      row.is_variable = true;
      row.name = NameOf(variable, of_file);
      row.layer = LayerOf(node);
      row.dtype = BaseType(variable.dtype);
      row.shape = variable.shape;
      row.problem = values.WhyNone(i);
      if (row.problem.empty())
        ReadVariable(i, values);
      else if (!why.empty())
        row.problem = why;
    }
  }

  void ReadVariable(size_t i, VariableValues& values) {
    auto entry = values.Describe(i);
    auto value = entry ? values.Read(i, /*check=*/true) : entry.takeError();
    if (!value) {
      rows_.back().problem = TextOf(value.takeError());
      return;
    }
    if (*entry) rows_.back().hash = ChecksumText((*entry)->checksum);
    Hold(std::move(**value));
  }

  std::string NameOf(const SavedVariable& variable, const Node& node) const {
    int found = layers_.FindVariable(node.name());
    if (found < 0) found = layers_.FindVariable(NameOfVariable(node));
    return found < 0 ? variable.name : layers_.table().variables()[found].name;
  }

  std::string LayerOf(const Node& node) const { return layers_.empty() ? "" : layers_.Of(node); }

  void ReadConstants(const Graph& graph) {
    for (Node node : graph.nodes()) {
      if (!IsConstant(node)) continue;
      ValueRow& row = rows_.emplace_back();
      row.node = node;
      row.name = NameWithFunction(node);
      row.layer = LayerOf(node);
      row.dtype = node.GetType("dtype");
      auto literal = Literal::FromConst(node);
      if (literal)
        Hold(std::move(*literal));
      else
        row.problem = TextOf(literal.takeError());
    }
  }

  // Keeps the value of the last row until it is evaluated, together with others.
  void Hold(Literal value) {
    ValueRow& row = rows_.back();
    row.dtype = value.dtype();
    row.shape = Shape(value.dims());
    held_bytes_ += value.bytes().size();
    held_.push_back({rows_.size() - 1, std::move(value)});
    if (held_bytes_ >= kHeldBytes) Evaluate();
  }

  std::vector<Part> PartsOfHeld() const {
    std::vector<Part> parts;
    for (const Held& held : held_) {
      int64_t elements = HasStatistics(held.value.dtype()) ? held.value.num_elements() : 0;
      int64_t step = held.value.is_splat() ? elements : kElementsAPart;
      parts.push_back({&held, 0, std::min(elements, step)});
      for (int64_t begin = step; begin < elements; begin += step)
        parts.push_back({&held, begin, std::min(elements, begin + step)});
    }
    return parts;
  }

  void Evaluate() {
    std::vector<Part> parts = PartsOfHeld();
    int64_t elements = 0;
    for (const Part& part : parts) elements += part.end - part.begin;
    auto run = [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        Part& part = parts[i];
        part.numbers = NumbersOf(part.held->value, part.begin, part.end);
        if (part.begin == 0 && rows_[part.held->row].hash.empty())
          part.hash = HashText(part.held->value);
      }
    };
    if (!parts.empty()) {
      auto cost =
          kCostOfElement * static_cast<double>(elements) / static_cast<double>(parts.size());
      pool_.ParallelFor(static_cast<int64_t>(parts.size()), cost, run);
    }
    for (Part& part : parts) {
      ValueRow& row = rows_[part.held->row];
      if (part.begin == 0 && !part.hash.empty()) row.hash = std::move(part.hash);
      if (!HasStatistics(row.dtype)) continue;
      if (!row.numbers) row.numbers.emplace();
      *row.numbers += part.numbers;
    }
    for (const Held& held : held_)
      if (held.value.bytes().size() >= kWorthReleasing) DropPages(held.value.bytes());
    held_.clear();
    held_bytes_ = 0;
  }

  const OpenedGraph& opened_;
  ThreadPool& pool_;
  const LayerNames layers_;
  std::vector<ValueRow> rows_;
  std::vector<Held> held_;
  size_t held_bytes_ = 0;
};

// Returns the text for the rows of one kind, `noun`.
std::string UnknownText(llvm::ArrayRef<ValueRow> rows, bool are_variables, llvm::StringRef noun) {
  size_t count = 0;
  const ValueRow* first = nullptr;
  bool is_one_reason = true;
  for (const ValueRow& row : rows) {
    if (row.is_variable != are_variables || row.problem.empty()) continue;
    ++count;
    if (!first) first = &row;
    is_one_reason &= row.problem == first->problem;
  }
  if (!first) return "";
  // The problems of constants name the node.
  bool names = are_variables && !(is_one_reason && count > 1);
  return Sentence("{0} of {1} {2} unknown: {3}{4}", count == 1 ? "the value" : "the values",
                  Plural(count, noun), count == 1 ? "is" : "are",
                  names ? "'" + first->name + "': " : "", first->problem);
}

}  // namespace

std::vector<ValueRow> ValueRowsOf(const OpenedGraph& opened, ThreadPool& pool) {
  return ValueReader(opened, pool).Read();
}

std::string UnknownValuesText(llvm::ArrayRef<ValueRow> rows) {
  std::string variables = UnknownText(rows, true, "variable");
  std::string constants = UnknownText(rows, false, "constant");
  return variables + (variables.empty() || constants.empty() ? "" : "; ") + constants;
}

}  // namespace grapnel
