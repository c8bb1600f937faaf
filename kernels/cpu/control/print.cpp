// Ops that print: Print, PrintV2, and the strings that they are built from.
#include <atomic>
#include <memory>

#include "kernels/cpu/text/tensor_text.h"
#include "lib/exec/kernel.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/raw_ostream.h"

namespace grapnel {
namespace {

Expected<KernelFn> MakeStringFormat(const KernelSetup& setup) {
  std::string text = setup.node().GetString("template", "%s");
  std::string placeholder = setup.node().GetString("placeholder", "%s");
  int64_t summarize = setup.node().GetInt("summarize", 3);
  // The pieces of the template between placeholders.
  std::vector<std::string> pieces;
  for (size_t at = 0;;) {
    size_t next = placeholder.empty() ? std::string::npos : text.find(placeholder, at);
    pieces.push_back(text.substr(at, next == std::string::npos ? next : next - at));
    if (next == std::string::npos) break;
    at = next + placeholder.size();
  }
  if (static_cast<int>(pieces.size()) != setup.num_inputs() + 1) {
    return MakeError("num placeholders in template and num inputs must match: {0} vs. {1}",
                     pieces.size() - 1, setup.num_inputs());
  }
  return KernelFn([pieces, summarize](KernelContext& ctx) -> Error {
    ASSIGN_OR_RETURN(Tensor * out, ctx.Allocate(0, {}));
    std::string& result = *out->data<std::string>();
    for (int i = 0; i < ctx.num_inputs(); ++i)
      result += pieces[i] + EdgesText(ctx.input(i), summarize);
    result += pieces.back();
    return Error::success();
  });
}

// Prints `text` without its final newline, which the receiver of the text adds.
void PrintLine(KernelContext& ctx, llvm::StringRef text) {
  text.consume_back("\n");
  ctx.Print(text);
}

// Appends to a file if the stream is file://PATH. Otherwise the program that runs the graph gets
// the text and decides where it goes, whatever the stream.
Expected<KernelFn> MakePrintV2(const KernelSetup& setup) {
  std::string stream = setup.node().GetString("output_stream", "stderr");
  std::string end = setup.node().GetString("end", "\n");
  llvm::StringRef file = stream;
  if (!file.consume_front("file://")) {
    file = "";
    static const char* const kStreams[] = {"stdout", "stderr", "log(info)", "log(warning)",
                                           "log(error)"};
    bool known = false;
    for (const char* name : kStreams) known |= stream == name;
    if (!known) {
      return MakeError(
          "unknown output stream: {0}; expected stdout, stderr, log(info), log(warning), "
          "log(error) or file://PATH",
          stream);
    }
  }
  return KernelFn([end, path = file.str()](KernelContext& ctx) -> Error {
    const Tensor& in = ctx.input(0);
    if (in.rank() != 0)
      return MakeError("input must be a scalar, got shape {0}", DimsText(in.dims()));
    std::string text = *in.data<std::string>() + end;
    if (path.empty()) {
      PrintLine(ctx, text);
      return Error::success();
    }
    std::error_code code;
    llvm::raw_fd_ostream os(path, code, llvm::sys::fs::OF_Append);
    if (code) return MakeError("{0}: cannot open: {1}", path, code.message());
    os << text;
    os.close();
    if (os.has_error()) {
      os.clear_error();
      return MakeError("{0}: cannot write", path);
    }
    return Error::success();
  });
}

// Passes its first input on and prints the others in the first `first_n` runs (-1: in all).
Expected<KernelFn> MakePrint(const KernelSetup& setup) {
  std::string message = setup.node().GetString("message");
  int64_t first_n = setup.node().GetInt("first_n", -1),
          summarize = setup.node().GetInt("summarize", 3);
  auto shown = std::make_shared<std::atomic<int64_t>>(0);
  return KernelFn([message, summarize, first_n, shown](KernelContext& ctx) -> Error {
    ctx.SetOutput(0, ctx.input(0));
    if (first_n >= 0 && (shown->load() >= first_n || shown->fetch_add(1) >= first_n))
      return Error::success();
    std::string text = message;
    for (int i = 1; i < ctx.num_inputs(); ++i)
      text += "[" + SummaryText(ctx.input(i), summarize) + "]";
    PrintLine(ctx, text);
    return Error::success();
  });
}

GRAPNEL_CPU_KERNEL("StringFormat", MakeStringFormat, KernelCost::kCheap);
GRAPNEL_CPU_KERNEL("PrintV2", MakePrintV2, KernelCost::kCheap);
GRAPNEL_CPU_KERNEL("Print", MakePrint, KernelCost::kCheap);

}  // namespace
}  // namespace grapnel
