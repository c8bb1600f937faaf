#include "lib/watch/composite_value.h"

#include "lib/ir/node_types.h"
#include "lib/support/text.h"
#include "lib/watch/array_text.h"
#include "lib/watch/number_array.h"
#include "llvm/ADT/STLExtras.h"

namespace grapnel {
namespace {

// An argument of an op, and the range of input or output indices that it covers.
struct Ports {
  llvm::StringRef name;
  int first = 0, count = 0;
};

std::vector<Ports> PortsOf(const Node& node, llvm::ArrayRef<OpArg> args) {
  std::vector<Ports> ports;
  int next = 0;
  for (const OpArg& arg : args) {
    auto count = NumTensors(node, arg);
    if (!count) {
      llvm::consumeError(count.takeError());
      return {};
    }
    ports.push_back({arg.name, next, static_cast<int>(*count)});
    next += static_cast<int>(*count);
  }
  return ports;
}

const Ports* Find(llvm::ArrayRef<Ports> ports, const std::string& name) {
  const auto* found = llvm::find_if(ports, [&](const Ports& p) { return p.name == name; });
  return found == ports.end() ? nullptr : found;
}

// Returns the prefix of an argument name: "a" for "a_indices" if `end` is "indices", "" for
// "indices" itself; nullopt if the name does not end in `end`.
std::optional<std::string> PrefixOf(llvm::StringRef name, llvm::StringRef end) {
  if (!name.consume_back(end) || (!name.empty() && !name.consume_back("_"))) return std::nullopt;
  return name.str();
}

std::string Joined(const std::string& prefix, llvm::StringRef end) {
  return prefix.empty() ? end.str() : prefix + "_" + end.str();
}

void AddSparse(llvm::ArrayRef<Ports> ports, std::vector<Composite>* found) {
  for (const Ports& indices : ports) {
    auto prefix = PrefixOf(indices.name, "indices");
    if (!prefix) continue;
    const Ports* values = Find(ports, Joined(*prefix, "values"));
    const Ports* shape = nullptr;
    for (llvm::StringRef end : {"shape", "dense_shape", "shapes", "dense_shapes"})
      shape = shape ? shape : Find(ports, Joined(*prefix, end));
    // SparseToDense calls the dense shape `output_shape`.
    if (!shape && *prefix == "sparse") shape = Find(ports, "output_shape");
    if (!values || !shape || values->count != indices.count || shape->count != indices.count)
      continue;
    for (int i = 0; i < indices.count; ++i)
      found->push_back({Composite::Kind::kSparse,
                        *prefix,
                        {indices.first + i, values->first + i, shape->first + i}});
  }
}

// True if all row partitions of a RaggedTensorToTensor are row splits; an attribute has the kind of
// each.
bool HasSplitsAlone(const Node& node) {
  auto types = node.Attr("row_partition_types");
  if (!types) return false;
  auto names = types->AsStrings();
  return names && !names->empty() &&
         llvm::all_of(*names, [](llvm::StringRef name) { return name == "ROW_SPLITS"; });
}

void AddRagged(const Node& node, llvm::ArrayRef<Ports> ports, std::vector<Composite>* found) {
  constexpr std::pair<llvm::StringLiteral, llvm::StringLiteral> kPairs[] = {
      {"nested_splits", "dense_values"}, {"nested_splits", "values"},   {"row_splits", "values"},
      {"row_splits", "char_values"},     {"row_splits", "flat_values"}, {"splits", "values"},
      {"data_splits", "data"},           {"ngrams_splits", "ngrams"}};
  for (const Ports& splits : ports) {
    for (const auto& [end, of_values] : kPairs) {
      auto prefix = PrefixOf(splits.name, end);
      const Ports* values = prefix ? Find(ports, Joined(*prefix, of_values)) : nullptr;
      if (!values) continue;
      bool is_nested = end == "nested_splits";
      for (int i = 0; i < (is_nested ? 1 : splits.count) && i < values->count; ++i) {
        Composite made{Composite::Kind::kRagged, *prefix, {}};
        for (int k = 0; k < (is_nested ? splits.count : 1); ++k)
          made.ports.push_back(splits.first + (is_nested ? k : i));
        made.ports.push_back(values->first + i);
        found->push_back(std::move(made));
      }
      break;
    }
  }
  const Ports* partitions = Find(ports, "row_partition_tensors");
  const Ports* values = Find(ports, "values");
  if (!partitions || !values || !HasSplitsAlone(node)) return;
  Composite made{Composite::Kind::kRagged, "", {}};
  for (int k = 0; k < partitions->count; ++k) made.ports.push_back(partitions->first + k);
  made.ports.push_back(values->first);
  found->push_back(std::move(made));
}

std::vector<Composite> CompositesOf(const Node& node, bool of_inputs) {
  std::vector<Composite> found;
  const OpInfo* info = DefinitionOf(node);
  if (!info) return found;
  std::vector<Ports> ports = PortsOf(node, of_inputs ? info->inputs : info->outputs);
  AddSparse(ports, &found);
  AddRagged(node, ports, &found);
  return found;
}

// Returns NumPy's dtype name, but TensorFlow's "string" for strings, which NumPy calls "object".
std::string TypeNameOf(const Tensor& values) {
  return values.dtype() == proto::DT_STRING ? "string" : NumPyTypeName(values.dtype());
}

Expected<std::vector<int64_t>> IntsOf(const Tensor& tensor) {
  ASSIGN_OR_RETURN(NumberArray array, RealNumbers(tensor));
  std::vector<int64_t> ints;
  ints.reserve(array.values.size());
  for (NumberArray::Number value : array.values) ints.push_back(static_cast<int64_t>(value));
  return ints;
}

// Writes the nested rows of a ragged tensor, down to elements of `values`.
struct RaggedWriter {
  llvm::ArrayRef<std::vector<int64_t>> splits;
  const Tensor& values;
  int64_t inner;  // number of elements in one row of `values`
  int64_t left;   // the number of elements that may still be written
  std::string text = {};

