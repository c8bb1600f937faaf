// ParseSequenceExample, ParseSequenceExampleV2, ParseSingleSequenceExample: a context like an
// Example's, and feature lists with one feature per time step.
#include <algorithm>

#include "kernels/common/dims.h"
#include "kernels/cpu/data/example_parser.h"
#include "lib/support/first_error.h"
#include "llvm/ADT/StringMap.h"

namespace grapnel {
namespace {

struct ListSpec : RaggedSpec {
  Shape shape;                 // dense: of one step
  int64_t size = 0;            // number of elements of `shape`
  bool may_be_absent = false;  // dense: an absent list has no steps
};

struct SequenceSpec {
  ExampleSpec context;
  std::vector<ListSpec> sparse, dense, ragged;
};

// The lists of one feature: the steps of all examples, concatenated.
struct Steps {
  std::vector<Feature> features;
  std::vector<int64_t> begins;  // start of each example's steps, and the end
  std::vector<int64_t> starts;  // start of each step's values, and the end

  int64_t of(int64_t row) const { return begins[row + 1] - begins[row]; }
};

class SequenceParser {
 public:
  SequenceParser(KernelContext& ctx, const SequenceSpec& spec, const ExampleBatch& batch)
      : ctx_(ctx),
        spec_(spec),
        batch_(batch),
        rows_(static_cast<int64_t>(batch.serialized.size())) {
    for (auto* list : {&spec.sparse, &spec.dense, &spec.ragged}) {
      for (const ListSpec& feature : *list) specs_.push_back(&feature);
    }
  }

  // Returns tensors as ParseExamples() does: indices, values, shapes; dense values, their lengths;
  // ragged values, outer and inner splits.
  Expected<std::vector<Tensor>> Run();

 private:
  struct List {
    llvm::StringRef bytes;
    bool present = false;
  };

  Error Scan();
  Expected<Steps> StepsOf(int64_t k);
  Expected<Tensor> ValuesOf(int64_t k, const Steps& steps);
  Error Sparse(int64_t k);
  Error Dense(int64_t k);
  Error Ragged(int64_t k);
  Expected<Tensor> Splits(DataType dtype, llvm::ArrayRef<int64_t> values);

  KernelContext& ctx_;
  const SequenceSpec& spec_;
  const ExampleBatch& batch_;
  const int64_t rows_;
  std::vector<const ListSpec*> specs_;
  std::vector<List> lists_;  // by row, in the order of specs_
  std::vector<Tensor> indices_, values_, shapes_, dense_, lengths_, ragged_, outer_, inner_;
};

Error SequenceParser::Scan() {
  int64_t width = static_cast<int64_t>(specs_.size());
  llvm::StringMap<llvm::SmallVector<int64_t, 1>> places;
  for (int64_t k = 0; k < width; ++k) places[specs_[k]->key].push_back(k);
  lists_.resize(rows_ * width);
  FirstError first;
  ctx_.ParallelFor(rows_, 500, [&](int64_t begin, int64_t end) {
    for (int64_t row = begin; row < end; ++row) {
      bool good =
          ReadFeatureLists(batch_.serialized[row], [&](llvm::StringRef key, llvm::StringRef list) {
            auto it = places.find(key);
            if (it == places.end()) return;
            for (int64_t k : it->second) lists_[row * width + k] = {list, true};
          });
      if (!good)
        first.Report(row, MakeError("Name: {0}, could not parse example input {1}: {2} bytes",
                                    NameOf(batch_, row), row, batch_.serialized[row].size()));
    }
  });
  return first.Take();
}

Expected<Steps> SequenceParser::StepsOf(int64_t k) {
  const ListSpec& spec = *specs_[k];
  Steps steps;
  steps.begins.push_back(0);
  steps.starts.push_back(0);
  for (int64_t row = 0; row < rows_; ++row) {
    const List& list = lists_[row * static_cast<int64_t>(specs_.size()) + k];
    if (!ReadFeatureList(list.bytes, &steps.features))
      return MakeError("Name: {0}, Feature list: {1}: the list is damaged", NameOf(batch_, row),
                       spec.key);
    for (size_t i = steps.begins.back(); i < steps.features.size(); ++i) {
      const Feature& feature = steps.features[i];
      bool empty = feature.dtype == proto::DT_INVALID;
      if (!empty && feature.dtype != spec.dtype)
        return MakeError(
            "Name: {0}, Feature list: {1}, Index: {2}: data types don't match, {3} was expected, "
            "the feature is {4}",
            NameOf(batch_, row), spec.key, i - steps.begins.back(), DataTypeName(spec.dtype),
            DataTypeName(feature.dtype));
      int64_t count = empty ? 0 : CountValues(feature);
      if (count < 0)
        return MakeError("Name: {0}, Feature list: {1}, Index: {2}: the list of values is damaged",
                         NameOf(batch_, row), spec.key, i - steps.begins.back());
      steps.starts.push_back(steps.starts.back() + count);
    }
    steps.begins.push_back(static_cast<int64_t>(steps.features.size()));
  }
  return steps;
}

Expected<Tensor> SequenceParser::ValuesOf(int64_t k, const Steps& steps) {
  ASSIGN_OR_RETURN(Tensor values, ctx_.Scratch(specs_[k]->dtype, {steps.starts.back()}));
  int64_t count = static_cast<int64_t>(steps.features.size());
  ctx_.ParallelFor(count, 200, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      if (steps.starts[i + 1] > steps.starts[i])
        FillValues(steps.features[i], values, steps.starts[i]);
    }
  });
  return values;
}

