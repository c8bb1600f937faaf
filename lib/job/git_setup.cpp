#include "lib/job/git_setup.h"

#include <sys/wait.h>

#include "lib/support/file.h"
#include "lib/support/start_program.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FileUtilities.h"
#include "llvm/Support/Path.h"

namespace grapnel {
namespace {

// The file patterns that git treats as graphs, or as checkpoints, whose index lists the variables.
// Canonical text (.gtxt) is not listed, since git can compare it as it is.
constexpr const char* kLines[] = {"*.pb diff=grapnel", "*.pbtxt diff=grapnel",
                                  "*.meta diff=grapnel", "*.index diff=grapnel"};

// Runs git and returns its output without trailing blanks.
Expected<std::string> RunGit(std::vector<std::string> words) {
  llvm::SmallString<128> output;
  if (std::error_code error = llvm::sys::fs::createTemporaryFile("grapnel-git", "txt", output))
    return MakeError("cannot create a temporary file: {0}", error.message());
  llvm::FileRemover remover(output);
  words.insert(words.begin(), "git");
  ASSIGN_OR_RETURN(pid_t pid, StartProgram(words, output.str().str()));
  int status = 0;
  while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  ASSIGN_OR_RETURN(auto file, FileBytes::Open(output));
  std::string said = file->bytes().rtrim().str();
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
    return MakeError("{0}: {1}", llvm::join(words, " "), said.empty() ? "failed" : said);
  return said;
}

// Quotes a word for the shell to which git passes commands.
std::string ForShell(llvm::StringRef word) {
  std::string quoted = "'";
  for (char c : word) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + "'";
}

Error Configure(const GitSetupRequest& request) {
  const std::string grapnel = ForShell(request.grapnel);
  // For a new or deleted graph, git passes /dev/null as the other file: `view` then shows the one
  // graph. `diff` exits with 1 if the graphs differ, which counts as success. The HTML page is not
  // deleted, since the browser may still be reading it. GRAPNEL_BROWSER may have several words,
  // which only a shell of its own splits.
  const std::string draw =
      "page=$(mktemp -d)/change.html; case \"$LOCAL|$REMOTE\" in \"/dev/null|\"*) " + grapnel +
      " view \"$REMOTE\" --quiet -o \"$page\" ;; *\"|/dev/null\") " + grapnel +
      " view \"$LOCAL\" --quiet -o \"$page\" ;; *) " + grapnel +
      " diff \"$LOCAL\" \"$REMOTE\" --quiet -o \"$page\" ;; esac; test $? -le 1 && "
      "sh -c \"${GRAPNEL_BROWSER:-xdg-open} \\\"\\$0\\\"\" \"$page\"";
  const std::pair<const char*, std::string> settings[] = {
      {"diff.grapnel.textconv", grapnel + " git-setup --show"},
      {"diff.grapnel.binary", "true"},
      {"difftool.grapnel.cmd", draw}};
  for (const auto& [key, value] : settings) {
    auto done = RunGit({"config", request.global ? "--global" : "--local", key, value});
    if (!done) return done.takeError();
  }
  return Error::success();
}

// Returns git's attributes file: the user's (configured or default) if `global`, else the
// repository's.
Expected<std::string> AttributesFile(bool global) {
  if (!global) return RunGit({"rev-parse", "--git-path", "info/attributes"});
  auto told = RunGit({"config", "--global", "--type=path", "core.attributesFile"});
  if (told && !told->empty()) return told;
  llvm::consumeError(told.takeError());
  const char* config = std::getenv("XDG_CONFIG_HOME");
  const char* home = std::getenv("HOME");
  if (config && *config) return JoinPath(config, "git/attributes");
  if (!home)
    return MakeError("HOME is not set, so there is no place for the user's git attributes");
  return JoinPath(home, ".config/git/attributes");
}

Expected<std::string> TextOfFile(const std::string& path) {
  if (!FileExists(path)) return std::string();
  ASSIGN_OR_RETURN(auto file, FileBytes::Open(path));
  return file->bytes().str();
}

}  // namespace

Expected<GitSetup> SetUpGit(const GitSetupRequest& request) {
  GitSetup setup;
  ASSIGN_OR_RETURN(setup.attributes, AttributesFile(request.global));
  RETURN_IF_ERROR(Configure(request));
  ASSIGN_OR_RETURN(std::string text, TextOfFile(setup.attributes));
  llvm::SmallVector<llvm::StringRef, 8> there;
  const std::string before = text;
  llvm::StringRef(before).split(there, '\n');
  if (!text.empty() && text.back() != '\n') text += "\n";
  for (const char* line : kLines) {
    if (llvm::is_contained(there, line)) continue;
    setup.lines.push_back(line);
    text += std::string(line) + "\n";
  }
  if (setup.lines.empty()) return setup;
  RETURN_IF_ERROR(CreateDirectories(llvm::sys::path::parent_path(setup.attributes)));
  RETURN_IF_ERROR(WriteFile(setup.attributes, text));
  return setup;
}

}  // namespace grapnel
