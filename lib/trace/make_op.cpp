// Makes a node from the user's description of an op: makes its constants, infers attributes from
// its inputs, and checks dtypes. Follows TensorFlow's op_def_library, but uses grapnel's op table
// instead of TensorFlow's registry.

#include "lib/ir/node_types.h"
#include "lib/support/suggest.h"
#include "lib/trace/body.h"
#include "lib/trace/eager_runner.h"
#include "lib/trace/traced_variables.h"
#include "llvm/ADT/StringExtras.h"

namespace grapnel {
namespace {

// True if `dtype` can represent `number`.
bool Holds(DataType dtype, int64_t number) {
  unsigned bits = 8 * DataTypeSize(dtype);
  switch (dtype) {
    case proto::DT_UINT8:
    case proto::DT_UINT16:
    case proto::DT_UINT32:
      return number >= 0 && number < int64_t{1} << bits;
    case proto::DT_UINT64:
      return number >= 0;
    case proto::DT_INT8:
    case proto::DT_INT16:
    case proto::DT_INT32:
      return number >= -(int64_t{1} << (bits - 1)) && number < int64_t{1} << (bits - 1);
    default:
      return dtype == proto::DT_INT64;
  }
}

// A short list of texts by key, sorted by key. It does not own the keys.
class AttrList {
 public:
  using Entry = std::pair<llvm::StringRef, std::string>;
  Entry* find(llvm::StringRef key) {
    return llvm::find_if(entries_, [&](const Entry& entry) { return entry.first == key; });
  }
  const Entry* find(llvm::StringRef key) const { return const_cast<AttrList*>(this)->find(key); }
  const Entry* begin() const { return entries_.begin(); }
  const Entry* end() const { return entries_.end(); }
  std::pair<Entry*, bool> try_emplace(llvm::StringRef key, const std::string& value) {
    if (Entry* at = find(key); at != entries_.end()) return {at, false};
    return {entries_.insert(Place(key), Entry(key, value)), true};
  }
  std::string& operator[](llvm::StringRef key) { return try_emplace(key, "").first->second; }

 private:
  Entry* Place(llvm::StringRef key) {
    return llvm::partition_point(entries_, [&](const Entry& entry) { return entry.first < key; });
  }
  llvm::SmallVector<Entry, 8> entries_;
};

class OpMaker {
 public:
  OpMaker(TraceState& state, const OpRequest& request, const SourceLocation& where)
      : state_(state), body_(*state.current), request_(request), where_(where) {}

  Operation Run() {
    if (!CheckOperands()) return {};
    info_ = Definition();
    if (!info_) return {};
    if (request_.inputs.size() != info_->inputs.size()) {
      Fail("takes {0} inputs, {1} were given", info_->inputs.size(), request_.inputs.size());
      return {};
    }
    llvm::StringRef scope = request_.exact          ? llvm::StringRef()
                            : request_.name.empty() ? request_.op
                                                    : request_.name;
    ScopeGuard guard(&body_, scope);
    for (const Operand& operand : request_.inputs) NamePendingReads(state_, operand.values, where_);
    TakeAttributes();
    for (size_t i = 0; i < info_->inputs.size(); ++i)
      InferFromValues(info_->inputs[i], request_.inputs[i]);
    for (size_t i = 0; i < info_->inputs.size() && ok_; ++i)
      BindInput(info_->inputs[i], request_.inputs[i]);
    if (ok_) CompleteAttributes();
    if (!ok_) return Operation();
    Operation made = Make(guard.path());
    body_.SetCallScope(made.node(), request_.own_scope ? guard.path() : guard.before());
    return made;
  }

 private:
  template <typename... Args>
  void Fail(const char* format, Args&&... args) {
    ok_ = false;
    state_.Report(where_, ("op '" + request_.op +
                           "': " + llvm::formatv(format, std::forward<Args>(args)...).str())
                              .str());
  }

