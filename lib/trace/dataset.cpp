// Datasets and their functions as tensorflow/python/data/ops makes them inside a tf.function.
#include "lib/trace/dataset.h"

#include "lib/ir/wire.h"
#include "lib/trace/op_builder.h"
#include "lib/trace/ops.h"

namespace grapnel {
namespace data {
namespace {

std::string DataFunctionMark(uint32_t field) {
  std::string entry, bytes;
  AppendBytesField(&entry, 1, "_tf_data_function");
  AppendBytesField(&entry, 2, attr::Bool(true));
  AppendBytesField(&bytes, field, entry);
  return bytes;
}

// Returns an attribute that names a library function and marks it with _tf_data_function.
OpAttribute FunctionAttribute(llvm::StringRef key, llvm::StringRef name) {
  constexpr uint32_t kFunc = 10;  // of AttrValue
  std::string list, value;
  AppendBytesField(&list, 1, name);
  list += DataFunctionMark(2);
  AppendBytesField(&value, kFunc, list);
  return OpAttribute::Serialized(key, value);
}

struct DataFunction {
  bool ok = false;
  std::string name;
  Values captures;  // captured values, in the order of the function's last arguments
  std::vector<DataType> dtypes;
  std::vector<Shape> shapes;
};

// Traces a function of tf.data as a library function whose node names do not depend on the names
// outside it.
class DataFunctionMaker {
 public:
  DataFunctionMaker(const OpBuilder& make, llvm::StringRef role,
                    const std::vector<DataType>& dtypes, const std::vector<Shape>& shapes)
      : make_(make), state_(make.state()) {
    made_.name = ("__inference_" + role + "_" + llvm::Twine(state_.uid++)).str();
    body_ = state_.Enter(made_.name);
    body_->scope.clear();
    body_->placing = {};
    for (size_t i = 0; i < dtypes.size(); ++i) {
      args_.push_back(body_->AddPlaceholder(dtypes[i], shapes[i], "args_" + std::to_string(i),
                                            /*keep_name=*/true, make.where()));
    }
  }

  Values args() const {
    Values values;
    for (NodeId arg : args_) values.push_back(body_->ValueOf(arg));
    return values;
  }

  DataFunction Finish(const Values& results) {
    std::vector<NodeId> ids;
    for (const Value& result : results) {
      Value identity = Identity(result.body() ? result : Value(body_, {}), {}, make_.where());
      if (!identity.ok()) break;
      ids.push_back(identity.port().node);
    }
    made_.ok = ids.size() == results.size();
    if (made_.ok) Complete(ids);
    state_.Leave();
    return std::move(made_);
  }

 private:
  void Complete(const std::vector<NodeId>& ids) {
    AddAutomaticControls(*body_, ids);
    std::vector<Port> ports;
    for (NodeId id : ids) {
      Value result = body_->ValueOf(id);
      ports.push_back({id, 0});
      made_.dtypes.push_back(result.dtype());
      made_.shapes.push_back(result.shape());
    }
    for (const TraceBody::Captured& captured : body_->captures) {
      args_.push_back(captured.placeholder);
      made_.captures.push_back(captured.outer);
    }
    FinishFunction(*body_, args_, ports);
    constexpr uint32_t kAttr = 5;  // of FunctionDef
    Function& function = *body_->function;
    function.source =
        state_.module->Keep(llvm::StringRef(function.source).str() + DataFunctionMark(kAttr));
  }

