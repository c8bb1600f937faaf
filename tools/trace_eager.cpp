#include "tools/trace_eager.h"

#include "lib/exec/feed.h"
#include "lib/ir/tensor_name.h"
#include "lib/support/suggest.h"
#include "lib/watch/check_numerics.h"
#include "tools/run_flags.h"
#include "tools/run_outputs.h"

namespace grapnel {
namespace {

// The files that are given, as the inputs want them; else the program's own values.
Expected<std::vector<Tensor>> FeedsOf(const EagerProgram& program, const EagerFlags& flags) {
  Tracer placeholders;  // a graph that says which dtypes are expected
  std::vector<std::string> names;
  for (const TensorSpec& input : program.inputs) {
    placeholders.Placeholder(input.dtype, input.shape, input.name);
    names.push_back(input.name);
  }
  std::vector<Tensor> values(program.inputs.size());
  // "x" and "x:0" are one.
  auto place = [&](llvm::StringRef name) {
    return static_cast<size_t>(llvm::find(names, ReadTensorName(name).node) - names.begin());
  };
  for (const auto& [tensor, literal] : program.feeds) {
    if (size_t i = place(tensor); i < values.size()) {
      ASSIGN_OR_RETURN(values[i], Tensor::FromLiteral(literal));
    }
  }
  for (const std::string& text : flags.feeds) {
    auto [name, file] = SplitAssignment(text);
    if (file.empty()) return MakeError("--feed {0}: NAME=FILE.npy was expected", text);
    size_t i = place(name);
    if (i == values.size()) return NotFound("input", name, names, " in " + program.name);
    ASSIGN_OR_RETURN(values[i], LoadFeed(placeholders.module().main, names[i], file));
  }
  for (size_t i = 0; i < values.size(); ++i) {
    if (!values[i])
      return MakeError("{0}: input '{1}' needs a value: --feed {1}=FILE.npy", program.name,
                       names[i]);
  }
  return values;
}

}  // namespace

void EagerFlags::AddTo(CommandLine& line) {
  line.Flag("--eager", is_set, "run it op by op, and print the results");
  line.Option("--feed", feeds, "with --eager: a value for an input").ShownAs("NAME=FILE.npy");
  line.Flag("--all", all, "with --eager: print every element of the results, and not the first 8");
  line.Flag("--check-numerics", check_numerics,
            "with --eager: stop at the first op that puts out NaN or infinity; exit code 1");
  line.Flag("--log-device-placement", log_placement,
            "with --eager: say of each op where it runs, as TensorFlow does");
}

Error EagerFlags::DemandPartners() const {
  if (!is_set && (!feeds.empty() || all || check_numerics || log_placement))
    return MakeError("--feed, --all, --check-numerics and --log-device-placement go with --eager");
  return Error::success();
}

Expected<int> RunProgram(const EagerProgram& program, const EagerFlags& flags,
                         Invocation& invocation) {
  ASSIGN_OR_RETURN(std::vector<Tensor> feeds, FeedsOf(program, flags));
  ThreadPool pool(invocation.flags.threads);
  CheckNumerics numerics({}, &pool);
  EagerOptions options;
  options.pool = &pool;
  options.records = true;
  options.print = [&](Severity, llvm::StringRef text) { invocation.err() << text << "\n"; };
  if (flags.log_placement) options.log_placement = options.print;
  if (flags.check_numerics) options.hook = &numerics;
  auto results = RunEagerly(program.name, program.inputs, program.call, std::move(feeds), options);
  if (!results && !numerics.finding().empty()) {
    llvm::consumeError(results.takeError());
    invocation.err() << "grapnel: " << program.name << ": " << numerics.finding() << "\n";
    return kExitNo;
  }
  if (!results) return results.takeError();
  std::vector<Fetched> fetched;
  for (size_t i = 0; i < results->size(); ++i) {
    std::string name = "Identity" + (i == 0 ? std::string() : "_" + std::to_string(i));
    fetched.push_back({name + ":0", name, ""});
  }
  if (invocation.flags.json)
    WriteFetchesJson(fetched, {*results}, flags.all, invocation.out());
  else
    PrintFetches(fetched, *results, flags.all, invocation.out());
  return kExitOk;
}

}  // namespace grapnel