Error SequenceParser::Sparse(int64_t k) {
  ASSIGN_OR_RETURN(Steps steps, StepsOf(k));
  ASSIGN_OR_RETURN(Tensor values, ValuesOf(k, steps));
  int64_t depth = batch_.single ? 2 : 3, most_steps = 0, longest = 0;
  ASSIGN_OR_RETURN(Tensor indices, ctx_.Scratch(proto::DT_INT64, {values.dim(0), depth}));
  ASSIGN_OR_RETURN(Tensor shape, ctx_.Scratch(proto::DT_INT64, {depth}));
  int64_t* to = indices.data<int64_t>();
  for (int64_t row = 0; row < rows_; ++row) {
    most_steps = std::max(most_steps, steps.of(row));
    for (int64_t step = 0; step < steps.of(row); ++step) {
      int64_t at = steps.begins[row] + step, count = steps.starts[at + 1] - steps.starts[at];
      longest = std::max(longest, count);
      for (int64_t i = 0; i < count; ++i) {
        if (!batch_.single) *to++ = row;
        *to++ = step;
        *to++ = i;
      }
    }
  }
  int64_t* size = shape.data<int64_t>();
  if (!batch_.single) *size++ = rows_;
  size[0] = most_steps;
  size[1] = longest;
  indices_.push_back(std::move(indices));
  values_.push_back(std::move(values));
  shapes_.push_back(std::move(shape));
  return Error::success();
}

