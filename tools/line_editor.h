// Lines that a person types at a terminal, with history and completion.
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
  // nullopt: there are no more.
  virtual std::optional<std::string> Next(const char* prompt) = 0;
  virtual bool is_script() const { return false; }
};

// What the last word of a line may be.
using Completer = std::function<std::vector<std::string>(const std::string& line)>;

// With libedit, which is loaded now; where it is not installed, lines without history. The history
// is kept in $XDG_STATE_HOME/grapnel/debug_history, else in ~/.local/state. One at a time.
std::unique_ptr<LineSource> MakeLineEditor(Completer completer);

}  // namespace grapnel

#endif  // GRAPNEL_TOOLS_LINE_EDITOR_H_
