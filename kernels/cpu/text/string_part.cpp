// Parts of strings: StringSplit, StringSplitV2, StringLength, StringStrip, Substr.
#include <algorithm>
#include <vector>

#include "kernels/common/broadcast.h"
#include "lib/exec/kernel.h"

namespace grapnel {
namespace {

constexpr const char* kSpace = " \t\n\v\f\r";

// --- Split: the parts of all strings as a sparse matrix

using Parts = std::vector<llvm::StringRef>;

Error StoreParts(KernelContext& ctx, const std::vector<Parts>& rows) {
  int64_t total = 0, longest = 0;
  for (const Parts& parts : rows) {
    total += static_cast<int64_t>(parts.size());
    longest = std::max(longest, static_cast<int64_t>(parts.size()));
  }
  ASSIGN_OR_RETURN(Tensor * indices, ctx.Allocate(0, {total, 2}));
  ASSIGN_OR_RETURN(Tensor * values, ctx.Allocate(1, {total}));
  ASSIGN_OR_RETURN(Tensor * shape, ctx.Allocate(2, {2}));
  int64_t at = 0;
  for (size_t row = 0; row < rows.size(); ++row) {
    for (size_t i = 0; i < rows[row].size(); ++i, ++at) {
      indices->data<int64_t>()[2 * at] = static_cast<int64_t>(row);
      indices->data<int64_t>()[2 * at + 1] = static_cast<int64_t>(i);
      values->data<std::string>()[at] = rows[row][i].str();
    }
  }
  shape->data<int64_t>()[0] = static_cast<int64_t>(rows.size());
  shape->data<int64_t>()[1] = longest;
  return Error::success();
}

// Splits at any of `delimiters`; without delimiters, into bytes.
Parts SplitAtAny(llvm::StringRef text, llvm::StringRef delimiters, bool skip_empty) {
  Parts parts;
  if (delimiters.empty()) {
    for (size_t i = 0; i < text.size(); ++i) parts.push_back(text.substr(i, 1));
    return parts;
  }
  for (size_t begin = 0; begin <= text.size() && !text.empty();) {
    size_t end = std::min(text.find_first_of(delimiters, begin), text.size());
    if (end > begin || !skip_empty) parts.push_back(text.slice(begin, end));
    begin = end + 1;
  }
  return parts;
}

// Splits at each `separator`, or at runs of whitespace if `separator` is empty, at most `most`
// times (-1: unlimited).
Parts SplitAtText(llvm::StringRef text, llvm::StringRef separator, int64_t most) {
  Parts parts;
  if (most == 0) return {text};
  auto full = [&] { return most >= 0 && static_cast<int64_t>(parts.size()) >= most; };
  if (separator.empty()) {
    for (text = text.ltrim(kSpace); !text.empty() && !full(); text = text.ltrim(kSpace)) {
      size_t end = std::min(text.find_first_of(kSpace), text.size());
      parts.push_back(text.take_front(end));
      text = text.drop_front(end);
    }
    // The rest after the last allowed split is a part, even if it is empty.
    if (full()) parts.push_back(text);
    return parts;
  }
  while (!full()) {
    size_t end = text.find(separator);
    if (end == llvm::StringRef::npos) break;
    parts.push_back(text.take_front(end));
    text = text.drop_front(end + separator.size());
  }
  parts.push_back(text);
  return parts;
}

template <bool by_text>
Expected<KernelFn> MakeSplit(const KernelSetup& setup) {
  bool skip_empty = setup.node().GetBool("skip_empty", true);
  int64_t most = setup.node().GetInt("maxsplit", -1);
  return KernelFn([skip_empty, most](KernelContext& ctx) -> Error {
    const Tensor &in = ctx.input(0), &separator = ctx.input(1);
    if (in.rank() != 1)
      return MakeError("input must be a vector, got shape {0}", DimsText(in.dims()));
    if (separator.num_elements() != 1)
      return MakeError("{0} must have one element, got shape {1}", by_text ? "sep" : "delimiter",
                       DimsText(separator.dims()));
    const std::string& at = *separator.data<std::string>();
    std::vector<Parts> rows;
    for (int64_t i = 0; i < in.num_elements(); ++i) {
      const std::string& text = in.data<std::string>()[i];
      rows.push_back(by_text ? SplitAtText(text, at, most) : SplitAtAny(text, at, skip_empty));
    }
    return StoreParts(ctx, rows);
  });
}

// --- Length and Substr: in bytes or in UTF-8 characters

Expected<bool> CountsCharacters(const Node& node) {
  std::string unit = node.GetString("unit", "BYTE");
  if (unit != "BYTE" && unit != "UTF8_CHAR")
    return MakeError("unit '{0}' is not BYTE or UTF8_CHAR", unit);
  return unit == "UTF8_CHAR";
}

bool StartsCharacter(char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; }

Expected<KernelFn> MakeStringLength(const KernelSetup& setup) {
  ASSIGN_OR_RETURN(bool characters, CountsCharacters(setup.node()));
  return KernelFn([characters](KernelContext& ctx) -> Error {
    const Tensor& in = ctx.input(0);
    ASSIGN_OR_RETURN(Tensor * out, ctx.Allocate(0, in.dims()));
    for (int64_t i = 0; i < in.num_elements(); ++i) {
      const std::string& text = in.data<std::string>()[i];
      int64_t length = static_cast<int64_t>(text.size());
      if (characters) length = std::count_if(text.begin(), text.end(), StartsCharacter);
      out->data<int32_t>()[i] = static_cast<int32_t>(length);
    }
    return Error::success();
  });
}

// Returns the start of each unit, and the end.
std::vector<size_t> StartsOf(llvm::StringRef text, bool characters) {
  std::vector<size_t> starts;
  for (size_t i = 0; i < text.size(); ++i) {
    if (!characters || StartsCharacter(text[i])) starts.push_back(i);
  }
  starts.push_back(text.size());
  return starts;
}

Error Substr(KernelContext& ctx, bool characters) {
  const Tensor &in = ctx.input(0), &pos = ctx.input(1), &len = ctx.input(2);
  if (pos.dims() != len.dims())
    return MakeError("pos and len must have the same shape, got shapes {0} and {1}",
                     DimsText(pos.dims()), DimsText(len.dims()));
  ASSIGN_OR_RETURN(BroadcastPlan plan, PlanBroadcast({in.dims(), pos.dims()}));
  ASSIGN_OR_RETURN(Tensor * out, ctx.Allocate(0, plan.dims));
  Error error = Error::success();
  plan.ForRows(0, plan.total, [&](int64_t at, llvm::ArrayRef<int64_t> offsets, int64_t n) {
    for (int64_t i = 0; i < n && !error; ++i) {
      llvm::StringRef text = in.data<std::string>()[offsets[0] + i * plan.strides[0].back()];
      int64_t where = offsets[1] + i * plan.strides[1].back();
      int64_t first = pos.IntAt(where), length = len.IntAt(where);
      std::vector<size_t> starts = StartsOf(text, characters);
      int64_t size = static_cast<int64_t>(starts.size()) - 1;
      // For characters, a negative length counts as 0, but is an error if `pos` counts from the
      // end.
      bool from_end = characters && first < 0 && length < 0;
      if (characters) length = std::max<int64_t>(length, 0);
      if (first < -size || first > size || from_end) {
        error = MakeError(
            "pos {0} is out of range for string '{1}' at index {2}, or pos and len are both "
            "negative for UTF8_CHAR",
            first, text, at + i);
        return;
      }
      if (first < 0) first += size;
      // For bytes, a negative length means the rest of the string.
      int64_t last = length < 0 || length > size - first ? size : first + length;
      out->data<std::string>()[at + i] = text.slice(starts[first], starts[last]).str();
    }
  });
  return error;
}

Expected<KernelFn> MakeSubstr(const KernelSetup& setup) {
  ASSIGN_OR_RETURN(bool characters, CountsCharacters(setup.node()));
  return KernelFn([characters](KernelContext& ctx) { return Substr(ctx, characters); });
}

Expected<KernelFn> MakeStringStrip(const KernelSetup&) {
  return KernelFn([](KernelContext& ctx) -> Error {
    const Tensor& in = ctx.input(0);
    ASSIGN_OR_RETURN(Tensor * out, ctx.Allocate(0, in.dims()));
    for (int64_t i = 0; i < in.num_elements(); ++i) {
      out->data<std::string>()[i] = llvm::StringRef(in.data<std::string>()[i]).trim(kSpace).str();
    }
    return Error::success();
  });
}

GRAPNEL_CPU_KERNEL("StringSplit", MakeSplit<false>);
GRAPNEL_CPU_KERNEL("StringSplitV2", MakeSplit<true>);
GRAPNEL_CPU_KERNEL("StringLength", MakeStringLength);
GRAPNEL_CPU_KERNEL("StringStrip", MakeStringStrip);
GRAPNEL_CPU_KERNEL("Substr", MakeSubstr);

}  // namespace
}  // namespace grapnel