// Steps that an example lacks are zeros or empty strings.
Error SequenceParser::Dense(int64_t k) {
  const ListSpec& spec = *specs_[k];
  for (int64_t row = 0; row < rows_; ++row) {
    if (lists_[row * static_cast<int64_t>(specs_.size()) + k].present || spec.may_be_absent)
      continue;
    return MakeError(
        "Name: {0}, Feature list '{1}' is required but could not be found; did you mean to include "
        "it in feature_list_dense_missing_assumed_empty?",
        NameOf(batch_, row), spec.key);
  }
  ASSIGN_OR_RETURN(Steps steps, StepsOf(k));
  int64_t most_steps = 0;
  ASSIGN_OR_RETURN(Tensor lengths, batch_.single ? ctx_.Scratch(proto::DT_INT64, {})
                                                 : ctx_.Scratch(proto::DT_INT64, {rows_}));
  for (int64_t row = 0; row < rows_; ++row) {
    lengths.data<int64_t>()[row] = steps.of(row);
    most_steps = std::max(most_steps, steps.of(row));
    for (int64_t at = steps.begins[row]; at < steps.begins[row + 1]; ++at) {
      int64_t count = steps.starts[at + 1] - steps.starts[at];
      if (count != spec.size)
        return MakeError(
            "Name: {0}, Key: {1}, Index: {2}: number of {3} values != expected, values size {4} "
            "but output shape {5}",
            NameOf(batch_, row), spec.key, at - steps.begins[row], DataTypeName(spec.dtype), count,
            spec.shape.ToString());
    }
  }
  Dims dims;
  if (!batch_.single) dims.push_back(rows_);
  dims.push_back(most_steps);
  dims.append(spec.shape.dims().begin(), spec.shape.dims().end());
  if (!NumElements(dims))
    return MakeError("feature list '{0}': {1} is too large", spec.key, DimsText(dims));
  ASSIGN_OR_RETURN(Tensor out, ctx_.Scratch(spec.dtype, dims));
  if (spec.dtype != proto::DT_STRING && out.byte_size() > 0)
    std::fill_n(static_cast<char*>(out.raw()), out.byte_size(), 0);
  ctx_.ParallelFor(rows_, 200, [&](int64_t begin, int64_t end) {
    for (int64_t row = begin; row < end; ++row) {
      for (int64_t step = 0; step < steps.of(row) && spec.size > 0; ++step)
        FillValues(steps.features[steps.begins[row] + step], out,
                   (row * most_steps + step) * spec.size);
    }
  });
  dense_.push_back(std::move(out));
  lengths_.push_back(std::move(lengths));
  return Error::success();
}

Expected<Tensor> SequenceParser::Splits(DataType dtype, llvm::ArrayRef<int64_t> values) {
  if (dtype == proto::DT_INT32 && values.back() > INT32_MAX)
    return MakeError("row splits up to {0} do not fit in int32", values.back());
  ASSIGN_OR_RETURN(Tensor splits, ctx_.Scratch(dtype, {static_cast<int64_t>(values.size())}));
  for (size_t i = 0; i < values.size(); ++i) {
    if (dtype == proto::DT_INT32)
      splits.data<int32_t>()[i] = static_cast<int32_t>(values[i]);
    else
      splits.data<int64_t>()[i] = values[i];
  }
  return splits;
}

Error SequenceParser::Ragged(int64_t k) {
  const ListSpec& spec = *specs_[k];
  ASSIGN_OR_RETURN(Steps steps, StepsOf(k));
  ASSIGN_OR_RETURN(Tensor values, ValuesOf(k, steps));
  ASSIGN_OR_RETURN(Tensor inner, Splits(spec.split_type, steps.starts));
  // A single example has one row and needs no outer splits; TensorFlow returns a meaningless
  // scalar, grapnel the scalar 0.
  ASSIGN_OR_RETURN(Tensor outer,
                   Splits(spec.split_type, batch_.single ? std::vector<int64_t>{0} : steps.begins));
  ragged_.push_back(std::move(values));
  outer_.push_back(batch_.single ? outer.Reshaped({}) : std::move(outer));
  inner_.push_back(std::move(inner));
  return Error::success();
}

Expected<std::vector<Tensor>> SequenceParser::Run() {
  RETURN_IF_ERROR(Scan());
  int64_t k = 0;
  for (size_t i = 0; i < spec_.sparse.size(); ++i) RETURN_IF_ERROR(Sparse(k++));
  for (size_t i = 0; i < spec_.dense.size(); ++i) RETURN_IF_ERROR(Dense(k++));
  for (size_t i = 0; i < spec_.ragged.size(); ++i) RETURN_IF_ERROR(Ragged(k++));
  std::vector<Tensor> all;
  for (auto* list : {&indices_, &values_, &shapes_, &dense_, &lengths_, &ragged_, &outer_, &inner_})
    all.insert(all.end(), list->begin(), list->end());
  return all;
}

// --- The ops: where each takes its keys, dtypes and shapes from

