#include "tools/line_editor.h"

#include <dlfcn.h>
#include <editline/readline.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <iostream>

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

namespace grapnel {
namespace {

class PlainLines : public LineSource {
 public:
  std::optional<std::string> Next(const char* prompt) override {
    std::cout << prompt << std::flush;
    std::string line;
    if (!std::getline(std::cin, line)) return std::nullopt;
    return line;
  }
};

// libedit's functions with the names and the global state of GNU readline.
struct Library {
  decltype(&readline) read_line = nullptr;
  decltype(&add_history) add = nullptr;
  decltype(&read_history) load = nullptr;
  decltype(&write_history) save = nullptr;
  decltype(&rl_completion_matches) matches = nullptr;
  decltype(&rl_attempted_completion_function) complete = nullptr;
  decltype(&rl_line_buffer) line = nullptr;
  decltype(&rl_completion_append_character) append = nullptr;
  decltype(&rl_attempted_completion_over) is_over = nullptr;

  // Returns false if libedit is not installed, or lacks a function.
  bool Load() {
    void* library = dlopen("libedit.so.2", RTLD_NOW);
    if (!library) return false;
    auto find = [&](auto* function, const char* name) {
      *function = reinterpret_cast<std::remove_pointer_t<decltype(function)>>(dlsym(library, name));
      return *function != nullptr;
    };
    return find(&read_line, "readline") && find(&add, "add_history") &&
           find(&load, "read_history") && find(&save, "write_history") &&
           find(&matches, "rl_completion_matches") &&
           find(&complete, "rl_attempted_completion_function") && find(&line, "rl_line_buffer") &&
           find(&append, "rl_completion_append_character") &&
           find(&is_over, "rl_attempted_completion_over");
  }
};

// Global, since libedit's callbacks have no user argument.
Library library;
Completer completer_of_line;
std::vector<std::string> candidates;

char* NextCandidate(const char* /*text*/, int state) {
  if (static_cast<size_t>(state) >= candidates.size()) return nullptr;
  return strdup(candidates[state].c_str());
}

char** CompleteWord(const char* text, int /*start*/, int end) {
  std::string line = std::string(*library.line).substr(0, end);
  candidates = completer_of_line(line);
  // libedit ends words at some characters that node names may contain, so the word that is
  // completed begins earlier than `text`.
  size_t typed = line.find_last_of(" \t`(");
  size_t skipped = line.size() - (typed == std::string::npos ? 0 : typed + 1) - std::strlen(text);
  for (std::string& candidate : candidates) candidate.erase(0, std::min(skipped, candidate.size()));
  *library.is_over = 1;
  *library.append = 0;
  return library.matches(text, NextCandidate);
}

std::string HistoryFile() {
  llvm::SmallString<128> path;
  const char* state = std::getenv("XDG_STATE_HOME");
  const char* home = std::getenv("HOME");
  if (state && *state) {
    path = state;
  } else if (home && *home) {
    path = home;
    llvm::sys::path::append(path, ".local", "state");
  } else {
    return "";
  }
  llvm::sys::path::append(path, "grapnel");
  if (llvm::sys::fs::create_directories(path)) return "";
  llvm::sys::path::append(path, "debug_history");
  return path.str().str();
}

class EditedLines : public LineSource {
 public:
  explicit EditedLines(Completer completer) : history_(HistoryFile()) {
    completer_of_line = std::move(completer);
    *library.complete = CompleteWord;
    if (!history_.empty()) library.load(history_.c_str());
  }
  ~EditedLines() override {
    if (!history_.empty()) library.save(history_.c_str());
    completer_of_line = nullptr;
  }
  std::optional<std::string> Next(const char* prompt) override {
    char* typed = nullptr;
    do {
      errno = 0;
      typed = library.read_line(prompt);
    } while (!typed && errno == EINTR);
    if (!typed) return std::nullopt;
    std::string line = typed;
    std::free(typed);
    if (line.find_first_not_of(" \t") != std::string::npos && line != last_)
      library.add(line.c_str());
    last_ = line;
    return line;
  }

 private:
  std::string history_, last_;
};

}  // namespace

std::unique_ptr<LineSource> MakeLineEditor(Completer completer) {
  if (!library.Load()) return std::make_unique<PlainLines>();
  return std::make_unique<EditedLines>(std::move(completer));
}

}  // namespace grapnel
