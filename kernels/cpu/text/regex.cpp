// Regular expressions with RE2, as in TensorFlow: full matches and replacements.
#include "lib/exec/kernel.h"
#include "re2/re2.h"

namespace grapnel {
namespace {

Expected<std::shared_ptr<RE2>> Compiled(const std::string& pattern) {
  auto regex = std::make_shared<RE2>(pattern, RE2::Quiet);
  if (!regex->ok())
    return MakeError("'{0}' is not a regular expression: {1}", pattern, regex->error());
  return regex;
}

Error MatchAll(KernelContext& ctx, const RE2& regex) {
  const Tensor& in = ctx.input(0);
  ASSIGN_OR_RETURN(Tensor * out, ctx.Allocate(0, in.dims()));
  for (int64_t i = 0; i < in.num_elements(); ++i)
    out->data<bool>()[i] = RE2::FullMatch(in.data<std::string>()[i], regex);
  return Error::success();
}

Error ReplaceAll(KernelContext& ctx, const RE2& regex, const std::string& rewrite, bool global) {
  std::string problem;
  if (!regex.CheckRewriteString(rewrite, &problem))
    return MakeError("rewrite '{0}' cannot replace matches of '{1}': {2}", rewrite, regex.pattern(),
                     problem);
  const Tensor& in = ctx.input(0);
  ASSIGN_OR_RETURN(Tensor * out, ctx.Allocate(0, in.dims()));
  for (int64_t i = 0; i < in.num_elements(); ++i) {
    std::string& text = out->data<std::string>()[i];
    text = in.data<std::string>()[i];
    if (global)
      RE2::GlobalReplace(&text, regex, rewrite);
    else
      RE2::Replace(&text, regex, rewrite);
  }
  return Error::success();
}

Expected<std::string> StringIn(const KernelContext& ctx, int i) {
  if (ctx.input(i).num_elements() == 1) return *ctx.input(i).data<std::string>();
  return MakeError("input {0} has shape {1}, one string was expected", i,
                   DimsText(ctx.input(i).dims()));
}

Expected<KernelFn> MakeStaticMatch(const KernelSetup& setup) {
  ASSIGN_OR_RETURN(std::shared_ptr<RE2> regex, Compiled(setup.node().GetString("pattern")));
  return KernelFn([regex](KernelContext& ctx) { return MatchAll(ctx, *regex); });
}

Expected<KernelFn> MakeMatch(const KernelSetup&) {
  return KernelFn([](KernelContext& ctx) -> Error {
    ASSIGN_OR_RETURN(std::string pattern, StringIn(ctx, 1));
    ASSIGN_OR_RETURN(std::shared_ptr<RE2> regex, Compiled(pattern));
    return MatchAll(ctx, *regex);
  });
}

Expected<KernelFn> MakeStaticReplace(const KernelSetup& setup) {
  ASSIGN_OR_RETURN(std::shared_ptr<RE2> regex, Compiled(setup.node().GetString("pattern")));
  std::string rewrite = setup.node().GetString("rewrite");
  bool global = setup.node().GetBool("replace_global", true);
  return KernelFn([=](KernelContext& ctx) { return ReplaceAll(ctx, *regex, rewrite, global); });
}

Expected<KernelFn> MakeReplace(const KernelSetup& setup) {
  bool global = setup.node().GetBool("replace_global", true);
  return KernelFn([global](KernelContext& ctx) -> Error {
    ASSIGN_OR_RETURN(std::string pattern, StringIn(ctx, 1));
    ASSIGN_OR_RETURN(std::string rewrite, StringIn(ctx, 2));
    ASSIGN_OR_RETURN(std::shared_ptr<RE2> regex, Compiled(pattern));
    return ReplaceAll(ctx, *regex, rewrite, global);
  });
}

GRAPNEL_CPU_KERNEL("StaticRegexFullMatch", MakeStaticMatch);
GRAPNEL_CPU_KERNEL("RegexFullMatch", MakeMatch);
GRAPNEL_CPU_KERNEL("StaticRegexReplace", MakeStaticReplace);
GRAPNEL_CPU_KERNEL("RegexReplace", MakeReplace);

}  // namespace
}  // namespace grapnel