  const OpBuilder& make_;
  TraceState& state_;
  TraceBody* body_;
  std::vector<NodeId> args_;
  DataFunction made_;
};

// Returns a text such as "(float, int32)".
std::string Describe(const std::vector<DataType>& dtypes) {
  std::string text = "(";
  for (DataType dtype : dtypes) text += (text.size() == 1 ? "" : ", ") + DataTypeName(dtype).str();
  return text + ")";
}

std::vector<OpAttribute> ElementAttributes(const std::vector<DataType>& dtypes,
                                           const std::vector<Shape>& shapes) {
  return {{"output_types", dtypes}, {"output_shapes", shapes}};
}

void Describe(const Values& tensors, size_t first_dim, std::vector<DataType>* dtypes,
              std::vector<Shape>* shapes) {
  for (const Value& tensor : tensors) {
    dtypes->push_back(tensor.dtype());
    Shape shape = tensor.shape();
    if (first_dim == 1 && shape.known_rank() && shape.rank() > 0)
      shape = Shape(llvm::ArrayRef<int64_t>(shape.dims()).drop_front());
    shapes->push_back(shape);
  }
}

}  // namespace

Dataset Dataset::Range(Tracer& t, const Operand& stop, SourceLocation where) {
  return Range(t, Operand(0, where), stop, Operand(1, where), where);
}

Dataset Dataset::Range(Tracer& t, const Operand& start, const Operand& stop, const Operand& step,
                       SourceLocation where) {
  OpBuilder make(t, where);
  Value from = make.Convert(start, proto::DT_INT64, "start");
  Value to = make.Convert(stop, proto::DT_INT64, "stop");
  Value by = make.Convert(step, proto::DT_INT64, "step");
  std::vector<DataType> dtypes = {proto::DT_INT64};
  std::vector<Shape> shapes = {Shape::Scalar()};
  return Dataset(make.Op("RangeDataset", {from, to, by}, ElementAttributes(dtypes, shapes)), dtypes,
                 shapes);
}

Dataset Dataset::FromTensorSlices(Tracer& t, const Values& tensors, SourceLocation where) {
  OpBuilder make(t, where);
  std::vector<DataType> dtypes;
  std::vector<Shape> shapes;
  Describe(tensors, 1, &dtypes, &shapes);
  for (const Value& tensor : tensors) {
    if (tensor.ok() && tensor.shape().known_rank() && tensor.shape().rank() == 0)
      return Dataset(make.Fail("from_tensor_slices: '" + tensor.name() +
                               "' is a scalar and has no "
                               "rows"),
                     dtypes, shapes);
  }
  Value variant = make.Op("TensorSliceDataset", Operand(tensors, where),
                          {{"output_shapes", shapes}, {"is_files", false}});
  return Dataset(variant, dtypes, shapes);
}

Dataset Dataset::FromTensors(Tracer& t, const Values& tensors, SourceLocation where) {
  OpBuilder make(t, where);
  std::vector<DataType> dtypes;
  std::vector<Shape> shapes;
  Describe(tensors, 0, &dtypes, &shapes);
  Value variant = make.Op("TensorDataset", Operand(tensors, where), {{"output_shapes", shapes}});
  return Dataset(variant, dtypes, shapes);
}

Dataset Dataset::Zip(const std::vector<Dataset>& datasets, SourceLocation where) {
  Values variants;
  std::vector<DataType> dtypes;
  std::vector<Shape> shapes;
  for (const Dataset& dataset : datasets) {
    variants.push_back(dataset.variant_);
    llvm::append_range(dtypes, dataset.dtypes_);
    llvm::append_range(shapes, dataset.shapes_);
  }
  OpBuilder make(variants, where);
  Value variant =
      make.Op("ZipDataset", Operand(variants, where), ElementAttributes(dtypes, shapes));
  return Dataset(variant, dtypes, shapes);
}

Dataset Dataset::Apply(llvm::StringRef op, llvm::ArrayRef<Operand> more,
                       const SourceLocation& where, std::vector<OpAttribute> attributes) const {
  OpBuilder make(variant_, where);
  std::vector<Operand> inputs = {Operand(variant_, where)};
  llvm::append_range(inputs, more);
  llvm::append_range(attributes, ElementAttributes(dtypes_, shapes_));
  return Dataset(make.Op(op, inputs, attributes), dtypes_, shapes_);
}

Dataset Dataset::Map(ElementFn fn, SourceLocation where) const {
  OpBuilder make(variant_, where);
  if (!variant_.ok()) return *this;
  DataFunctionMaker function(make, "Dataset_map_lambda", dtypes_, shapes_);
  DataFunction mapped = function.Finish(fn(function.args()));
  if (!mapped.ok) return Dataset(Value(variant_.body(), {}), dtypes_, shapes_);
  Dataset result(*this);
  result.dtypes_ = mapped.dtypes;
  result.shapes_ = mapped.shapes;
  return result.Apply("MapDataset", Operand(mapped.captures, where), where,
                      {FunctionAttribute("f", mapped.name), {"preserve_cardinality", true}});
}

Dataset Dataset::Filter(ElementFn predicate, SourceLocation where) const {
  OpBuilder make(variant_, where);
  if (!variant_.ok()) return *this;
  DataFunctionMaker maker(make, "Dataset_filter_lambda", dtypes_, shapes_);
  DataFunction function = maker.Finish(predicate(maker.args()));
  Dataset failed(Value(variant_.body(), {}), dtypes_, shapes_);
  if (!function.ok) return failed;
  bool is_scalar = function.shapes.size() == 1 &&
                   (!function.shapes[0].known_rank() || function.shapes[0].rank() == 0);
  if (!is_scalar || function.dtypes[0] != proto::DT_BOOL) {
    make.Fail("filter: the function must return one bool scalar, but it returns " +
              Describe(function.dtypes) + " instead");
    return failed;
  }
  return Apply("FilterDataset", Operand(function.captures, where), where,
               {FunctionAttribute("predicate", function.name)});
}

Dataset Dataset::OfDatasets(llvm::StringRef op, llvm::StringRef role, DatasetFn fn,
                            llvm::ArrayRef<Operand> more, const SourceLocation& where) const {
  OpBuilder make(variant_, where);
  if (!variant_.ok()) return *this;
  DataFunctionMaker maker(make, role, dtypes_, shapes_);
  Dataset inner = fn(maker.args());
  DataFunction function = maker.Finish({inner.variant_});
  if (!function.ok) return Dataset(Value(variant_.body(), {}), dtypes_, shapes_);
  Dataset result(*this);
  result.dtypes_ = inner.dtypes_;
  result.shapes_ = inner.shapes_;
  std::vector<Operand> inputs = {Operand(function.captures, where)};
  // Adds the constants among the op's inputs only now, after the function has been traced.
  const char* names[] = {"cycle_length", "block_length"};
  for (size_t i = 0; i < more.size(); ++i)
    inputs.emplace_back(make.Convert(more[i], proto::DT_INT64, names[i]), where);
  return result.Apply(op, inputs, where, {FunctionAttribute("f", function.name)});
}

Dataset Dataset::FlatMap(DatasetFn fn, SourceLocation where) const {
  return OfDatasets("FlatMapDataset", "Dataset_flat_map_lambda", fn, {}, where);
}

Dataset Dataset::Interleave(DatasetFn fn, const Operand& cycle_length, const Operand& block_length,
                            SourceLocation where) const {
  return OfDatasets("InterleaveDataset", "Dataset_interleave_lambda", fn,
                    {cycle_length, block_length}, where);
}

Dataset Dataset::Batch(const Operand& size, bool drop_remainder, SourceLocation where) const {
  OpBuilder make(variant_, where);
  Value batch = make.Convert(size, proto::DT_INT64, "batch_size");
  Value drop = make.Constant(Literal::Scalar(proto::DT_BOOL, drop_remainder), "drop_remainder");
  bool is_known = drop_remainder && size.kind == Operand::kNumbers;
  Dataset batched(*this);
  for (Shape& shape : batched.shapes_) {
    if (!shape.known_rank()) continue;
    std::vector<int64_t> dims = {is_known ? size.literal.AsInt(0) : kUnknownDim};
    llvm::append_range(dims, shape.dims());
    shape = Shape(llvm::ArrayRef<int64_t>(dims));
  }
  return batched.Apply("BatchDatasetV2", {batch, drop}, where, {{"parallel_copy", false}});
}

Dataset Dataset::Shuffle(const Operand& buffer, const std::optional<int64_t>& seed,
                         SourceLocation where) const {
  OpBuilder make(variant_, where);
  if (!variant_.ok()) return *this;
  Value size = make.Convert(buffer, proto::DT_INT64, "buffer_size");
  auto number = [&](int64_t value, llvm::StringRef name) {
    return make.Constant(Literal::Integers(proto::DT_INT64, {}, {value}), name);
  };
  Value first = number(seed ? kGraphSeed : 0, "seed"), second;
  if (!seed) {
    second = number(0, "seed2");
  } else {
    // TensorFlow uses no seed if seed and seed2 are both 0, so these nodes then replace seed2 by
    // INT32_MAX.
    auto scope = make.Scope("seed2");
    Value own = number(*seed, "Const");
    Value no_first = make.Op("Equal", {first, 0});
    Value no_second = make.Op("Equal", {own, 0});
    Value none = make.Op("LogicalAnd", {no_first, no_second});
    Value instead = number(INT32_MAX, "Const");
    second = make.Exact("SelectV2", {none, instead, own});
  }
  Value generator = make.Op("DummySeedGenerator", llvm::ArrayRef<Operand>());
  return Apply("ShuffleDatasetV3", {size, first, second, generator}, where,
               {{"reshuffle_each_iteration", true}});
}

Dataset Dataset::Counted(llvm::StringRef op, const Operand& count,
                         const SourceLocation& where) const {
  OpBuilder make(variant_, where);
  return Apply(op, Operand(make.Convert(count, proto::DT_INT64, "count"), where), where);
}

Dataset Dataset::Repeat(const Operand& count, SourceLocation where) const {
  return Counted("RepeatDataset", count, where);
}
Dataset Dataset::Take(const Operand& count, SourceLocation where) const {
  return Counted("TakeDataset", count, where);
}
Dataset Dataset::Skip(const Operand& count, SourceLocation where) const {
  return Counted("SkipDataset", count, where);
}

Dataset Dataset::Prefetch(const Operand& buffer, SourceLocation where) const {
  OpBuilder make(variant_, where);
  if (!variant_.ok()) return *this;
  Value size = make.Convert(buffer, proto::DT_INT64, "buffer_size");
  // TensorFlow colocates the op with its input dataset.
  TraceBody& body = make.body();
  std::string before = body.colocated_with;
  if (variant_.body() == &body && !body.is_eager)
    body.colocated_with = body.graph->node(variant_.port().node).name().str();
  Dataset result =
      Apply("PrefetchDataset", Operand(size, where), where, {{"legacy_autotune", false}});
  body.colocated_with = before;
  return result;
}

Dataset Dataset::Concatenate(const Dataset& other, SourceLocation where) const {
  OpBuilder make(variant_, where);
  Dataset failed(Value(variant_.body(), {}), dtypes_, shapes_);
  if (!variant_.ok() || !other.variant_.ok()) return failed;
  if (dtypes_ != other.dtypes_) {
    make.Fail("concatenate: both datasets must have the same dtypes, but the elements are " +
              Describe(dtypes_) + " and " + Describe(other.dtypes_));
    return failed;
  }
  Dataset both(*this);
  for (size_t i = 0; i < shapes_.size(); ++i) {
    if (shapes_[i] == other.shapes_[i]) continue;
    bool alike = shapes_[i].known_rank() && other.shapes_[i].known_rank() &&
                 shapes_[i].rank() == other.shapes_[i].rank();
    if (!alike) both.shapes_[i] = Shape::Unknown();
    for (int d = 0; alike && d < shapes_[i].rank(); ++d) {
      if (shapes_[i].dim(d) != other.shapes_[i].dim(d)) both.shapes_[i].set_dim(d, kUnknownDim);
    }
  }
  return both.Apply("ConcatenateDataset", Operand(other.variant_, where), where);
}

Values Dataset::Reduce(const Values& initial, ReduceFn fn, SourceLocation where) const {
  OpBuilder make(variant_, where);
  Values failed(initial.size(), Value(variant_.body(), {}));
  if (!variant_.ok() || !llvm::all_of(initial, [](const Value& v) { return v.ok(); }))
    return failed;
  std::vector<DataType> state_types, types;
  std::vector<Shape> state_shapes, shapes;
  Describe(initial, 0, &state_types, &state_shapes);
  types = state_types;
  shapes = state_shapes;
  llvm::append_range(types, dtypes_);
  llvm::append_range(shapes, shapes_);
  DataFunctionMaker maker(make, "reduce_lambda", types, shapes);
  Values args = maker.args();
  Values state(args.begin(), args.begin() + initial.size());
  DataFunction function =
      maker.Finish(fn(state, Values(args.begin() + initial.size(), args.end())));
  if (!function.ok) return failed;
  if (function.dtypes != state_types) {
    make.Fail("reduce: the function must return the dtypes of the state, " + Describe(state_types) +
              ", but it returns " + Describe(function.dtypes));
    return failed;
  }
  std::vector<OpAttribute> attributes = ElementAttributes(state_types, function.shapes);
  attributes.push_back(FunctionAttribute("f", function.name));
  Operation op =
      make.Op("ReduceDataset",
              {variant_, Operand(initial, where), Operand(function.captures, where)}, attributes);
  for (size_t i = 0; i < failed.size(); ++i) failed[i] = op.output(static_cast<int>(i));
  return failed;
}

Values Dataset::GetSingleElement(SourceLocation where) const {
  OpBuilder make(variant_, where);
  Operation op = make.Op("DatasetToSingleElement", variant_, ElementAttributes(dtypes_, shapes_));
  Values values;
  for (size_t i = 0; i < dtypes_.size(); ++i) values.push_back(op.output(static_cast<int>(i)));
  return values;
}

}  // namespace data
}  // namespace grapnel