  // Returns false if an input is not usable here. An input that is not ok() was reported when it
  // was made; Values that were never made, or belong to another Tracer or an inner function, are
  // reported here.
  bool CheckOperands() {
    for (size_t i = 0; i < request_.inputs.size(); ++i) {
      for (const Value& value : request_.inputs[i].values) {
        if (!value.body() && state_.errors.empty())
          Fail("input {0} is a Value that was never made", i);
        if (!value.ok()) return false;
        if (std::string foreign = ForeignText(value, state_); !foreign.empty()) {
          Fail("input {0}{1}", i, foreign);
          return false;
        }
        if (!body_.IsInside(value.body())) {
          Fail(
              "input {0} ('{1}') belongs to function '{2}' and is not visible here: return it from "
              "the function",
              i, value.name(), value.body()->function->name());
          return false;
        }
      }
    }
    return true;
  }

  const OpInfo* Definition() {
    if (const Function* function = state_.module->FindFunction(request_.op)) return &function->info;
    const OpInfo* info = FindOp(request_.op);
    if (!info) {
      Fail("TensorFlow 2.21 has no such op{0}", DidYouMean(request_.op, AllOpNames()));
    } else if (info->deprecated_since != 0 && info->deprecated_since <= state_.producer) {
      Fail("TensorFlow does not support this op since GraphDef version {0}",
           info->deprecated_since);
      return nullptr;
    }
    return info;
  }

  // Takes over the user's attributes; an attribute of another type than the op declares is an
  // error, as is one that the op does not declare, unless its name starts with '_'.
  void TakeAttributes() {
    for (const OpAttribute& given : request_.attributes) {
      const OpAttr* attr = info_->FindAttr(given.key);
      llvm::StringRef key = given.key;
      std::string value = given.value;
      if (!attr && key.front() != '_') {
        Fail("has no attribute '{0}'", key);
        continue;
      }
      auto number = AttrView(value).AsInt();
      if (attr && attr->type == "float" && number) value = attr::Float(static_cast<float>(*number));
      // The type of a list is not checked here: an empty list has no element type.
      bool list = attr && llvm::StringRef(attr->type).take_front(5) == "list(";
      if (attr && !list && !KindFits(attr->type, AttrView(value).kind())) {
        Fail("attribute '{0}' is {1}, a value of type {2} was expected", key,
             AttrView(value).ToString(), attr->type);
      }
      attrs_[given.key] = value;
    }
  }

  static bool KindFits(llvm::StringRef type, AttrKind kind) {
    switch (kind) {
      case AttrKind::kString:
        return type == "string";
      case AttrKind::kInt:
        return type == "int";
      case AttrKind::kFloat:
        return type == "float";
      case AttrKind::kBool:
        return type == "bool";
      case AttrKind::kType:
        return type == "type";
      case AttrKind::kShape:
        return type == "shape";
      case AttrKind::kTensor:
        return type == "tensor";
      case AttrKind::kFunc:
        return type == "func";
      default:
        return false;
    }
  }

  std::optional<DataType> TypeAttr(const std::string& key) const {
    auto it = attrs_.find(key);
    return it == attrs_.end() ? std::nullopt : AttrView(it->second).AsType();
  }

  // Infers type attributes from the inputs that are Values; constants are then made in that dtype.
  void InferFromValues(const OpArg& arg, const Operand& operand) {
    if (operand.values.empty() || arg.type_attr.empty()) return;
    if (attrs_.try_emplace(arg.type_attr, attr::Type(operand.values[0].dtype())).second) {
      giver_.try_emplace(arg.type_attr, arg.name);
    }
  }

  // Returns the dtype that the argument requires; DT_INVALID if it accepts several.
  DataType Wanted(const OpArg& arg) const {
    if (arg.type_attr.empty()) return arg.type;
    if (auto type = TypeAttr(arg.type_attr)) return *type;
    const OpAttr* attr = info_->FindAttr(arg.type_attr);
    if (attr && attr->default_value)
      return AttrView(*attr->default_value).AsType().value_or(proto::DT_INVALID);
    return proto::DT_INVALID;
  }

