#include "lib/diff/attribute_compare.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "lib/ir/literal.h"
#include "lib/ir/op_table.h"
#include "lib/ir/serialize.h"
#include "lib/proto/dynamic_message.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"

namespace grapnel {
namespace {

bool IsConfig(llvm::StringRef key, AttrView value) {
  return (key == "config_proto" || key == "config") && value.kind() == AttrKind::kString;
}

// Parses a ConfigProto; empty if its bytes are malformed.
std::unique_ptr<google::protobuf::Message> ConfigOf(AttrView value) {
  std::unique_ptr<google::protobuf::Message> config = proto::MakeDynamicMessage("ConfigProto");
  llvm::StringRef bytes = *value.AsString();
  if (!config->ParsePartialFromArray(bytes.data(), static_cast<int>(bytes.size()))) config->Clear();
  return config;
}

void RenameFunctions(proto::AttrValue* value, FunctionNamer namer) {
  auto rename = [&](proto::NameAttrList* func) {
    func->set_name(namer(func->name()));
    for (auto& [key, inner] : *func->mutable_attr()) RenameFunctions(&inner, namer);
  };
  if (value->has_func()) rename(value->mutable_func());
  if (value->has_list()) {
    for (auto& func : *value->mutable_list()->mutable_func()) rename(&func);
  }
}

std::optional<Literal> LiteralOf(AttrView value) {
  auto tensor = value.AsTensor();
  if (!tensor) return std::nullopt;
  auto literal = Literal::FromTensorProto(*tensor);
  if (literal) return *literal;
  llvm::consumeError(literal.takeError());
  return std::nullopt;
}

// Returns the Euclidean norm; nullopt if the elements are not numbers.
std::optional<double> NormOf(const Literal& literal) {
  if (literal.dtype() == proto::DT_STRING || DataTypeSize(literal.dtype()) == 0)
    return std::nullopt;
  double sum = 0;
  int64_t n = literal.num_elements(), stored = literal.is_splat() ? 1 : n;
  for (int64_t i = 0; i < stored; ++i) {
    double real = literal.AsDouble(i), imaginary = literal.ImaginaryPart(i);
    sum += real * real + imaginary * imaginary;
  }
  if (literal.is_splat()) sum *= static_cast<double>(n);
  return std::sqrt(sum);
}

std::string ShortNumberText(double value) {
  std::string out;
  llvm::raw_string_ostream(out) << llvm::format("%.6g", value);
  return out;
}

constexpr int64_t kShownElements = 6;

std::string LiteralText(const Literal& literal) {
  std::string text = (DataTypeName(literal.dtype()) + DimsText(literal.dims())).str();
  if (literal.num_elements() <= kShownElements || literal.is_splat())
    return text + " " + literal.ToString(kShownElements);
  if (auto norm = NormOf(literal)) return text + " norm " + ShortNumberText(*norm);
  return text + " " + literal.ToString(kShownElements);
}

// Returns the fields of `from` that differ from those of `to`, as in
// "graph_options.rewrite_options.remapping = OFF"; "the rest as before" if there are none. Walks
// the text forms of both messages.
std::string OnlyIn(const google::protobuf::Message& from, const google::protobuf::Message& to) {
  auto lines = [](const google::protobuf::Message& message) {
    std::vector<std::string> out, path;
    std::string debug = message.DebugString();
    llvm::SmallVector<llvm::StringRef> rows;
    llvm::StringRef(debug).split(rows, '\n', -1, false);
    for (llvm::StringRef row : rows) {
      row = row.trim();
      if (row.consume_back(" {")) {
        path.push_back(row.str());
      } else if (row == "}") {
        path.pop_back();
      } else {
        out.push_back(llvm::join(path, ".") + (path.empty() ? "" : ".") + row.str());
      }
    }
    return out;
  };
  std::vector<std::string> mine = lines(from), others = lines(to);
  std::set<std::string> known(others.begin(), others.end());
  std::string text;
  for (const std::string& line : mine) {
    if (!known.count(line)) text += (text.empty() ? "" : ", ") + line;
  }
  return text.empty() ? "the rest as before" : text;
}

}  // namespace

bool SaysNothing(llvm::StringRef key) {
  return key == "_class" || key == "_output_shapes" || key == "_input_shapes" ||
         key == "_has_manual_control_dependencies" || key == "shape_inferred" ||
         key == kValuesLeftOut ||  // its numbers have a meaning only within one graph
         key.substr(0, 9) == "_grappler";
}

bool IsDefault(const Node& node, llvm::StringRef key, AttrView value) {
  if (key == kSharedName && value.AsString().value_or("") == node.name()) return true;
  const OpInfo* info = FindOp(node.op());
  const OpAttr* attr = info ? info->FindAttr(key) : nullptr;
  if (!attr || !attr->default_value) return false;
  auto as_is = [](llvm::StringRef name) { return name.str(); };
  return SameAttr(key, value, AttrView(*attr->default_value), as_is);
}

std::string CanonicalAttr(llvm::StringRef key, AttrView value, FunctionNamer namer) {
  switch (value.kind()) {
    case AttrKind::kTensor:
      if (auto literal = LiteralOf(value))
        return ("tensor " + DataTypeName(literal->dtype()) + DimsText(literal->dims())).str();
      return value.bytes().str();
    case AttrKind::kString:
      return IsConfig(key, value) ? SerializeInOrder(*ConfigOf(value)) : value.AsString()->str();
    case AttrKind::kShape:
      return "shape " + value.AsShape()->ToString();
    case AttrKind::kList:
    case AttrKind::kFunc: {
      proto::AttrValue parsed;
      if (!parsed.ParsePartialFromArray(value.bytes().data(),
                                        static_cast<int>(value.bytes().size())))
        return value.bytes().str();
      RenameFunctions(&parsed, namer);
      return SerializeInOrder(parsed);
    }
    default:
      return value.ToString();
  }
}

bool SameAttr(llvm::StringRef key, AttrView a, AttrView b, FunctionNamer a_to_b) {
  if (a.kind() != b.kind()) return false;
  if (a.kind() == AttrKind::kTensor) {
    if (a.bytes() == b.bytes()) return true;
    auto value_a = LiteralOf(a), value_b = LiteralOf(b);
    return value_a && value_b && value_a->SameValue(*value_b);
  }
  if (a.kind() != AttrKind::kList && a.kind() != AttrKind::kFunc && a.bytes() == b.bytes())
    return true;
  return CanonicalAttr(key, a, a_to_b) ==
         CanonicalAttr(key, b, [](llvm::StringRef name) { return name.str(); });
}

std::string AttrText(AttrView value) {
  if (auto literal = LiteralOf(value)) return LiteralText(*literal);
  return value.ToString();
}

std::pair<std::string, std::string> AttrTexts(llvm::StringRef key, AttrView a, AttrView b) {
  if (IsConfig(key, a) && IsConfig(key, b)) {
    auto config_a = ConfigOf(a), config_b = ConfigOf(b);
    return {OnlyIn(*config_a, *config_b), OnlyIn(*config_b, *config_a)};
  }
  auto value_a = LiteralOf(a), value_b = LiteralOf(b);
  std::pair<std::string, std::string> texts = {AttrText(a), AttrText(b)};
  bool large = value_a && value_b && value_a->dtype() == value_b->dtype() &&
               value_a->dims() == value_b->dims() && value_a->num_elements() > kShownElements;
  if (!large || !NormOf(*value_a)) return texts;
  double most = 0;
  int64_t changed = 0;
  // Compares one element of two splats in place of all: they may have too many to visit.
  bool are_splats = value_a->is_splat() && value_b->is_splat();
  int64_t each = are_splats ? value_a->num_elements() : 1;
  for (int64_t i = 0; i < value_a->num_elements(); i += each) {
    int64_t in_a = value_a->is_splat() ? 0 : i, in_b = value_b->is_splat() ? 0 : i;
    double real = value_a->AsDouble(in_a) - value_b->AsDouble(in_b);
    double imaginary = value_a->ImaginaryPart(in_a) - value_b->ImaginaryPart(in_b);
    // Not `std::hypot`, whose result depends on the version of glibc.
    double apart = imaginary == 0 ? std::abs(real) : std::sqrt(real * real + imaginary * imaginary);
    if (apart != 0) changed += each;
    most = std::max(most, apart);
  }
  texts.second = "norm " + ShortNumberText(*NormOf(*value_b)) + ", " + std::to_string(changed) +
                 " of " + std::to_string(value_a->num_elements()) + " elements, by " +
                 ShortNumberText(most) + " at most";
  return texts;
}

}  // namespace grapnel