struct Types {
  std::vector<DataType> context_sparse, context_dense, context_ragged, context_splits;
  std::vector<DataType> sparse, dense, ragged, splits;
  std::vector<Shape> context_shapes, shapes;
};

Types TypesOf(const Node& node) {
  auto types = [&](const char* key) { return TypesAttr(node, key); };
  return {types("context_sparse_types"),
          types("Tcontext_dense"),
          types("context_ragged_value_types"),
          types("context_ragged_split_types"),
          types("feature_list_sparse_types"),
          types("feature_list_dense_types"),
          types("feature_list_ragged_value_types"),
          types("feature_list_ragged_split_types"),
          ShapesAttr(node, "context_dense_shapes"),
          ShapesAttr(node, "feature_list_dense_shapes")};
}

struct Keys {
  std::vector<std::string> context_sparse, context_dense, context_ragged, sparse, dense, ragged;
};

template <typename Spec>
Error AddFeatures(llvm::StringRef what, llvm::ArrayRef<std::string> keys,
                  llvm::ArrayRef<DataType> types, std::vector<Spec>* to) {
  if (keys.size() != types.size())
    return MakeError("{0}: there are {1} keys, but {2} dtypes", what, keys.size(), types.size());
  for (size_t i = 0; i < keys.size(); ++i) {
    Spec spec;
    spec.key = keys[i];
    spec.dtype = types[i];
    if (spec.dtype != proto::DT_STRING && spec.dtype != proto::DT_FLOAT &&
        spec.dtype != proto::DT_INT64)
      return MakeError("{0} '{1}' has dtype {2}, but an Example holds only string, float and int64",
                       what, spec.key, DataTypeName(spec.dtype));
    to->push_back(std::move(spec));
  }
  return Error::success();
}

template <typename Spec>
Error SetSplits(llvm::ArrayRef<DataType> splits, std::vector<Spec>* features) {
  if (splits.size() != features->size())
    return MakeError("there are {0} ragged features, but {1} dtypes of row splits",
                     features->size(), splits.size());
  for (size_t i = 0; i < splits.size(); ++i) (*features)[i].split_type = splits[i];
  return Error::success();
}

Error FinishLists(const Types& types, SequenceSpec* spec) {
  RETURN_IF_ERROR(SetSplits(types.splits, &spec->ragged));
  for (const ListSpec& list : spec->ragged) {
    if (list.split_type != proto::DT_INT32 && list.split_type != proto::DT_INT64)
      return MakeError("row splits must be int32 or int64, not {0}", DataTypeName(list.split_type));
  }
  if (types.shapes.size() != spec->dense.size())
    return MakeError("there are {0} dense feature lists, but {1} shapes", spec->dense.size(),
                     types.shapes.size());
  for (size_t i = 0; i < spec->dense.size(); ++i) {
    auto size = types.shapes[i].NumElements();
    if (!types.shapes[i].IsFullyKnown() || !size)
      return MakeError("the shape of feature list '{0}', {1}, is not fully known or is too large",
                       spec->dense[i].key, types.shapes[i].ToString());
    spec->dense[i].shape = types.shapes[i];
    spec->dense[i].size = *size;
  }
  return Error::success();
}

Expected<SequenceSpec> MakeSpec(const Types& types, const Keys& keys,
                                llvm::ArrayRef<Tensor> defaults) {
  SequenceSpec spec;
  ExampleSpec& context = spec.context;
  RETURN_IF_ERROR(
      AddFeatures("context_sparse", keys.context_sparse, types.context_sparse, &context.sparse));
  RETURN_IF_ERROR(
      AddFeatures("context_dense", keys.context_dense, types.context_dense, &context.dense));
  RETURN_IF_ERROR(
      AddFeatures("context_ragged", keys.context_ragged, types.context_ragged, &context.ragged));
  RETURN_IF_ERROR(SetSplits(types.context_splits, &context.ragged));
  RETURN_IF_ERROR(FinishSpec(context, types.context_shapes, defaults));
  RETURN_IF_ERROR(AddFeatures("feature_list_sparse", keys.sparse, types.sparse, &spec.sparse));
  RETURN_IF_ERROR(AddFeatures("feature_list_dense", keys.dense, types.dense, &spec.dense));
  RETURN_IF_ERROR(AddFeatures("feature_list_ragged", keys.ragged, types.ragged, &spec.ragged));
  RETURN_IF_ERROR(FinishLists(types, &spec));
  return spec;
}

