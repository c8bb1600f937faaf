#include "kernels/cpu/text/tensor_text.h"

#include <cmath>
#include <cstdlib>
#include <limits>

#include "Eigen/Core"

namespace grapnel {
namespace {

std::string Printed(const char* format, double value) {
  char text[64];
  std::snprintf(text, sizeof text, format, value);
  return text;
}

// Escapes quotes, backslashes and nonprintable ASCII characters; other bytes stay.
std::string Escaped(llvm::StringRef text) {
  std::string out;
  for (unsigned char c : text) {
    switch (c) {
      case '\n':
        out += "\\n";
        break;
      case '\r':
        out += "\\r";
        break;
      case '\t':
        out += "\\t";
        break;
      case '"':
      case '\'':
      case '\\':
        out += {'\\', static_cast<char>(c)};
        break;
      default:
        if (c >= 0x20 && c != 0x7f) {
          out += static_cast<char>(c);
        } else {
          char octal[8];
          std::snprintf(octal, sizeof octal, "\\%03o", c);
          out += octal;
        }
    }
  }
  return out;
}

std::string ElementText(const Tensor& tensor, int64_t i, bool quote) {
  switch (tensor.dtype()) {
    case proto::DT_FLOAT:
      return FloatText(tensor.data<float>()[i]);
    case proto::DT_DOUBLE:
      return FloatText(tensor.data<double>()[i]);
    case proto::DT_HALF:
      return FloatText(static_cast<float>(tensor.data<Eigen::half>()[i]));
    case proto::DT_BFLOAT16:
      return FloatText(static_cast<float>(tensor.data<Eigen::bfloat16>()[i]));
    case proto::DT_STRING: {
      std::string text = Escaped(tensor.data<std::string>()[i]);
      return quote ? '"' + text + '"' : text;
    }
    case proto::DT_UINT64:
      return std::to_string(tensor.data<uint64_t>()[i]);
    case proto::DT_BOOL:
      return tensor.data<bool>()[i] ? "1" : "0";
    default:
      // TensorFlow prints a question mark for dtypes it cannot format, including complex.
      return IsInteger(tensor.dtype()) ? std::to_string(tensor.IntAt(i)) : "?";
  }
}

void AddSummary(const Tensor& tensor, int dim, int64_t limit, int64_t& next, std::string& out) {
  if (next >= limit) return;
  bool innermost = dim == tensor.rank() - 1;
  for (int64_t i = 0; i < tensor.dim(dim); ++i) {
    if (innermost) {
      if (next >= limit) {
        if (dim != 0) out += "...";
        return;
      }
      if (i > 0) out += ' ';
      out += ElementText(tensor, next++, false);
    } else {
      if (next >= limit) return;
      out += '[';
      AddSummary(tensor, dim + 1, limit, next, out);
      out += ']';
    }
  }
}

void AddSpacing(int dim, int rank, std::string& out) {
  if (dim == rank - 1) {
    out += ' ';
    return;
  }
  out.append(rank - dim - 1, '\n');
  out.append(dim + 1, ' ');
}

void AddEdges(const Tensor& tensor, int dim, int64_t edge, int64_t at, std::string& out) {
  if (dim == tensor.rank()) {
    out += ElementText(tensor, at, true);
    return;
  }
  out += '[';
  int64_t count = tensor.dim(dim), inner = 1;
  for (int d = dim + 1; d < tensor.rank(); ++d) inner *= tensor.dim(d);
  for (int64_t i = 0; i < std::min(edge, count); ++i) {
    if (i > 0) AddSpacing(dim, tensor.rank(), out);
    AddEdges(tensor, dim + 1, edge, at + inner * i, out);
  }
  if (count / 2 >= edge && count > 2 * edge) {
    AddSpacing(dim, tensor.rank(), out);
    out += "...";
  }
  for (int64_t i = std::max(edge, count - edge); i < count; ++i) {
    AddSpacing(dim, tensor.rank(), out);
    AddEdges(tensor, dim + 1, edge, at + inner * i, out);
  }
  out += ']';
}

}  // namespace

std::string FloatText(float value) {
  if (std::isnan(value)) return "nan";
  std::string text = Printed("%.6g", value);
  return std::strtof(text.c_str(), nullptr) == value ? text : Printed("%.9g", value);
}

std::string FloatText(double value) {
  if (std::isnan(value)) return "nan";
  std::string text = Printed("%.15g", value);
  return std::strtod(text.c_str(), nullptr) == value ? text : Printed("%.17g", value);
}

std::string SummaryText(const Tensor& tensor, int64_t limit) {
  int64_t count = tensor.num_elements();
  if (limit < 0 || limit > count) limit = count;
  std::string out;
  if (tensor.rank() == 0) {
    if (limit > 0) out = ElementText(tensor, 0, false);
  } else {
    int64_t next = 0;
    AddSummary(tensor, 0, limit, next, out);
  }
  return count > limit ? out + "..." : out;
}

std::string EdgesText(const Tensor& tensor, int64_t edge) {
  std::string out;
  AddEdges(tensor, 0, edge < 0 ? std::numeric_limits<int64_t>::max() / 2 : edge, 0, out);
  return out;
}

}  // namespace grapnel
