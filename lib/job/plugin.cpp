#include "lib/job/plugin.h"

#include <sys/wait.h>

#include <cerrno>
#include <cstdlib>
#include <vector>

#include "lib/job/compile_cache.h"
#include "lib/pass/registry.h"
#include "lib/support/file.h"
#include "lib/support/plugin.h"
#include "lib/support/program_file.h"
#include "lib/support/start_program.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Program.h"

namespace grapnel {
namespace {

// The directory with include/ and the like, relative to the binary's directory, both in a build and
// when installed.
constexpr const char* kPrefix = "..";
constexpr const char* kFlagsFile = "../share/grapnel/plugin_flags.txt";

// Returns the compiler flags for a plugin, which kFlagsFile lists one per line. "{prefix}" in them
// stands for the parent of bin/.
Expected<std::vector<std::string>> PluginFlags() {
  std::string path = BesideTheProgram(kFlagsFile);
  if (!FileExists(path))
    return MakeError(
        "grapnel's headers are not installed next to this program ({0} does not exist)", path);
  ASSIGN_OR_RETURN(std::shared_ptr<const FileBytes> file, FileBytes::Open(path));
  std::string prefix = BesideTheProgram(kPrefix);
  std::vector<std::string> flags;
  llvm::SmallVector<llvm::StringRef, 16> lines;
  file->bytes().split(lines, '\n', -1, /*KeepEmpty=*/false);
  for (llvm::StringRef line : lines) {
    auto [before, after] = line.split("{prefix}");
    bool has_prefix = before.size() != line.size();
    flags.push_back(has_prefix ? (before + prefix + after).str() : line.str());
  }
  return flags;
}

// $CXX may contain several words: "ccache g++".
Expected<std::vector<std::string>> Compiler() {
  const char* wish = std::getenv("CXX");
  llvm::SmallVector<llvm::StringRef, 4> words;
  llvm::StringRef(wish && *wish ? wish : "c++").split(words, ' ', -1, /*KeepEmpty=*/false);
  if (words.empty()) words.push_back("c++");
  auto program = llvm::sys::findProgramByName(words[0]);
  if (!program) return MakeError("no compiler '{0}' on PATH; set CXX to choose another", words[0]);
  std::vector<std::string> command = {*program};
  for (llvm::StringRef word : llvm::ArrayRef(words).drop_front()) command.push_back(word.str());
  return command;
}

// Runs a command and returns its output on stdout and stderr; if the command fails, returns an
// error with that output.
Expected<std::string> WhatItSays(const std::vector<std::string>& command, const std::string& log) {
  ASSIGN_OR_RETURN(pid_t pid, StartProgram(command, log));
  int status = 0;
  while (waitpid(pid, &status, 0) < 0 && errno == EINTR) continue;
  ASSIGN_OR_RETURN(std::shared_ptr<const FileBytes> file, FileBytes::Open(log));
  std::string said = file->bytes().rtrim().str();
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return said;
  return MakeError("does not compile with {0}:\n{1}", command[0],
                   said.empty() ? "(no output)" : said);
}

}  // namespace

Error LoadPlugin(llvm::StringRef path) {
  RETURN_IF_ERROR(OpenPlugin(path));
  return PassRegistry::Get().CheckPlugins();
}

bool NamesSource(llvm::StringRef path) {
  return path.ends_with(".cpp") || path.ends_with(".cc") || path.ends_with(".cxx");
}

std::pair<std::string, std::string> SourceAndFunction(llvm::StringRef text) {
  // An existing directory, or a file named like "x.cpp:y", is a graph and not a source file.
  if (FileExists(text) && (IsDirectory(text) || !NamesSource(text))) return {"", text.str()};
  if (NamesSource(text)) return {text.str(), ""};
  for (size_t at = text.find(':'); at != llvm::StringRef::npos; at = text.find(':', at + 1)) {
    if (NamesSource(text.take_front(at)))
      return {text.take_front(at).str(), text.substr(at + 1).str()};
  }
  return {"", text.str()};
}

// Compiles `path` to the file `plugin`, or fetches what was compiled before, and returns what the
// compiler says.
static Expected<std::string> Compile(llvm::StringRef path, const std::string& folder,
                                     const std::string& plugin) {
  ASSIGN_OR_RETURN(std::vector<std::string> command, Compiler());
  auto flags = PluginFlags();
  if (!flags) return Annotate(path, flags.takeError());
  command.insert(command.end(), flags->begin(), flags->end());
  CompileCache cache(path, command);
  if (std::optional<std::string> said = cache.Fetch(plugin)) return *said;
  std::string inputs = JoinPath(folder, "inputs.d");
  for (std::string word : {std::string("-MMD"), std::string("-MF"), inputs, std::string("-shared"),
                           std::string("-o"), plugin, path.str()})
    command.push_back(std::move(word));
  auto said = WhatItSays(command, JoinPath(folder, "said.txt"));
  if (!said) return Annotate(path, said.takeError());
  cache.Keep(plugin, inputs, *said);
  return said;
}

Error LoadSource(llvm::StringRef path, const MessageSink& sink) {
  if (!FileExists(path)) return MakeError("{0}: No such file or directory", path);
  llvm::SmallString<128> folder;
  if (std::error_code code = llvm::sys::fs::createUniqueDirectory("grapnel", folder))
    return MakeError("{0}: {1}", folder, code.message());
  auto remove = llvm::make_scope_exit([&] { llvm::sys::fs::remove_directories(folder); });
  std::string plugin = JoinPath(folder, "plugin.so");
  ASSIGN_OR_RETURN(std::string said, Compile(path, folder.str().str(), plugin));
  if (!said.empty() && sink) sink(Severity::kWarning, path.str() + ":\n" + said);
  RETURN_IF_ERROR(OpenPlugin(plugin, path));
  return PassRegistry::Get().CheckPlugins();
}

}  // namespace grapnel
