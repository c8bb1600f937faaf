// Constants and attributes of a graph's text, read and printed. For lib/ir/text*.cpp.
//
//   literal    [dtype [shape]] elements [as values | as content]
//   elements   number, true, "text", [element, ...], [[...], ...], [..., ...] (cut short),
//              zeros, base64 "..." (the bytes of all), proto "..." (a TensorProto, in base64)
//   attribute  5, 0.5, true, "text", float (a dtype), [2,?] (a shape), ? (of unknown rank), [a, b]
//              (a list), @f or @f{a=1} (a function), $T (a placeholder), none
//              kind:value where the value alone would be read as another kind:
//              int: float: bool: string: type: shape: tensor: func: list(kind): attr "..."
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

// A constant as the text states it. Its dtype may follow only from the node that reads it.
struct TextLiteral {
  enum class Form { kElements, kCut, kZeros, kBase64, kProto };
  enum class Encoding { kUsual, kValues, kContent };
  struct Element {
    std::string text;  // the number or word, or the text in the quotes
    bool is_string = false;
  };

  TextPlace place;
  std::optional<DataType> type;
  std::optional<Dims> dims;  // stated before the elements, or after the node's colon
  Form form = Form::kElements;
  Encoding encoding = Encoding::kUsual;
  std::vector<Element> elements;
  Dims nesting;       // the dimensions of the nested lists
  std::string bytes;  // decoded base64 of the forms base64 and proto

  // Returns the stated dtype; without one, the dtype that fits the elements: int32, int64 if a
  // whole number needs it, float for other real numbers and for no elements, complex64, bool or
  // string.
  DataType NaturalType() const;
};

// True if the next token begins a constant and cannot begin anything else.
bool StartsLiteral(TextScanner& scanner);
bool ReadLiteral(TextScanner& scanner, TextLiteral* literal);

// Returns the literal as a TensorProto of dtype `dtype`; the form `proto` states its own dtype.
// Writes a single element, also of a splat, as one value in the repeated field of its dtype, and
// other numbers as tensor_content, as TensorFlow's Python does, unless the text says `as values` or
// `as content`.
// Errors are one line, without a position.
Expected<std::string> TensorProtoOf(const TextLiteral& literal, DataType dtype);

// A TensorProto as text, without dtype and shape.
struct LiteralPrint {
  std::string text;
  DataType dtype = proto::DT_INVALID;
  Dims dims;
  bool dims_follow = false;   // `dims` equals the nesting of the text's lists
  bool type_follows = false;  // `dtype` equals the text's NaturalType
  bool is_proto = false;      // the text is a TensorProto, with dtype and dims
};
// Prints a TensorProto. `exact`: prints all elements (more than `limit` numbers in base64), so that
// TensorProtoOf gives the same message as `tensor_proto`, up to the order of its fields. Otherwise
// prints at most `limit` elements for human readers, without `as values` or `as content`.
LiteralPrint PrintLiteral(llvm::StringRef tensor_proto, bool exact, int limit);

// Reads one attribute into a serialized AttrValue. `kind` is the attribute's type in the op's
// definition (OpAttr::type); empty if the op is unknown.
bool ReadAttr(TextScanner& scanner, llvm::StringRef kind, std::string* value);
// Returns text from which ReadAttr reads the same value.
std::string AttrText(AttrView value, llvm::StringRef kind);
// True if two serialized AttrValues have the same value, even if their bytes differ.
bool SameAttr(llvm::StringRef a, llvm::StringRef b);

// A type stated after a node's colon: "float[2,3]", "float" (unknown rank), "?[2,?]" (unknown
// dtype), "?" (nothing known).
struct TensorClaim {
  TextPlace place;
  DataType dtype = proto::DT_INVALID;  // DT_INVALID: not stated
  Shape shape;
};
bool ReadClaim(TextScanner& scanner, TensorClaim* claim);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_IR_TEXT_VALUE_H_
