// The arguments of one command. A cover over CLI11, whose header costs every file that includes it
// more than the rest of the command.
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

// An argument as data, for what is made of a command beside its --help.
struct ArgumentInfo {
  std::string name;        // "dump-dir"; by position as --help shows it, "MODEL"
  std::string short_name;  // "o", or empty
  std::string help;
  std::string shown_as;  // "FILE", or empty
  std::string type;      // "flag", "text", "integer", "number"
  std::string default_value;
  std::vector<std::string> choices;
  bool by_position = false, required = false, is_list = false;
};

// An option as it was typed: "feed" and its values; a flag has none.
struct TypedOption {
  std::string name;
  std::vector<std::string> values;
};

// "grapnel NAME MODEL --passes 'a b' ...", quoted for a shell: of `typed` what the command has,
// then `more`, which stands instead of what was typed under those names.
std::string CommandText(const std::string& command, const std::string& model,
                        const std::vector<TypedOption>& typed,
                        const std::vector<TypedOption>& more);

class CommandLine {
 public:
  // What else is to be said of an argument; each returns itself.
  class Argument {
   public:
    explicit Argument(CLI::Option* option) : option_(option) {}
    Argument& Required();
    Argument& OneOf(std::vector<std::string> words);
    Argument& Positive();
    Argument& NotNegative();
    Argument& Between(int least, int most);
    Argument& Separator(char between);     // of the elements of a list
    Argument& Count(int least, int most);  // how many values it takes
    Argument& ShownAs(const char* value);  // what --help puts in the value's place: "GLOB"
    Argument& ShowDefault();               // --help says what the variable holds now

   private:
    Argument& Number(const std::string& wanted, const std::function<bool(double)>& is_fine);

    CLI::Option* option_;
  };

  explicit CommandLine(CLI::App& app) : app_(app) {}
  // "--output" or "-o,--output"; without a dash, by position. T is std::string, an optional one,
  // int, int64_t, size_t, double, or a vector of strings.
  template <typename T>
  Argument Option(const char* names, T& variable, const char* help);
  Argument Flag(const char* names, bool& variable, const char* help);
  // What was added, in that order. For who parses nothing: --help would then show all defaults.
  std::vector<ArgumentInfo> Arguments() const;
  // Gives the options that were typed, once they were: call it when the command runs.
  std::function<std::vector<TypedOption>()> Typed() const;
  // For a command that has nothing to say in JSON: --json is none of its flags.
  void WithoutJson();
  // For a command that runs no code of others.
  void WithoutPlugins();

 private:
  CLI::App& app_;
  std::map<const CLI::Option*, std::string> types_;
};

// "--help", "--output" and all others that `set_up` adds.
std::vector<std::string> LongFlags(llvm::function_ref<void(CommandLine&)> set_up);

}  // namespace grapnel

#endif  // GRAPNEL_TOOLS_COMMAND_LINE_H_