  void WriteValue(int64_t first, size_t dim) {
    if (dim == values.dims().size()) {
      text += ElementText(values, first);
      --left;
      return;
    }
    int64_t step = 1;
    for (size_t i = dim + 1; i < values.dims().size(); ++i) step *= values.dims()[i];
    WriteList(values.dims()[dim], [&](int64_t i) { WriteValue(first + i * step, dim + 1); });
  }
  void WriteRow(size_t level, int64_t row) {
    if (level == splits.size()) return WriteValue(row * inner, 1);
    int64_t begin = splits[level][row], end = splits[level][row + 1];
    WriteList(end - begin, [&](int64_t i) { WriteRow(level + 1, begin + i); });
  }
  void WriteList(int64_t count, llvm::function_ref<void(int64_t)> write) {
    text += "[";
    for (int64_t i = 0; i < count; ++i) {
      text += i ? ", " : "";
      if (left <= 0) {
        text += "...";
        break;
      }
      // A row without elements counts as one element toward the limit.
      int64_t before = left;
      write(i);
      if (left == before) --left;
    }
    text += "]";
  }
};

// Describes IndexedSlices: whole rows, with one index for each row.
std::string SlicesText(llvm::ArrayRef<int64_t> rows, const Tensor& values,
                       llvm::ArrayRef<int64_t> dims, int64_t limit) {
  int64_t inner = rows.empty() ? 1 : values.num_elements() / static_cast<int64_t>(rows.size());
  RaggedWriter writer{{}, values, inner, limit};
  for (size_t i = 0; i < rows.size(); ++i) {
    writer.text += (i ? ", [" : ": [") + std::to_string(rows[i]) + "]: ";
    if (writer.left <= 0) {
      writer.text += "...";
      break;
    }
    writer.WriteRow(0, static_cast<int64_t>(i));
  }
  return "slices of " + TypeNameOf(values) + " " + NumPyShapeText(dims) + writer.text;
}

Expected<std::string> SparseText(const Tensor& indices, const Tensor& values, const Tensor& shape,
                                 int64_t limit) {
  ASSIGN_OR_RETURN(std::vector<int64_t> dims, IntsOf(shape));
  ASSIGN_OR_RETURN(std::vector<int64_t> places, IntsOf(indices));
  if (indices.rank() == 1 && values.rank() > 0 && values.dim(0) == indices.dim(0))
    return SlicesText(places, values, dims, limit);
  int64_t rank = static_cast<int64_t>(dims.size()), count = values.num_elements();
  if (values.rank() != 1 || indices.rank() != 2 || indices.dim(0) != count ||
      indices.dim(1) != rank)
    return MakeError(
        "not a sparse tensor: the indices have shape {0}, the values {1}, and the tensor of the "
        "dense shape {2}",
        DimsText(indices.dims()), DimsText(values.dims()), DimsText(shape.dims()));
  double all = 1;
  for (int64_t dim : dims) all *= static_cast<double>(dim);
  std::string text = "sparse " + TypeNameOf(values) + " " + NumPyShapeText(dims) + ", " +
                     std::to_string(count) + " of " + NumberText(all) + " set";
  for (int64_t i = 0; i < std::min(count, limit); ++i) {
    text += i ? ", [" : ": [";
    for (int64_t k = 0; k < rank; ++k)
      text += (k ? ", " : "") + std::to_string(places[i * rank + k]);
    text += "]: " + ElementText(values, i);
  }
  return count > limit ? text + ", ..." : text;
}

Expected<std::string> RaggedText(llvm::ArrayRef<Tensor> parts, int64_t limit) {
  const Tensor& values = parts.back();
  if (values.rank() < 1) return MakeError("not a ragged tensor: the values are a scalar");
  std::vector<std::vector<int64_t>> splits;
  for (size_t level = 0; level + 1 < parts.size(); ++level) {
    ASSIGN_OR_RETURN(std::vector<int64_t> ints, IntsOf(parts[level]));
    bool is_sorted = parts[level].rank() == 1 && !ints.empty() && ints[0] == 0 &&
                     std::is_sorted(ints.begin(), ints.end());
    if (!is_sorted ||
        (!splits.empty() && splits.back().back() + 1 != static_cast<int64_t>(ints.size())))
      return MakeError(
          "not a ragged tensor: row splits {0} are not a sorted vector that begins with 0, or do "
          "not fit the other row splits",
          parts[level].ToString());
    splits.push_back(std::move(ints));
  }
  if (splits.empty() || splits.back().back() != values.dim(0))
    return MakeError("not a ragged tensor: the row splits do not fit values of shape {0}",
                     DimsText(values.dims()));
  int64_t inner = 1;
  std::string shape = std::to_string(splits[0].size() - 1);
  for (size_t level = 0; level < splits.size(); ++level) shape += ", None";
  for (size_t i = 1; i < values.dims().size(); ++i) {
    inner *= values.dims()[i];
    shape += ", " + std::to_string(values.dims()[i]);
  }
  RaggedWriter writer{splits, values, inner, limit};
  writer.WriteList(static_cast<int64_t>(splits[0].size()) - 1,
                   [&](int64_t row) { writer.WriteRow(0, row); });
  return "ragged " + TypeNameOf(values) + " (" + shape + "): " + writer.text;
}

}  // namespace

std::vector<Composite> CompositeInputs(const Node& node) { return CompositesOf(node, true); }
std::vector<Composite> CompositeOutputs(const Node& node) { return CompositesOf(node, false); }

Expected<std::string> CompositeText(Composite::Kind kind, llvm::ArrayRef<Tensor> parts,
                                    int64_t limit) {
  for (const Tensor& part : parts)
    if (!part) return MakeError("a part of the sparse or ragged tensor is missing");
  if (kind == Composite::Kind::kSparse) return SparseText(parts[0], parts[1], parts[2], limit);
  return RaggedText(parts, limit);
}

}  // namespace grapnel
