// `grapnel ops`: shows the inputs, outputs and attributes of an op, and where it runs.
#include "lib/exec/op_reference.h"
#include "lib/support/glob.h"
#include "lib/support/suggest.h"
#include "llvm/ADT/STLExtras.h"
#include "tools/command.h"
#include "tools/document.h"

namespace grapnel {
namespace {

struct Flags {
  std::vector<std::string> ops;
  bool unsupported = false;
};

// Returns the requested ops; a pattern selects all ops that match.
Expected<std::vector<std::string>> Wanted(const Flags& flags) {
  std::vector<llvm::StringRef> all = AllOpNames();
  std::vector<std::string> wanted;
  for (const std::string& name : flags.ops) {
    auto glob = Glob::Parse(name);
    if (!glob) return Annotate("OP", glob.takeError());
    size_t before = wanted.size();
    for (llvm::StringRef op : all) {
      if (glob->Fits(op)) wanted.push_back(op.str());
    }
    if (wanted.size() == before)
      return NotFound("op", name, std::vector<std::string>(all.begin(), all.end()));
  }
  if (flags.ops.empty()) wanted.assign(all.begin(), all.end());
  if (flags.unsupported) {
    llvm::erase_if(wanted,
                   [](const std::string& op) { return HasKernel(op) || IsExecutorsOwn(op); });
  }
  return wanted;
}

Expected<int> Run(const Flags& flags, Invocation& invocation) {
  ASSIGN_OR_RETURN(std::vector<std::string> wanted, Wanted(flags));
  llvm::raw_ostream& os = invocation.out();
  if (invocation.flags.json) {
    WriteDocument(os, [&](llvm::json::OStream& json) {
      json.attributeArray("ops", [&] {
        for (const std::string& name : wanted) WriteOpJson(*FindOp(name), json);
      });
    });
    return kExitOk;
  }
  // If there may be many ops, only their names are printed.
  bool is_list = flags.ops.empty() || flags.unsupported;
  for (size_t i = 0; i < wanted.size(); ++i) {
    if (is_list) {
      os << wanted[i] << "\n";
    } else {
      os << (i ? "\n" : "");
      WriteOpText(*FindOp(wanted[i]), os);
    }
  }
  return kExitOk;
}

RunCommand SetUp(CommandLine& line) {
  auto flags = std::make_shared<Flags>();
  line.Option("OP", flags->ops, "ops by name, or globs such as '*Conv?D'; default: all names");
  line.Flag("--unsupported", flags->unsupported, "only names of ops without a kernel here");
  return [flags](Invocation& invocation) { return Run(*flags, invocation); };
}

GRAPNEL_COMMAND("ops", "shows the inputs, outputs and attributes of an op, and where it runs",
                "ops 'BatchMatMul*'", SetUp);

}  // namespace
}  // namespace grapnel
