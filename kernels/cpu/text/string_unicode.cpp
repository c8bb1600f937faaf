// UnicodeDecode, UnicodeDecodeWithOffsets, UnicodeEncode, UnicodeTranscode, UnicodeScript.
#include <algorithm>
#include <limits>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "kernels/common/kernel_of.h"
#include "kernels/cpu/text/icu_loader.h"
#include "kernels/cpu/text/unicode_text.h"

namespace grapnel {
namespace {

Expected<UnicodeErrors> ErrorsOf(const Node& node) {
  UnicodeErrors errors;
  std::string policy = node.GetString("errors", "replace");
  if (policy == "strict")
    errors.policy = UnicodeErrors::Policy::kStrict;
  else if (policy == "ignore")
    errors.policy = UnicodeErrors::Policy::kIgnore;
  else if (policy != "replace")
    return MakeError("errors '{0}' is not strict, replace or ignore", policy);
  int64_t replacement = node.GetInt("replacement_char", 0xfffd);
  if (replacement < 0 || replacement > 0x10ffff || !IsCharacter(static_cast<int32_t>(replacement)))
    return MakeError("replacement_char {0} is out of range for Unicode, or is a surrogate",
                     replacement);
  errors.replacement = static_cast<int32_t>(replacement);
  errors.controls = node.GetBool("replace_control_characters");
  return errors;
}

// Calls `found` for the code points of `text` after error handling. With `controls_fail`, a control
// character that is to be replaced is an error under policy strict; in TensorFlow, it is one only
// when transcoding.
Error ForCharacters(TextDecoder& decoder, llvm::StringRef text, const UnicodeErrors& errors,
                    bool controls_fail,
                    llvm::function_ref<void(int32_t code_point, size_t start)> found) {
  const bool is_strict = errors.policy == UnicodeErrors::Policy::kStrict;
  std::string problem;  // the first one, under policy strict
  decoder.Decode(text, [&](int32_t code, size_t start, bool is_error) {
    if (is_error || (errors.controls && code < 0x20)) {
      bool is_first = is_strict && problem.empty();
      if (is_first && is_error)
        problem = llvm::formatv("the bytes from byte {0} on are not a character in {1}", start,
                                decoder.encoding());
      else if (is_first && controls_fail)
        problem = llvm::formatv("byte {0} is a control character that is to be replaced", start);
      if (errors.policy == UnicodeErrors::Policy::kIgnore) return;
      code = errors.replacement;
    }
    found(code, start);
  });
  if (!problem.empty()) return MakeError("{0}, and attribute 'errors' is 'strict'", problem);
  return Error::success();
}

// --- To code points

Error Decode(KernelContext& ctx, TextDecoder& decoder, const UnicodeErrors& errors) {
  const Tensor& in = ctx.input(0);
  std::vector<int32_t> codes;
  std::vector<int64_t> starts, splits{0};
  decoder.Reset();
  for (int64_t i = 0; i < in.num_elements(); ++i) {
    Error error = ForCharacters(decoder, in.data<std::string>()[i], errors, /*controls_fail=*/false,
                                [&](int32_t code, size_t start) {
                                  codes.push_back(code);
                                  starts.push_back(static_cast<int64_t>(start));
                                });
    if (error) return Annotate("element " + std::to_string(i), std::move(error));
    splits.push_back(static_cast<int64_t>(codes.size()));
  }
  int64_t count = static_cast<int64_t>(codes.size());
  ASSIGN_OR_RETURN(Tensor * out_splits, ctx.Allocate(0, {in.num_elements() + 1}));
  bool narrow = out_splits->dtype() == proto::DT_INT32;
  if (narrow && count > std::numeric_limits<int32_t>::max())
    return MakeError("{0} characters do not fit in row splits of int32", count);
  for (size_t i = 0; i < splits.size(); ++i) {
    if (narrow)
      out_splits->data<int32_t>()[i] = static_cast<int32_t>(splits[i]);
    else
      out_splits->data<int64_t>()[i] = splits[i];
  }
  ASSIGN_OR_RETURN(Tensor * out, ctx.Allocate(1, {count}));
  std::copy(codes.begin(), codes.end(), out->data<int32_t>());
  if (ctx.num_outputs() < 3) return Error::success();
  ASSIGN_OR_RETURN(Tensor * out_starts, ctx.Allocate(2, {count}));
  std::copy(starts.begin(), starts.end(), out_starts->data<int64_t>());
  return Error::success();
}

// A decoder keeps state within a text, so only one run may use it at a time.
struct SharedDecoder {
  explicit SharedDecoder(TextDecoder made) : decoder(std::move(made)) {}
  TextDecoder decoder;
  std::mutex mutex;
};

Expected<KernelFn> MakeDecode(const KernelSetup& setup) {
  ASSIGN_OR_RETURN(UnicodeErrors errors, ErrorsOf(setup.node()));
  ASSIGN_OR_RETURN(TextDecoder decoder,
                   TextDecoder::Make(setup.node().GetString("input_encoding")));
  return KernelFn(
      [shared = std::make_unique<SharedDecoder>(std::move(decoder)), errors](KernelContext& ctx) {
        std::lock_guard lock(shared->mutex);
        return Decode(ctx, shared->decoder, errors);
      });
}

// --- To text

Error Transcode(KernelContext& ctx, TextDecoder& decoder, UnicodeForm form,
                const UnicodeErrors& errors) {
  const Tensor& in = ctx.input(0);
  ASSIGN_OR_RETURN(Tensor * out, ctx.Allocate(0, in.dims()));
  decoder.Reset();
  for (int64_t i = 0; i < in.num_elements(); ++i) {
    std::string text;
    Error error = ForCharacters(decoder, in.data<std::string>()[i], errors, /*controls_fail=*/true,
                                [&](int32_t code, size_t) { AppendCharacter(code, form, &text); });
    if (error) return Annotate("element " + std::to_string(i), std::move(error));
    out->data<std::string>()[i] = std::move(text);
  }
  return Error::success();
}

Expected<KernelFn> MakeTranscode(const KernelSetup& setup) {
  const Node& node = setup.node();
  ASSIGN_OR_RETURN(UnicodeErrors errors, ErrorsOf(node));
  ASSIGN_OR_RETURN(UnicodeForm form, UnicodeFormOf(node.GetString("output_encoding")));
  ASSIGN_OR_RETURN(TextDecoder decoder, TextDecoder::Make(node.GetString("input_encoding")));
  return KernelFn([shared = std::make_unique<SharedDecoder>(std::move(decoder)), form,
                   errors](KernelContext& ctx) {
    std::lock_guard lock(shared->mutex);
    return Transcode(ctx, shared->decoder, form, errors);
  });
}

Error Encode(KernelContext& ctx, UnicodeForm form, const UnicodeErrors& errors) {
  const Tensor &codes = ctx.input(0), &splits = ctx.input(1);
  if (codes.rank() != 1 || splits.rank() != 1 || splits.dim(0) < 1)
    return MakeError(
        "values and splits must be vectors, splits of at least one element, got shapes {0} and {1}",
        DimsText(codes.dims()), DimsText(splits.dims()));
  int64_t rows = splits.dim(0) - 1;
  if (splits.IntAt(0) != 0) return MakeError("splits must start with 0, not {0}", splits.IntAt(0));
  if (splits.IntAt(rows) != codes.dim(0))
    return MakeError("splits must end with the number of values, {0}, not {1}", codes.dim(0),
                     splits.IntAt(rows));
  ASSIGN_OR_RETURN(Tensor * out, ctx.Allocate(0, {rows}));
  for (int64_t row = 0; row < rows; ++row) {
    int64_t begin = splits.IntAt(row), end = splits.IntAt(row + 1);
    if (begin > end || end > codes.dim(0))
      return MakeError("splits must not decrease or exceed {0}: {1} follows {2}", codes.dim(0), end,
                       begin);
    std::string& text = out->data<std::string>()[row];
    for (int64_t i = begin; i < end; ++i) {
      int32_t code = codes.data<int32_t>()[i];
      if (!IsCharacter(code)) {
        if (errors.policy == UnicodeErrors::Policy::kStrict)
          return MakeError("code point {0} is out of range for Unicode, or is a surrogate", code);
        if (errors.policy == UnicodeErrors::Policy::kIgnore) continue;
        code = errors.replacement;
      }
      AppendCharacter(code, form, &text);
    }
  }
  return Error::success();
}

Expected<KernelFn> MakeEncode(const KernelSetup& setup) {
  ASSIGN_OR_RETURN(UnicodeErrors errors, ErrorsOf(setup.node()));
  ASSIGN_OR_RETURN(UnicodeForm form, UnicodeFormOf(setup.node().GetString("output_encoding")));
  return KernelFn([form, errors](KernelContext& ctx) { return Encode(ctx, form, errors); });
}

// --- UnicodeScript

Error Script(KernelContext& ctx) {
  ASSIGN_OR_RETURN(const GrapnelIcuApi* icu, Icu());
  const Tensor& in = ctx.input(0);
  ASSIGN_OR_RETURN(Tensor * out, ctx.Allocate(0, in.dims()));
  for (int64_t i = 0; i < in.num_elements(); ++i)
    out->data<int32_t>()[i] = icu->script(in.data<int32_t>()[i]);
  return Error::success();
}

GRAPNEL_CPU_KERNEL("UnicodeDecode", MakeDecode);
GRAPNEL_CPU_KERNEL("UnicodeDecodeWithOffsets", MakeDecode);
GRAPNEL_CPU_KERNEL("UnicodeTranscode", MakeTranscode);
GRAPNEL_CPU_KERNEL("UnicodeEncode", MakeEncode);
GRAPNEL_CPU_KERNEL("UnicodeScript", KernelOf<Script>);

}  // namespace
}  // namespace grapnel