  void BindInput(const OpArg& arg, const Operand& operand) {
    bool list = !arg.number_attr.empty() || !arg.type_list_attr.empty();
    if (list != (operand.kind == Operand::kList)) {
      return Fail(
          list ? "input '{0}' takes a list of values" : "input '{0}' takes one value, not a list",
          arg.name);
    }
    if (operand.kind == Operand::kLiteral || operand.kind == Operand::kNumbers)
      return BindConstant(arg, operand);
    llvm::SmallVector<DataType, 8> types;
    for (const Value& value : operand.values) {
      types.push_back(value.dtype());
      if (arg.type_list_attr.empty()) CheckType(arg, types.back());
      bound_.push_back(value);
    }
    if (!arg.number_attr.empty())
      SetOrCompare(arg, arg.number_attr, attr::Int(operand.values.size()));
    if (!arg.type_list_attr.empty()) SetOrCompare(arg, arg.type_list_attr, attr::Types(types));
  }

  void BindConstant(const OpArg& arg, const Operand& operand) {
    if (operand.IsRagged()) return Fail("input '{0}' has {1}", arg.name, Operand::kUnequalRows);
    DataType wanted = Wanted(arg);
    std::optional<Literal> literal = operand.literal;
    if (wanted != proto::DT_INVALID && wanted != literal->dtype()) {
      literal = operand.kind == Operand::kNumbers ? ConvertNumbers(operand.literal, wanted)
                                                  : std::nullopt;
    }
    if (!literal) {
      return Fail("input '{0}' is the {1} {2}, {3} was expected", arg.name,
                  DataTypeName(operand.literal.dtype()), operand.literal.ToString(),
                  DataTypeName(wanted));
    }
    if (!arg.type_attr.empty()) attrs_.try_emplace(arg.type_attr, attr::Type(literal->dtype()));
    bound_.push_back(MakeConstant(body_, *literal, body_.UniqueName(arg.name), where_));
  }

  void CheckType(const OpArg& arg, DataType given) {
    DataType wanted =
        arg.type_attr.empty() ? arg.type : TypeAttr(arg.type_attr).value_or(proto::DT_INVALID);
    if (given == wanted) return;
    auto giver = giver_.find(arg.type_attr);
    std::string why = giver == giver_.end() ? "" : " as input '" + giver->second + "' is";
    Fail("input '{0}' is {1}, {2} was expected{3}", arg.name, DataTypeName(given),
         DataTypeName(wanted), why);
  }

  void SetOrCompare(const OpArg& arg, const std::string& key, const std::string& value) {
    auto [it, added] = attrs_.try_emplace(key, value);
    if (!added && it->second != value) {
      Fail("input '{0}' requires attribute '{1}' to be {2}, it is {3}", arg.name, key,
           AttrView(value).ToString(), AttrView(it->second).ToString());
    }
  }

  void CompleteAttributes() {
    for (const OpAttr& attr : info_->attrs) {
      if (attr.default_value && attrs_.try_emplace(attr.name, *attr.default_value).second) continue;
      auto it = attrs_.find(attr.name);
      if (it == attrs_.end()) {
        Fail("attribute '{0}' ({1}) is required", attr.name, attr.type);
      } else {
        CheckAllowed(attr, AttrView(it->second));
      }
    }
  }

  void CheckAllowed(const OpAttr& attr, const AttrView& value) {
    llvm::SmallVector<DataType, 4> types;
    if (auto type = value.AsType()) types.push_back(*type);
    if (auto list = attr.type == "list(type)" ? value.AsTypes() : std::nullopt)
      types.assign(list->begin(), list->end());
    for (DataType type : types) {
      if (attr.allowed_types.empty() || llvm::is_contained(attr.allowed_types, type)) continue;
      std::string allowed;
      for (DataType one : attr.allowed_types)
        allowed += (allowed.empty() ? "" : ", ") + DataTypeName(one).str();
      Fail("does not support {0} for attribute {1}, only {2}", DataTypeName(type), attr.name,
           allowed);
    }
    if (attr.allowed_strings.empty() && !attr.minimum) return;
    if (auto text = value.AsString(); text && !attr.allowed_strings.empty()) {
      if (!llvm::is_contained(attr.allowed_strings, *text)) {
        Fail("attribute '{0}' is \"{1}\", one of \"{2}\" was expected", attr.name, *text,
             llvm::join(attr.allowed_strings, "\", \""));
      }
    }
    int64_t size = value.AsInt().value_or(static_cast<int64_t>(types.size()));
    bool sized = attr.type == "int" || attr.type == "list(type)";
    if (attr.minimum && sized && size < *attr.minimum) {
      Fail("attribute '{0}' is {1}, at least {2} was expected", attr.name, size, *attr.minimum);
    }
  }

