#include "lib/ir/attr_rules.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

extern const char grapnel_int32_attrs_begin[];
extern const char grapnel_int32_attrs_end[];

namespace grapnel {
namespace {

std::string Refused(const OpAttr& attr, llvm::StringRef is, llvm::StringRef expected) {
  return llvm::formatv("attribute '{0}' is {1}, {2} was expected", attr.name, is, expected).str();
}

std::vector<DataType> AttrTypes(AttrView value) {
  if (std::optional<DataType> type = value.AsType()) return {*type};
  return value.AsTypes().value_or(std::vector<DataType>());
}

std::string WhyNoType(const OpAttr& attr, AttrView value) {
  if (!llvm::is_contained(AttrTypes(value), proto::DT_INVALID)) return "";
  return Refused(attr, DataTypeName(proto::DT_INVALID), "a dtype");
}

std::string WhyNotAmongTypes(const OpAttr& attr, AttrView value) {
  for (DataType type : AttrTypes(value)) {
    if (attr.allowed_types.empty() || llvm::is_contained(attr.allowed_types, type)) continue;
    std::string allowed;
    for (DataType one : attr.allowed_types)
      allowed += (allowed.empty() ? "" : ", ") + DataTypeName(one).str();
    return Refused(attr, DataTypeName(type), "one of " + allowed);
  }
  return "";
}

std::string WhyNotAmongStrings(const OpAttr& attr, AttrView value) {
  std::vector<llvm::StringRef> strings;
  if (std::optional<llvm::StringRef> string = value.AsString())
    strings.push_back(*string);
  else if (auto list = value.AsStrings())
    strings = *list;
  for (llvm::StringRef string : strings) {
    if (llvm::is_contained(attr.allowed_strings, string)) continue;
    return Refused(attr, ("'" + string + "'").str(),
                   "one of '" + llvm::join(attr.allowed_strings, "', '") + "'");
  }
  return "";
}

// Returns the number of elements of a list attribute; 0 for an AttrValue without a list, since
// protobuf may serialize an empty list so. Does not count bools and tensors: no op states a minimum
// for lists of these.
int64_t LengthOf(AttrView value) {
  if (value.kind() != AttrKind::kList) return 0;
  size_t most = 0;
  auto see = [&](const auto& list) {
    if (list) most = std::max(most, list->size());
  };
  see(value.AsInts());
  see(value.AsFloats());
  see(value.AsTypes());
  see(value.AsStrings());
  see(value.AsShapes());
  return std::max(most, value.FuncNames().size());
}

std::string WhyTooSmall(const OpAttr& attr, AttrView value) {
  if (attr.type == "int") {
    int64_t is = value.AsInt().value_or(0);
    return is >= *attr.minimum
               ? ""
               : Refused(attr, std::to_string(is), "at least " + std::to_string(*attr.minimum));
  }
  int64_t length = LengthOf(value);
  return length >= *attr.minimum
             ? ""
             : llvm::formatv("attribute '{0}' lists {1}, at least {2} were expected", attr.name,
                             length, *attr.minimum)
                   .str();
}

bool IsIn32Bits(int64_t value) { return value == static_cast<int32_t>(value); }

// True if TensorFlow's kernel for the op reads the attribute into a 32-bit integer
// (lib/ir/int32_attrs.txt).
bool IsInt32(const OpInfo& info, const OpAttr& attr) {
  llvm::StringRef rest(grapnel_int32_attrs_begin,
                       grapnel_int32_attrs_end - grapnel_int32_attrs_begin);
  while (!rest.empty()) {
    auto [line, after] = rest.split('\n');
    rest = after;
    if (!line.consume_front(info.name) || !line.consume_front(" ")) continue;
    llvm::SmallVector<llvm::StringRef, 8> names;
    line.split(names, ' ');
    return llvm::is_contained(names, attr.name);
  }
  return false;
}

// Returns the reason why a number of the attribute does not fit into the 32-bit integer of
// TensorFlow's kernel; empty if each fits. Looks up whether the attribute is 32 bits wide only for
// a number that needs more, which is rare.
std::string WhyTooLarge(const OpInfo& info, const OpAttr& attr, AttrView value) {
  std::vector<int64_t> numbers;
  if (std::optional<int64_t> number = value.AsInt())
    numbers.push_back(*number);
  else if (auto list = value.AsInts())
    numbers = *list;
  for (int64_t number : numbers) {
    if (!IsIn32Bits(number) && IsInt32(info, attr))
      return Refused(attr, std::to_string(number), "a number of 32 bits");
  }
  return "";
}

bool IsOfTypes(const OpAttr& attr) { return attr.type == "type" || attr.type == "list(type)"; }

bool HasRule(const OpAttr& attr) {
  return attr.minimum || IsOfTypes(attr) || !attr.allowed_strings.empty();
}

// True for ops that only TensorFlow itself creates. Of their attributes, only the validity of
// dtypes is checked: Grappler gives _FusedConv2D dtypes that its definition does not list.
bool IsMadeByTensorFlow(const OpInfo& info) { return llvm::StringRef(info.name).starts_with("_"); }

}  // namespace

std::string WhyNotAllowed(const OpInfo& info, const OpAttr& attr, AttrView value) {
  std::string why;
  if (IsOfTypes(attr)) why = WhyNoType(attr, value);
  if (IsMadeByTensorFlow(info)) return why;
  if (why.empty() && IsOfTypes(attr)) why = WhyNotAmongTypes(attr, value);
  if (why.empty() && !attr.allowed_strings.empty()) why = WhyNotAmongStrings(attr, value);
  if (why.empty() && attr.minimum) why = WhyTooSmall(attr, value);
  return why;
}

Error CheckAllowedAttrs(const Node& node, const OpInfo& info) {
  for (const OpAttr& attr : info.attrs) {
    bool is_number = attr.type == "int" || attr.type == "list(int)";
    if (!HasRule(attr) && !is_number) continue;
    std::optional<AttrView> value = node.FindAttr(attr.name);
    if (!value || value->kind() == AttrKind::kPlaceholder) continue;
    std::string why = WhyNotAllowed(info, attr, *value);
    if (why.empty() && is_number && !IsMadeByTensorFlow(info))
      why = WhyTooLarge(info, attr, *value);
    if (!why.empty()) return MakeError("{0}", why);
  }
  return Error::success();
}

}  // namespace grapnel
