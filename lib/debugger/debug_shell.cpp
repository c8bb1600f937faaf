#include "lib/debugger/debug_shell.h"

#include "lib/debugger/debug_command.h"
#include "lib/debugger/debug_values.h"
#include "lib/ir/tensor_name.h"
#include "lib/job/source.h"
#include "lib/support/suggest.h"
#include "lib/support/text.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

namespace grapnel {
namespace {

constexpr size_t kLineWidth = 110;
constexpr size_t kMostTensors = 6;    // shown at a stop
constexpr int64_t kMostElements = 8;  // shown of a sparse or ragged tensor

std::vector<llvm::ArrayRef<DebugCommand>> AllCommands() {
  return {SteppingCommands(), ListingCommands(), TensorCommands()};
}

// Returns the frames as text, innermost first: "in step that u calls", "in body that w calls,
// iteration 2".
std::vector<std::string> FrameTexts(llvm::ArrayRef<StopFrame> frames) {
  std::vector<std::string> texts;
  for (const StopFrame& frame : llvm::reverse(frames)) {
    std::string text = "in loop " + frame.loop;
    if (frame.function) {
      text = "in " + frame.function->name().str();
      text += frame.caller.empty() ? " that a dataset calls" : " that " + frame.caller + " calls";
    }
    if (frame.iteration >= 0) text += ", iteration " + std::to_string(frame.iteration);
    texts.push_back(std::move(text));
  }
  return texts;
}

const DebugCommand* FindCommand(llvm::StringRef name) {
  for (llvm::ArrayRef<DebugCommand> commands : AllCommands()) {
    for (const DebugCommand& command : commands) {
      if (llvm::is_contained(command.names, name)) return &command;
    }
  }
  return nullptr;
}

std::vector<std::string> CommandNames() {
  std::vector<std::string> names = {"help", "exit", "quit"};
  for (llvm::ArrayRef<DebugCommand> commands : AllCommands()) {
    for (const DebugCommand& command : commands)
      names.insert(names.end(), command.names.begin(), command.names.end());
  }
  llvm::sort(names);
  return names;
}

Error UnknownCommand(llvm::StringRef name) {
  return MakeError("command '{0}' not found{1} (`help` lists them)", name,
                   DidYouMean(name, CommandNames()));
}

Error Help(llvm::StringRef name, llvm::raw_ostream& os) {
  if (name.empty()) {
    std::vector<std::vector<std::string>> rows = {{"command", "", ""}};
    const char* const titles[] = {"the run", "the graph", "tensors"};
    for (auto [i, commands] : llvm::enumerate(AllCommands())) {
      os << (i ? "\n" : "") << titles[i] << "\n";
      rows.clear();
      for (const DebugCommand& command : commands) {
        rows.push_back({"  " + llvm::join(llvm::ArrayRef(command.names), ", "),
                        llvm::StringRef(command.help).split('\n').first.str()});
      }
      os << Table(rows);
    }
    os << "\n`help COMMAND` explains a command; `exit` ends.\n";
    return Error::success();
  }
  const DebugCommand* command = FindCommand(name);
  if (!command) return UnknownCommand(name);
  os << command->names[0] << " " << command->usage << "\n" << command->help << "\n";
  if (command->names.size() > 1)
    os << "also: " << llvm::join(llvm::ArrayRef(command->names).drop_front(), ", ") << "\n";
  return Error::success();
}

// For a program in eager mode: returns the error that it created no node that the breakpoint names.
// Otherwise returns "".
std::string WhyNotMet(const Debugger& debugger, const Breakpoint& breakpoint) {
  if (!debugger.grows() || breakpoint.number <= 0) return "";
  auto found = Breakpoint::Parse(breakpoint.text(), debugger.module(), debugger.lines(), {},
                                 debugger.finder());
  return found ? "" : TextOf(found.takeError());
}

// At the end of a run: writes, for each breakpoint that was never hit, the reason if it is known.
void WriteUnmet(Debugger& debugger, llvm::raw_ostream& os) {
  for (const Breakpoint& breakpoint : debugger.breakpoints()) {
    if (breakpoint.hits > 0) continue;
    std::string why =
        breakpoint.unanswered > 0 ? UnansweredText(breakpoint) : WhyNotMet(debugger, breakpoint);
    if (!why.empty())
      os << "breakpoint " << breakpoint.number << ", " << breakpoint.text() << ": " << why << "\n";
  }
}

}  // namespace

std::string TypeText(const Tensor& tensor) {
  std::string type = NumPyTypeName(tensor.dtype());
  if (tensor.dtype() == proto::DT_STRING) type = "string";
  return type + " " + NumPyShapeText(tensor.dims());
}

bool IsFlag(llvm::StringRef word) {
  return HasPrefix(word, "--") || (word.size() > 1 && word[0] == '-' && llvm::isAlpha(word[1]));
}

std::string UnansweredText(const Breakpoint& breakpoint) {
  if (breakpoint.unanswered == 0) return "";
  return "for " + Plural(breakpoint.unanswered, "tensor") +
         " the condition had no answer: " + breakpoint.problem;
}

std::string NameIn(const Graph& graph, NodeId node) {
  std::string name = graph.node(node).name().str();
  const Function* function = FunctionOf(graph);
  return function ? (function->name() + "/" + name).str() : name;
}

void DebugShell::ShowStop(const DebugStop& stop) {
  const char* cyan = color_ ? "\033[36m" : "";
  const char* red = color_ ? "\033[31m" : "";
  const char* end = color_ ? "\033[0m" : "";
  std::string run = stop.run > 1 ? ", run " + std::to_string(stop.run) : "";
  std::string subject = stop.run > 1 ? "run " + std::to_string(stop.run) : "the run";
  for (int number : stop.breakpoints) {
    for (const Breakpoint& breakpoint : debugger_.breakpoints()) {
      if (breakpoint.number == number && number > 0)
        os_ << "breakpoint " << number << ", " << breakpoint.text() << "\n";
    }
  }
  if (!stop.filter.empty()) os_ << "filter " << llvm::StringRef(stop.filter).drop_front(3) << "\n";
  if (stop.why == DebugStop::Why::kEnded) {
    os_ << subject << " has ended after " << Plural(stop.step, "step") << "\n";
    WriteUnmet(debugger_, os_);
    for (size_t i = 0; i < stop.fetched.size(); ++i) {
      if (stop.fetched[i])
        os_ << "  " << debugger_.fetch_names()[i] << " = " << stop.fetched[i].ToString() << "\n";
    }
    return;
  }
  if (stop.why == DebugStop::Why::kFailed) {
    os_ << red << subject << " failed" << end << ": " << stop.error << "\n";
    WriteUnmet(debugger_, os_);
  }
  if (!stop.node) return;
  if (stop.failed)
    os_ << red << "[" << stop.failed_step << "] " << stop.failed.name() << " (" << stop.failed.op()
        << ") failed" << end << ": the program continues; the error is shown when it ends\n";
  bool is_after = stop.phase == DebugStop::Phase::kAfter;
  std::string place = "[" + std::to_string(stop.step) + run + "] ";
  os_ << place
      << (stop.why == DebugStop::Why::kFailed ? "in "
          : is_after                          ? "after "
                                              : "before ")
      << cyan << stop.node.name() << end << " (" << stop.node.op() << ")";
  size_t column = place.size() + stop.node.name().size() + stop.node.op().size() + 10;
  for (const std::string& frame : FrameTexts(stop.frames)) {
    bool wraps = column + frame.size() > kLineWidth;
    os_ << (wraps ? ",\n    " : ", ") << frame;
    column = (wraps ? 4 : column + 2) + frame.size();
  }
  os_ << "\n";
  if (std::optional<SourceFrame> line = LineOf(debugger_.StackOf(stop.node))) {
    std::string text = uses_files ? TextOfLine(debugger_.path(), *line) : "";
    os_ << "  at " << FrameText(*line) << (text.empty() ? "" : ": " + text) << "\n";
  }
  std::vector<std::vector<std::string>> rows;
  if (is_after) {
    for (size_t i = 0; i < stop.outputs.size() && i < kMostTensors; ++i) {
      if (stop.outputs[i])
        rows.push_back({"  made ", OutputName(stop.node.name(), static_cast<int>(i)),
                        stop.outputs[i].ToString()});
    }
  } else {
    int count = std::min(stop.node.num_inputs(), static_cast<int>(stop.inputs.size()));
    for (int i = 0; i < count && i < static_cast<int>(kMostTensors); ++i) {
      Port from = stop.node.input(i);
      if (from.node == kNoNode || !stop.inputs[i]) continue;
      rows.push_back({"  reads", OutputName(stop.node.graph().node(from.node).name(), from.index),
                      stop.inputs[i].ToString()});
    }
  }
  size_t all = is_after ? stop.outputs.size() : stop.inputs.size();
  os_ << Table(rows);
  for (const WholeValue& whole : WholeValuesAt(stop, kMostElements)) {
    if (whole.is_read == is_after) continue;
    os_ << (is_after ? "  made   " : "  reads  ") << whole.name << (whole.name.empty() ? "" : " = ")
        << whole.text << "\n";
  }
  if (all > kMostTensors) os_ << "  and " << all - kMostTensors << " more (ni)\n";
}

Expected<std::optional<DebugOrder>> DebugShell::Do(llvm::StringRef line) {
  line = line.trim();
  if (line.empty() || line[0] == '#') return std::nullopt;
  size_t size = line.find_first_of(" \t");
  llvm::StringRef name = line.take_front(size), rest = line.substr(name.size()).trim();
  if (name == "help" || name == "h") {
    RETURN_IF_ERROR(Help(rest, os_));
    return std::nullopt;
  }
  if (name == "exit" || name == "quit" || name == "q") {
    DebugOrder order;
    order.go = DebugOrder::Go::kQuit;
    return std::optional(order);
  }
  const DebugCommand* command = FindCommand(name);
  if (!command) {
    if (name == "invoke_stepper")
      return MakeError("invoke_stepper was removed in TensorFlow 1.15; use `step`");
    return UnknownCommand(name);
  }
  ASSIGN_OR_RETURN(DebugWords words, DebugWords::Parse(rest));
  return command->run(*this, words);
}

std::vector<std::string> DebugShell::Complete(llvm::StringRef line) const {
  llvm::StringRef word = line.substr(line.find_last_of(" \t`(") + 1);
  if (line.find_last_of(" \t`(") == llvm::StringRef::npos) word = line;
  std::vector<std::string> found;
  auto add = [&](llvm::StringRef name) {
    if (HasPrefix(name, word)) found.push_back(name.str());
  };
  if (word.size() == line.ltrim().size()) {
    for (const std::string& name : CommandNames()) add(name);
  } else {
    for (const Node& node : debugger_.here().nodes()) add(node.name());
    for (const Node& node : debugger_.module().main.nodes()) add(node.name());
    for (const auto& function : debugger_.module().functions) {
      add(function->name());
      add("func:" + function->name().str());
    }
    for (const std::string& filter : TensorFilterNames()) add(filter);
    for (const std::string& function : FunctionNames()) add(function + "(");
  }
  llvm::sort(found);
  found.erase(std::unique(found.begin(), found.end()), found.end());
  return found;
}

// --- DebugWords

Expected<DebugWords> DebugWords::Parse(llvm::StringRef text) {
  DebugWords words;
  words.rest_ = text.str();
  std::string word;
  bool has_word = false;
  int depth = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    char c = text[i];
    bool is_quote = c == '"' || c == '\'';
    if (is_quote) {
      size_t end = text.find(c, i + 1);
      if (end == llvm::StringRef::npos) return MakeError("a {0} is not closed", c);
      // Quotes inside brackets belong to an expression and stay.
      word += depth > 0 ? text.slice(i, end + 1).str() : text.slice(i + 1, end).str();
      has_word = true;
      i = end;
      continue;
    }
    if (c == '[' || c == '(') ++depth;
    if (c == ']' || c == ')') --depth;
    bool is_blank = c == ' ' || c == '\t';
    // "x:0 [0, :]" is one argument.
    if (is_blank && has_word && word[0] != '-' && HasPrefix(text.drop_front(i).ltrim(), "["))
      continue;
    if (!is_blank || depth > 0) {
      word += c;
      has_word = true;
    } else if (has_word) {
      words.words_.push_back(std::exchange(word, ""));
      has_word = false;
    }
  }
  if (depth > 0) return MakeError("a bracket is not closed");
  if (has_word) words.words_.push_back(word);
  return words;
}