Error Parse(KernelContext& ctx, const SequenceSpec& spec, const ExampleBatch& batch,
            bool with_lengths) {
  auto context = ParseExamples(ctx.services(), spec.context, batch);
  if (!context) return Annotate("context", context.takeError());
  ASSIGN_OR_RETURN(std::vector<Tensor> lists, SequenceParser(ctx, spec, batch).Run());
  if (batch.single) {
    // For a single example, ParseSequenceExampleV2 returns the row splits of the context as a
    // scalar.
    for (size_t i = context->size() - spec.context.ragged.size(); i < context->size(); ++i) {
      ASSIGN_OR_RETURN(Tensor zero, Tensor::Allocate((*context)[i].dtype(), {}));
      std::fill_n(static_cast<char*>(zero.raw()), zero.byte_size(), 0);
      (*context)[i] = std::move(zero);
    }
  }
  if (!with_lengths) {
    size_t at = 3 * spec.sparse.size() + spec.dense.size();
    lists.erase(lists.begin() + at, lists.begin() + at + spec.dense.size());
  }
  std::vector<Tensor>& all = *context;
  all.insert(all.end(), lists.begin(), lists.end());
  if (static_cast<int>(all.size()) != ctx.num_outputs())
    return MakeError("the node has {0} outputs, but its features give {1}", ctx.num_outputs(),
                     all.size());
  for (size_t i = 0; i < all.size(); ++i) ctx.SetOutput(static_cast<int>(i), std::move(all[i]));
  return Error::success();
}

std::vector<std::string> StringsIn(const KernelContext& ctx, int i) {
  const std::string* begin = ctx.input(i).data<std::string>();
  return {begin, begin + ctx.input(i).num_elements()};
}
llvm::ArrayRef<std::string> BytesIn(const KernelContext& ctx, int i) {
  return {ctx.input(i).data<std::string>(), static_cast<size_t>(ctx.input(i).num_elements())};
}
std::vector<Tensor> Inputs(const KernelContext& ctx, int begin, int end) {
  std::vector<Tensor> inputs;
  for (int i = begin; i < end; ++i) inputs.push_back(ctx.input(i));
  return inputs;
}

void MarkAbsent(llvm::ArrayRef<std::string> keys, SequenceSpec* spec) {
  for (ListSpec& list : spec->dense) list.may_be_absent = llvm::is_contained(keys, list.key);
}

// The keys are attributes of the node.
Expected<KernelFn> MakeParseSequenceExample(const KernelSetup& setup) {
  const Node& node = setup.node();
  Keys keys{StringsAttr(node, "context_sparse_keys"),
            StringsAttr(node, "context_dense_keys"),
            {},
            StringsAttr(node, "feature_list_sparse_keys"),
            StringsAttr(node, "feature_list_dense_keys"),
            {}};
  const std::pair<const char*, size_t> counts[] = {{"Ncontext_sparse", keys.context_sparse.size()},
                                                   {"Ncontext_dense", keys.context_dense.size()},
                                                   {"Nfeature_list_sparse", keys.sparse.size()},
                                                   {"Nfeature_list_dense", keys.dense.size()}};
  for (auto [name, count] : counts) {
    if (int64_t said = node.GetInt(name, 0); said != static_cast<int64_t>(count))
      return MakeError("{0} is {1}, but there are {2} keys", name, said, count);
  }
  std::vector<std::string> absent = StringsAttr(node, "feature_list_dense_missing_assumed_empty");
  return KernelFn([types = TypesOf(node), keys, absent](KernelContext& ctx) -> Error {
    if (ctx.input(0).rank() != 1)
      return MakeError("serialized must be a vector, got shape {0}", DimsText(ctx.input(0).dims()));
    ASSIGN_OR_RETURN(SequenceSpec spec, MakeSpec(types, keys, Inputs(ctx, 2, ctx.num_inputs())));
    MarkAbsent(absent, &spec);
    return Parse(ctx, spec, {BytesIn(ctx, 0), BytesIn(ctx, 1), false}, true);
  });
}

