// The arguments of one command. Wraps CLI11, whose header takes longer to compile than the rest of
// a command.
#ifndef GRAPNEL_TOOLS_COMMAND_LINE_H_
#define GRAPNEL_TOOLS_COMMAND_LINE_H_

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "llvm/ADT/STLFunctionalExtras.h"

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace grapnel {

// An argument as data, to generate documents and completions from.
struct ArgumentInfo {
  std::string name;        // "dump-dir"; if positional, as --help shows it, "MODEL"
  std::string short_name;  // "o", or empty
  std::string help;
  std::string shown_as;  // "FILE", or empty
  std::string type;      // "flag", "text", "integer", "number"
  std::string default_value;
  std::vector<std::string> choices;
  bool by_position = false, required = false, is_list = false;
};

// An option that the user typed: "feed" and its values; a flag has none.
struct TypedOption {
  std::string name;
  std::vector<std::string> values;
};

// Returns "grapnel NAME MODEL --passes 'a b' ...", quoted for a shell: the options in `typed` that
// the command has, then `more`. An option in `more` replaces one of the same name in `typed`.
std::string CommandText(const std::string& command, const std::string& model,
                        const std::vector<TypedOption>& typed,
                        const std::vector<TypedOption>& more);

class CommandLine {
 public:
  // Further properties of an argument; each function returns the argument.
  class Argument {
   public:
    explicit Argument(CLI::Option* option) : option_(option) {}
    Argument& Required();
    Argument& OneOf(std::vector<std::string> words);
    Argument& Positive();
    Argument& NotNegative();
    Argument& Between(int least, int most);
    Argument& Separator(char between);     // the character between the elements of a list
    Argument& Count(int least, int most);  // number of values that the argument takes
    Argument& ShownAs(const char* value);  // the value's name in --help: "GLOB"
    Argument& ShowDefault();               // --help shows the variable's current value

   private:
    Argument& Number(const std::string& wanted, const std::function<bool(double)>& is_fine);

    CLI::Option* option_;
  };

  explicit CommandLine(CLI::App& app) : app_(app) {}
  // Adds an argument. `names`: "--output" or "-o,--output"; a name without a dash is positional. T
  // is std::string, std::optional<std::string>, int, std::optional<int>, int64_t, size_t, double,
  // or a vector of strings.
  template <typename T>
  Argument Option(const char* names, T& variable, const char* help);
  Argument Flag(const char* names, bool& variable, const char* help);
  // Returns the arguments in the order added. Do not parse the command line afterwards: --help
  // would show the defaults of all arguments.
  std::vector<ArgumentInfo> Arguments() const;
  // Returns a function that returns the options that were typed; call it when the command runs.
  std::function<std::vector<TypedOption>()> Typed() const;
  // Leaves out --json, for a command without JSON output.
  void WithoutJson() { has_json_ = false; }
  // Leaves out --plugin, for a command that runs no foreign code.
  void WithoutPlugins() { has_plugins_ = false; }
  bool has_json() const { return has_json_; }
  bool has_plugins() const { return has_plugins_; }
  // Begins the options that all commands have. --help lists these last, and itself among them, so
  // that it begins with what only this command can do.
  void BeginCommon();

 private:
  CLI::App& app_;
  bool has_json_ = true, has_plugins_ = true;
  std::string heading_;  // of the options in --help; empty: CLI11's
  std::map<const CLI::Option*, std::string> types_;
};

// Returns "--help", "--output" and all other flags that `set_up` adds.
std::vector<std::string> LongFlags(llvm::function_ref<void(CommandLine&)> set_up);

}  // namespace grapnel

#endif  // GRAPNEL_TOOLS_COMMAND_LINE_H_
