// Reads lines from a terminal, with history and completion.
#ifndef GRAPNEL_TOOLS_LINE_EDITOR_H_
#define GRAPNEL_TOOLS_LINE_EDITOR_H_

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace grapnel {

class LineSource {
 public:
  virtual ~LineSource() = default;
  // Returns the next line; nullopt at the end.
  virtual std::optional<std::string> Next(const char* prompt) = 0;
  virtual bool is_script() const { return false; }
};

// Returns the completions of the last word of a line.
using Completer = std::function<std::vector<std::string>(const std::string& line)>;

// Loads and uses libedit; if libedit is not installed, reads lines without history and completion.
// The history is in $XDG_STATE_HOME/grapnel/debug_history, else in ~/.local/state. At most one
// editor may exist at a time.
std::unique_ptr<LineSource> MakeLineEditor(Completer completer);

}  // namespace grapnel

#endif  // GRAPNEL_TOOLS_LINE_EDITOR_H_