// The keys are vectors; a scalar input is one example without a batch dimension.
Expected<KernelFn> MakeParseSequenceExampleV2(const KernelSetup& setup) {
  return KernelFn([types = TypesOf(setup.node())](KernelContext& ctx) -> Error {
    if (ctx.input(0).rank() > 1)
      return MakeError("serialized must be a scalar or a vector, got shape {0}",
                       DimsText(ctx.input(0).dims()));
    Keys keys{StringsIn(ctx, 2), StringsIn(ctx, 3), StringsIn(ctx, 4),
              StringsIn(ctx, 5), StringsIn(ctx, 6), StringsIn(ctx, 7)};
    ASSIGN_OR_RETURN(SequenceSpec spec, MakeSpec(types, keys, Inputs(ctx, 9, ctx.num_inputs())));
    if (ctx.input(8).num_elements() != static_cast<int64_t>(spec.dense.size()))
      return MakeError(
          "feature_list_dense_missing_assumed_empty has {0} values, but there are {1} dense "
          "feature lists",
          ctx.input(8).num_elements(), spec.dense.size());
    for (size_t i = 0; i < spec.dense.size(); ++i)
      spec.dense[i].may_be_absent = ctx.input(8).data<bool>()[i];
    return Parse(ctx, spec, {BytesIn(ctx, 0), BytesIn(ctx, 1), ctx.input(0).rank() == 0}, true);
  });
}

// The keys are scalars, one input each. There are no lengths, because a single example has no
// padding.
Expected<KernelFn> MakeParseSingleSequenceExample(const KernelSetup& setup) {
  Types types = TypesOf(setup.node());
  int counts[] = {static_cast<int>(types.context_sparse.size()),
                  static_cast<int>(types.context_dense.size()),
                  static_cast<int>(types.sparse.size()), static_cast<int>(types.dense.size())};
  int defaults = 2 + counts[0] + counts[1] + counts[2] + counts[3];
  if (setup.num_inputs() != defaults + counts[1] + 1)
    return MakeError("the node has {0} inputs, but its features need {1}", setup.num_inputs(),
                     defaults + counts[1] + 1);
  return KernelFn([types, defaults](KernelContext& ctx) -> Error {
    if (ctx.input(0).rank() != 0)
      return MakeError("serialized must be a scalar, got shape {0}", DimsText(ctx.input(0).dims()));
    int at = 2;
    auto read = [&](size_t count) {
      std::vector<std::string> keys;
      for (size_t i = 0; i < count; ++i, ++at) {
        for (std::string& key : StringsIn(ctx, at)) keys.push_back(std::move(key));
      }
      return keys;
    };
    Keys keys;
    keys.context_sparse = read(types.context_sparse.size());
    keys.context_dense = read(types.context_dense.size());
    keys.sparse = read(types.sparse.size());
    keys.dense = read(types.dense.size());
    ASSIGN_OR_RETURN(SequenceSpec spec,
                     MakeSpec(types, keys, Inputs(ctx, defaults, ctx.num_inputs() - 1)));
    MarkAbsent(BytesIn(ctx, 1), &spec);
    return Parse(ctx, spec, {BytesIn(ctx, 0), BytesIn(ctx, ctx.num_inputs() - 1), true}, false);
  });
}

GRAPNEL_CPU_KERNEL("ParseSequenceExample", MakeParseSequenceExample);
GRAPNEL_CPU_KERNEL("ParseSequenceExampleV2", MakeParseSequenceExampleV2);
GRAPNEL_CPU_KERNEL("ParseSingleSequenceExample", MakeParseSingleSequenceExample);

}  // namespace
}  // namespace grapnel
