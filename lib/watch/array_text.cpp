#include "lib/watch/array_text.h"

#include "lib/watch/element_format.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

namespace grapnel {
namespace {

// Returns the number of columns that a text takes: marks and continuation bytes of UTF-8 take none.
size_t WidthOf(llvm::StringRef text) {
  return llvm::count_if(
      text, [](char c) { return c != kMarkBegin && c != kMarkEnd && (c & 0xC0) != 0x80; });
}

// Lays out an array like numpy.core.arrayprint._formatArray: rows in lines of limited width, with
// the middle of long dimensions omitted.
class TextLayout {
 public:
  TextLayout(const Tensor& tensor, const ArrayTextOptions& options, MarkElement mark,
             const char* separator = ",")
      : separator_(separator),
        tensor_(tensor),
        options_(options),
        mark_(mark),
        is_cut_(tensor.num_elements() > options.threshold),
        format_(MakeElementFormat(tensor, Shown(), options.precision)) {}

  std::string Text(llvm::StringRef prefix, int suffix) {
    if (tensor_.num_elements() == 0) return "[]";
    return Of(0, 0, std::string(prefix.size() + 1, ' '), options_.line_width - suffix);
  }
  bool is_cut() const { return is_cut_; }

 private:
  bool CutsAt(int axis) const { return is_cut_ && 2 * options_.edge_items < tensor_.dim(axis); }

  // Returns the positions to print along an axis; -1 stands for the omitted ones.
  std::vector<int64_t> Places(int axis) const {
    std::vector<int64_t> places;
    int64_t size = tensor_.dim(axis);
    if (!CutsAt(axis)) {
      for (int64_t i = 0; i < size; ++i) places.push_back(i);
      return places;
    }
    for (int64_t i = 0; i < options_.edge_items; ++i) places.push_back(i);
    places.push_back(-1);
    for (int64_t i = size - options_.edge_items; i < size; ++i) places.push_back(i);
    return places;
  }

  // Returns the flat positions of the printed elements. Omitted elements have no influence on the
  // width of columns.
  std::vector<int64_t> Shown() const {
    std::vector<int64_t> shown = {0};
    if (tensor_.num_elements() == 0) return {};
    for (int axis = 0; axis < tensor_.rank(); ++axis) {
      std::vector<int64_t> next, places = Places(axis);
      for (int64_t before : shown) {
        for (int64_t place : places) {
          if (place >= 0) next.push_back(before * tensor_.dim(axis) + place);
        }
      }
      shown = std::move(next);
    }
    return shown;
  }

  std::string Element(int64_t flat) const {
    std::string text = format_->Text(flat);
    if (!mark_ || !mark_(flat)) return text;
    return kMarkBegin + text + kMarkEnd;
  }

  std::string Of(int axis, int64_t before, const std::string& indent, int width) const {
    if (axis == tensor_.rank()) return Element(before);
    std::string text = axis + 1 == tensor_.rank() ? Row(axis, before, indent, width)
                                                  : Rows(axis, before, indent, width);
    return "[" + text.substr(indent.size()) + "]";
  }

  std::string Row(int axis, int64_t before, const std::string& indent, int width) const {
    std::string text, line = indent;
    std::vector<int64_t> places = Places(axis);
    for (size_t i = 0; i < places.size(); ++i) {
      std::string word = places[i] < 0 ? "..." : Element(before * tensor_.dim(axis) + places[i]);
      bool wraps = static_cast<int>(WidthOf(line) + WidthOf(word)) > width - 1;
      if (wraps && line.size() > indent.size()) {
        text += llvm::StringRef(line).rtrim().str() + "\n";
        line = indent;
      }
      line += word;
      if (i + 1 < places.size()) line += separator_ + std::string(" ");
    }
    return text + line;
  }

  std::string Rows(int axis, int64_t before, const std::string& indent, int width) const {
    std::string text;
    std::string separator = separator_ + std::string(tensor_.rank() - axis - 1, '\n');
    std::vector<int64_t> places = Places(axis);
    for (size_t i = 0; i < places.size(); ++i) {
      int64_t flat = before * tensor_.dim(axis) + places[i];
      text += indent;
      text += places[i] < 0 ? "..." : Of(axis + 1, flat, indent + " ", width - 1);
      if (i + 1 < places.size()) text += separator;
    }
    return text;
  }

