// `grapnel git-setup`: makes `git diff` show graphs as text, and `git difftool` on a page.
#include "lib/job/git_setup.h"

#include "lib/job/graph_lines.h"
#include "lib/support/file.h"
#include "lib/support/hash.h"
#include "lib/support/printable.h"
#include "lib/support/program_file.h"
#include "lib/support/text.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/Program.h"
#include "tools/command.h"

namespace grapnel {
namespace {

struct Flags {
  std::string show;
  bool global = false;
};

// Returns the program's name if the shell finds it by name, so that it may move; else its path. The
// program of the Python package is the script with which it was started.
Expected<std::string> ProgramForGit(llvm::StringRef started) {
  llvm::SmallString<128> here(BesideTheProgram("grapnel"));
  if (!FileExists(here)) {
    here = started;
    llvm::sys::fs::make_absolute(here);
  }
  auto found = llvm::sys::findProgramByName("grapnel");
  bool is_same = false;
  if (found && !llvm::sys::fs::equivalent(*found, here, is_same) && is_same) return "grapnel";
  if (!FileExists(here)) return MakeError("{0} does not exist: git cannot call grapnel", here);
  return here.str().str();
}

// True for a Git LFS pointer: a short text that replaces the file in a repository.
bool IsLfsPointer(llvm::StringRef bytes) {
  return bytes.size() < 1024 && bytes.starts_with("version https://git-lfs.github.com/spec/");
}

// Prints a file for git, which selects files by name and stops if a file cannot be shown. For a
// file that is not a graph, checkpoint or LFS pointer, prints its size and a hash; without the hash,
// two files of the same size would look equal.
Expected<int> Show(const std::string& path, Invocation& invocation) {
  auto model = OpenModel(path);
  if (model) {
    WriteGraphLines(std::make_shared<Model>(std::move(*model)), invocation.out());
    return kExitOk;
  }
  llvm::consumeError(model.takeError());
  ASSIGN_OR_RETURN(std::shared_ptr<const FileBytes> file, FileBytes::Open(path));
  auto checkpoint = Bundle::FromFiles(file, {});
  if (checkpoint) {
    WriteCheckpointLines(*checkpoint, invocation.out());
    return kExitOk;
  }
  llvm::consumeError(checkpoint.takeError());
  llvm::StringRef bytes = file->bytes();
  if (IsLfsPointer(bytes))
    invocation.out() << "a pointer of Git LFS, not the graph:\n" << PrintableLines(bytes);
  else
    invocation.out() << "not a graph: " << Plural(bytes.size(), "byte")
                     << llvm::formatv("  # {0:x-16}\n", HashBytes(bytes));
  return kExitOk;
}

Expected<int> Run(const Flags& flags, Invocation& invocation) {
  if (!flags.show.empty()) return Show(flags.show, invocation);
  ASSIGN_OR_RETURN(std::string program, ProgramForGit(invocation.program));
  ASSIGN_OR_RETURN(GitSetup setup, SetUpGit({flags.global, std::move(program)}));
  if (invocation.flags.quiet) return kExitOk;
  llvm::raw_ostream& os = invocation.out();
  os << "git shows graphs now: `git diff` as text, `git difftool -t grapnel` as a page\n";
  for (const std::string& line : setup.lines)
    os << "  " << setup.attributes << ": " << line << "\n";
  return kExitOk;
}

RunCommand SetUp(CommandLine& line) {
  line.WithoutJson();
  line.WithoutPlugins();
  auto flags = std::make_shared<Flags>();
  line.Flag("--global", flags->global, "for all of the user's repositories, not only this one");
  line.Option("--show", flags->show, "print a file as text for git to compare; git calls this")
      .ShownAs("FILE");
  return [flags](Invocation& invocation) { return Run(*flags, invocation); };
}

GRAPNEL_COMMAND("git-setup", "sets up git to show the differences between graphs",
                "git-setup && git diff HEAD~1 -- model.pb", SetUp);

}  // namespace
}  // namespace grapnel