bool DebugWords::TakeFlag(llvm::StringRef flag, llvm::StringRef other) {
  auto found = llvm::find_if(
      words_, [&](const std::string& w) { return w == flag || (!other.empty() && w == other); });
  if (found == words_.end()) return false;
  words_.erase(found);
  return true;
}

Expected<std::optional<std::string>> DebugWords::TakeOption(llvm::StringRef flag,
                                                            llvm::StringRef other) {
  for (size_t i = 0; i < words_.size(); ++i) {
    if (words_[i] != flag && (other.empty() || words_[i] != other)) continue;
    if (i + 1 == words_.size()) return MakeError("{0}: a value was expected", flag);
    std::string value = words_[i + 1];
    words_.erase(words_.begin() + i, words_.begin() + i + 2);
    taken_at_ = i;
    return std::optional(value);
  }
  return std::nullopt;
}

Expected<std::optional<std::string>> DebugWords::TakeExpression(llvm::StringRef flag,
                                                                llvm::StringRef other) {
  ASSIGN_OR_RETURN(std::optional<std::string> text, TakeOption(flag, other));
  if (!text) return std::nullopt;
  while (taken_at_ < words_.size() && !IsFlag(words_[taken_at_])) {
    *text += " " + words_[taken_at_];
    words_.erase(words_.begin() + taken_at_);
  }
  return text;
}

Expected<std::optional<int64_t>> DebugWords::TakeNumber(llvm::StringRef flag,
                                                        llvm::StringRef other) {
  ASSIGN_OR_RETURN(std::optional<std::string> text, TakeOption(flag, other));
  if (!text) return std::nullopt;
  int64_t number = 0;
  if (llvm::StringRef(*text).getAsInteger(10, number))
    return MakeError("{0} {1}: an integer was expected", flag, *text);
  return std::optional(number);
}

Expected<std::vector<std::string>> DebugWords::Names(size_t least, size_t most,
                                                     const char* what) const {
  for (const std::string& word : words_) {
    if (IsFlag(word))
      return MakeError(
          "{0} is not a flag of this command; `help` with the command's name lists them", word);
  }
  if (words_.size() < least || words_.size() > most) return MakeError("{0} was expected", what);
  return words_;
}

}  // namespace grapnel