  const char* separator_;
  const Tensor& tensor_;
  const ArrayTextOptions& options_;
  MarkElement mark_;
  const bool is_cut_;
  std::unique_ptr<ElementFormat> format_;
};

bool IsImplied(DataType dtype) {
  return dtype == proto::DT_DOUBLE || dtype == proto::DT_INT64 || dtype == proto::DT_BOOL ||
         dtype == proto::DT_COMPLEX128;
}

std::string ObjectsText(const Tensor& tensor, const ArrayTextOptions& options) {
  const ObjectRef* objects = tensor.data<ObjectRef>();
  int64_t size = tensor.num_elements(), shown = std::min(size, options.threshold);
  std::string text;
  for (int64_t i = 0; i < shown; ++i) {
    if (i > 0) text += "\n";
    if (tensor.rank() > 0) text += "[" + std::to_string(i) + "] ";
    text += objects[i] ? "<" + objects[i]->ToString() + ">" : std::string("<nothing>");
  }
  if (shown < size) text += "\n... " + std::to_string(size - shown) + " more";
  return text.empty() ? "<none>" : text;
}

}  // namespace

std::string NumPyTypeName(DataType dtype) {
  switch (dtype) {
    case proto::DT_FLOAT:
      return "float32";
    case proto::DT_DOUBLE:
      return "float64";
    case proto::DT_HALF:
      return "float16";
    case proto::DT_STRING:
      return "object";
    default:
      return DataTypeName(dtype).str();
  }
}

std::string NumPyShapeText(llvm::ArrayRef<int64_t> dims) {
  std::string text = "(";
  for (size_t i = 0; i < dims.size(); ++i) text += (i ? ", " : "") + std::to_string(dims[i]);
  return text + (dims.size() == 1 ? ",)" : ")");
}

std::string ArrayText(const Tensor& tensor, const ArrayTextOptions& options, MarkElement mark) {
  if (tensor.HoldsObjects()) return ObjectsText(tensor, options);
  bool skips_type = IsImplied(tensor.dtype()) && tensor.num_elements() > 0;
  const std::string prefix = "array(";
  TextLayout layout(tensor, options, mark);
  std::string text = layout.Text(prefix, /*suffix=*/1);
  std::vector<std::string> extras;
  bool is_flat_empty = tensor.rank() == 1 && tensor.dim(0) == 0;
  if (layout.is_cut() || (tensor.num_elements() == 0 && !is_flat_empty))
    extras.push_back("shape=" + NumPyShapeText(tensor.dims()));
  if (!skips_type) extras.push_back("dtype=" + NumPyTypeName(tensor.dtype()));
  text = prefix + text;
  if (extras.empty()) return text + ")";
  text += ",";
  std::string tail = llvm::join(extras, ", ") + ")";
  size_t last_line = WidthOf(llvm::StringRef(text).substr(text.rfind('\n') + 1));
  bool wraps = static_cast<int>(last_line + tail.size() + 1) > options.line_width;
  return text + (wraps ? "\n" + std::string(prefix.size(), ' ') : " ") + tail;
}

std::string ArrayString(const Tensor& tensor, const ArrayTextOptions& options) {
  if (tensor.HoldsObjects()) return ObjectsText(tensor, options);
  if (tensor.rank() == 0) {
    // NumPy prints a scalar as "0.0" or "1e-05", but an element of an array as "0." or "1.e-05".
    std::string text = ElementText(tensor, 0);
    if (!IsFloating(tensor.dtype())) return text;
    size_t at = text.find(".e");
    if (at != std::string::npos) text.erase(at, 1);
    return text.back() == '.' ? text + "0" : text;
  }
  return TextLayout(tensor, options, nullptr, "").Text("", /*suffix=*/0);
}

std::string ElementText(const Tensor& tensor, int64_t flat) {
  if (tensor.HoldsObjects()) {
    const ObjectRef& object = tensor.data<ObjectRef>()[flat];
    return object ? "<" + object->ToString() + ">" : "<nothing>";
  }
  return llvm::StringRef(MakeElementFormat(tensor, {flat}, 8)->Text(flat)).trim().str();
}

}  // namespace grapnel
