// Constants and attributes of a graph's text, read and printed. For lib/ir/text*.cpp.
//
//   literal    [dtype [shape]] elements [as values | as content]
//   elements   number, true, "text", [element, ...], [[...], ...], [..., ...] (cut short),
//              zeros, base64 "..." (the bytes of all), proto "..." (a TensorProto, in base64)
//   attribute  5, 0.5, true, "text", float (a dtype), [2,?] (a shape), ? (of unknown rank), [a, b]
//              (a list), @f or @f{a=1} (a function), $T (a placeholder), none
//              kind:value where the kind is not what the op's definition says, or the op is not
//              known: int: float: bool: string: type: shape: tensor: func: list(kind): attr "..."
//              (an AttrValue, in base64)
#ifndef GRAPNEL_LIB_IR_TEXT_VALUE_H_
#define GRAPNEL_LIB_IR_TEXT_VALUE_H_

#include <optional>
#include <string>
#include <vector>

#include "lib/ir/attr.h"
#include "lib/ir/literal.h"
#include "lib/ir/text_scanner.h"

namespace grapnel {

// A constant as it stands in a text: its dtype may follow from elsewhere.
struct TextLiteral {
  enum class Form { kElements, kCut, kZeros, kBase64, kProto };
  enum class Encoding { kUsual, kValues, kContent };
  struct Element {
    std::string text;  // the number or word, or what was in the quotes
    bool is_string = false;
  };

  TextPlace place;
  std::optional<DataType> type;
  std::optional<Dims> dims;  // as said before the elements, or by the claim after the node
  Form form = Form::kElements;
  Encoding encoding = Encoding::kUsual;
  std::vector<Element> elements;
  Dims nesting;       // of the lists that the elements stand in
  std::string bytes;  // of base64 and proto

  // int32 or int64 for whole numbers, float for others, complex64, bool, string.
  DataType NaturalType() const;
};

// Whether what comes next can only be a literal.
bool StartsLiteral(TextScanner& scanner);
bool ReadLiteral(TextScanner& scanner, TextLiteral* literal);

// The TensorProto that the text stands for, as `dtype`. Errors are one line, without a place. A
// splat and a scalar are one value in the field of their type, other numbers tensor_content, as
// TensorFlow's Python writes them; `as values` and `as content` say otherwise.
Expected<std::string> TensorProtoOf(const TextLiteral& literal, DataType dtype);

// A TensorProto as text, without its dtype and shape.
struct LiteralPrint {
  std::string text;
  DataType dtype = proto::DT_INVALID;
  Dims dims;
  bool dims_follow = false;   // dims are those of the text's lists
  bool type_follows = false;  // dtype is the text's NaturalType
  bool is_proto = false;      // text says dtype and dims too
};
// `exact`: all elements, and what TensorProtoOf makes of the text is `tensor_proto` again. Else for
// reading: at most `limit` elements, and how they were encoded is left out.
LiteralPrint PrintLiteral(llvm::StringRef tensor_proto, bool exact, int limit);

// One attribute. `kind` is the type that the op's definition gives it (OpAttr::type), empty when it
// gives none. The value is a serialized AttrValue.
bool ReadAttr(TextScanner& scanner, llvm::StringRef kind, std::string* value);
// The text that ReadAttr turns into the same value.
std::string AttrText(AttrView value, llvm::StringRef kind);
// Whether two serialized AttrValues say the same, however they are written.
bool SameAttr(llvm::StringRef a, llvm::StringRef b);

// "float[2,3]", "float" (of unknown rank), "?[2,?]", "?".
struct TensorClaim {
  TextPlace place;
  DataType dtype = proto::DT_INVALID;  // not said
  Shape shape;
};
bool ReadClaim(TextScanner& scanner, TensorClaim* claim);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_IR_TEXT_VALUE_H_