  Operation Make(llvm::StringRef name) {
    llvm::SmallVector<Port, 8> ports;
    for (const Value& value : bound_) ports.push_back(body_.Capture(value, where_));
    NodeId id = body_.AddNode(request_.op, name, ports, where_);
    llvm::SmallVector<TraceBody::Attribute, 8> attrs(attrs_.begin(), attrs_.end());
    body_.SetAttrs(id, attrs);
    body_.InferShapes(id);
    return Operation(&body_, id);
  }

  TraceState& state_;
  TraceBody& body_;
  const OpRequest& request_;
  const SourceLocation where_;
  const OpInfo* info_ = nullptr;
  bool ok_ = true;
  AttrList attrs_;
  AttrList giver_;  // by type attribute: the argument that determined it
  llvm::SmallVector<Value, 8> bound_;
};

}  // namespace

std::optional<Literal> ConvertNumbers(const Literal& literal, DataType dtype) {
  DataType from = literal.dtype();
  if (from == dtype) return literal;
  if (from == proto::DT_BOOL || dtype == proto::DT_BOOL || !IsNumeric(dtype)) return std::nullopt;
  std::string bytes;
  for (int64_t i = 0; i < literal.num_elements(); ++i) {
    if (IsFloating(from)) {
      if (!IsFloating(dtype) && !IsComplex(dtype)) return std::nullopt;
      bytes += Literal::Scalar(dtype, literal.AsDouble(i)).bytes();
      continue;
    }
    int64_t number = literal.AsInt(i);
    if (IsInteger(dtype) && !Holds(dtype, number)) return std::nullopt;
    bytes += IsInteger(dtype) ? Literal::Integers(dtype, {}, {number}).bytes().str()
                              : Literal::Scalar(dtype, static_cast<double>(number)).bytes().str();
  }
  return Literal::Make(dtype, literal.dims(), bytes);
}

Value MakeConstant(TraceBody& body, const Literal& literal, llvm::StringRef name,
                   const SourceLocation& where) {
  if (body.is_eager) return body.state->eager->Constant(literal, where);
  NodeId id = body.AddNode("Const", name, {}, where);
  std::string dtype = attr::Type(literal.dtype()), value = attr::Tensor(literal.ToTensorProto());
  body.SetAttrs(id, {{"dtype", dtype}, {"value", value}});
  body.InferShapes(id);
  return body.ValueOf(id);
}

Value ToValue(TraceState& state, const Operand& operand, llvm::StringRef name) {
  if (operand.kind == Operand::kValue) return operand.values[0];
  if (operand.kind == Operand::kList) {
    state.Report(operand.where, "a list was given where one value was expected");
    return Value(state.current, {});
  }
  if (operand.IsRagged()) {
    state.Report(operand.where, llvm::formatv("'{0}' has {1}", name, Operand::kUnequalRows).str());
    return Value(state.current, {});
  }
  return MakeConstant(*state.current, operand.literal, state.current->UniqueName(name),
                      operand.where);
}

Operation MakeOp(TraceState& state, const OpRequest& request, const SourceLocation& where) {
  if (state.current->is_eager) return state.eager->Run(request, where);
  Operation made = OpMaker(state, request, where).Run();
  // This result is not ok(), but it has a body. That tells ops that take it that the error has been
  // reported.
  return made.ok() ? made : Operation(state.current, kNoNode);
}

}  // namespace grapnel
