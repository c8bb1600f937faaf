// A program outside of the repository that loads plugins: what they register is in its registries,
// and their Errors are the program's Errors, of the type they were made with.
//
//   load_plugin GRAPH PASS PLUGIN.so ...
#include "grapnel/io/open.h"
#include "grapnel/job/plugin.h"
#include "grapnel/pass/pass_manager.h"
#include "grapnel/pass/registry.h"
#include "llvm/Support/raw_ostream.h"

using namespace grapnel;

int main(int argc, char** argv) {
  llvm::ExitOnError check("load_plugin: ");
  for (int i = 3; i < argc; ++i) {
    if (Error error = LoadPlugin(argv[i])) {
      llvm::outs() << "refused: " << TextOf(std::move(error)) << "\n";
      continue;
    }
    llvm::outs() << "loaded\n";
  }
  std::unique_ptr<Module> module = check(OpenGraph(argv[1]));
  OptimizeOptions options;
  options.fetches = {"y"};
  options.passes = {argv[2]};
  auto done = PassManager().Run(*module, options);
  if (done) {
    llvm::outs() << done->rewrites << " rewrites\n";
    return 0;
  }
  llvm::handleAllErrors(
      done.takeError(),
      [](const llvm::StringError& error) {
        llvm::outs() << "text: " << error.getMessage() << "\n";
      },
      [](const llvm::ErrorInfoBase& error) {
        llvm::outs() << "other: " << error.message() << "\n";
      });
}
