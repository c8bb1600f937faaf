#include "tools/trace_eager.h"

#include "lib/watch/check_numerics.h"
#include "tools/run_outputs.h"

namespace grapnel {

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

Expected<int> RunProgram(const TracedChoice& choice, const EagerFlags& flags,
                         Invocation& invocation) {
  ASSIGN_OR_RETURN(std::vector<Tensor> feeds, FeedsOf(choice, flags.feeds));
  const EagerProgram& program = choice.program;
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
    std::string name = ResultName(i);
    fetched.push_back({name + ":0", name, ""});
  }
  if (invocation.flags.json)
    WriteFetchesJson(fetched, {*results}, flags.all, invocation.out());
  else
    PrintFetches(fetched, *results, flags.all, invocation.out());
  return kExitOk;
}

}  // namespace grapnel
