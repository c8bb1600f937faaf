#include "tools/command_line.h"

#include <CLI/CLI.hpp>

#include "lib/support/suggest.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/FormatVariadic.h"
#include "tools/command.h"

namespace grapnel {

using Argument = CommandLine::Argument;

namespace {

// Returns the name that --help shows for an option's value, such as FILE. It depends only on the
// option's name, which has the same meaning in every command. Empty for positional arguments.
std::string ValueName(llvm::StringRef names) {
  if (!names.starts_with("-")) return "";
  llvm::StringRef name = names.rsplit(',').second.empty() ? names : names.rsplit(',').second;
  return llvm::StringSwitch<std::string>(name)
      .Cases("--output", "--ledger", "--log", "--tap-file", "FILE")
      .Case("--rewriter-config", "FILE|TEXT")
      .Cases("--dump-dir", "--partitions", "DIR")
      .Case("--graph", "TITLE")
      .Cases("--node", "--around", "NODE")
      .Case("--scope", "SCOPE")
      .Case("--path", "A..B")
      .Cases("--device", "--default-device", "--run-on", "DEVICE")
      .Cases("--signature", "--function", "NAME")
      .Default("");
}

}  // namespace

// Returns the name of a variable's type: "text", "integer", "number".
template <typename T>
constexpr const char* kTypeName = "text";
template <>
constexpr const char* kTypeName<int> = "integer";
template <>
constexpr const char* kTypeName<std::optional<int>> = "integer";
template <>
constexpr const char* kTypeName<int64_t> = "integer";
template <>
constexpr const char* kTypeName<size_t> = "integer";
template <>
constexpr const char* kTypeName<double> = "number";

Argument& Argument::Required() {
  option_->required();
  return *this;
}
Argument& Argument::OneOf(std::vector<std::string> words) {
  CLI::Validator is_member = CLI::IsMember(words);
  is_member.operation([words = std::move(words)](const std::string& word) -> std::string {
    if (llvm::is_contained(words, word)) return "";
    return TextOf(NotFound("choice", word, words));
  });
  option_->check(is_member);
  return *this;
}
// Checks a number here, because the message of CLI11's check would give the range of a double.
Argument& Argument::Number(const std::string& wanted, const std::function<bool(double)>& is_fine) {
  option_->check([=](const std::string& text) -> std::string {
    double number = 0;
    if (!llvm::StringRef(text).getAsDouble(number) && is_fine(number)) return "";
    return wanted + " was expected, not '" + text + "'";
  });
  return *this;
}
Argument& Argument::Positive() {
  return Number("a number above 0", [](double number) { return number > 0; });
}
Argument& Argument::NotNegative() {
  return Number("a number of at least 0", [](double number) { return number >= 0; });
}
Argument& Argument::Between(int least, int most) {
  return Number(llvm::formatv("a number from {0} to {1}", least, most).str(),
                [=](double number) { return least <= number && number <= most; });
}
Argument& Argument::Separator(char between) {
  option_->delimiter(between);
  return *this;
}
Argument& Argument::Count(int least, int most) {
  option_->expected(least, most);
  return *this;
}
Argument& Argument::ShownAs(const char* value) {
  option_->type_name(value);
  return *this;
}
Argument& Argument::ShowDefault() {
  option_->capture_default_str();
  return *this;
}

template <typename T>
Argument CommandLine::Option(const char* names, T& variable, const char* help) {
  CLI::Option* option = app_.add_option(names, variable, help);
  // Each use of a flag takes one value; otherwise a flag with a list would also take the MODEL that
  // follows it.
  if (names[0] == '-') option->allow_extra_args(false);
  if (!heading_.empty()) option->group(heading_);
  std::string value = ValueName(names);
  if (!value.empty() || names[0] != '-') option->type_name(value);
  types_[option] = kTypeName<T>;
  return Argument(option);
}
template Argument CommandLine::Option(const char*, std::string&, const char*);
template Argument CommandLine::Option(const char*, std::optional<std::string>&, const char*);
template Argument CommandLine::Option(const char*, int&, const char*);
template Argument CommandLine::Option(const char*, std::optional<int>&, const char*);
template Argument CommandLine::Option(const char*, int64_t&, const char*);
template Argument CommandLine::Option(const char*, size_t&, const char*);
template Argument CommandLine::Option(const char*, double&, const char*);
template Argument CommandLine::Option(const char*, std::vector<std::string>&, const char*);

Argument CommandLine::Flag(const char* names, bool& variable, const char* help) {
  CLI::Option* option = app_.add_flag(names, variable, help);
  if (!heading_.empty()) option->group(heading_);
  types_[option] = "flag";
  return Argument(option);
}

std::function<std::vector<TypedOption>()> CommandLine::Typed() const {
  return [&app = app_] {
    std::vector<TypedOption> typed;
    for (const CLI::Option* option : app.get_options()) {
      if (option->count() == 0 || option->get_positional()) continue;
      TypedOption& one = typed.emplace_back();
      one.name = option->get_lnames()[0];
      if (option->get_items_expected_max() == 0) continue;
      std::string separator(1, option->get_delimiter());
      one.values = option->results();
      if (option->get_delimiter()) one.values = {llvm::join(one.values, separator)};
    }
    return typed;
  };
}

void CommandLine::BeginCommon() {
  heading_ = "Common options";
  app_.set_help_flag("-h,--help", "print this help and exit")->group(heading_);
}

std::vector<ArgumentInfo> CommandLine::Arguments() const {
  std::vector<ArgumentInfo> arguments;
  for (CLI::Option* option : app_.get_options()) {
    auto type = types_.find(option);
    if (type == types_.end()) continue;  // --help
    ArgumentInfo& argument = arguments.emplace_back();
    argument.by_position = option->get_positional();
    argument.name =
        argument.by_position ? option->get_name(/*positional=*/true) : option->get_lnames()[0];
    if (!option->get_snames().empty()) argument.short_name = option->get_snames()[0];
    argument.help = option->get_description();
    argument.type = type->second;
    if (argument.type != "flag" && !argument.by_position)
      argument.shown_as = option->get_type_name();
    // OneOf() is shown as "TEXT:{a,b}".
    auto [shown, choices] = llvm::StringRef(argument.shown_as).split(":{");
    llvm::SmallVector<llvm::StringRef> words;
    choices.trim('}').split(words, ',', -1, /*KeepEmpty=*/false);
    argument.choices.assign(words.begin(), words.end());
    argument.shown_as = shown.str();
    argument.required = option->get_required();
    argument.is_list = option->get_items_expected_max() > 1;
    argument.default_value = option->capture_default_str()->get_default_str();
  }
  return arguments;
}

// Quotes a word for a shell.
static std::string Quoted(llvm::StringRef word) {
  constexpr llvm::StringLiteral kPlain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=:,./@%^";
  if (!word.empty() && word.find_first_not_of(kPlain) == llvm::StringRef::npos) return word.str();
  std::string quoted = "'";
  for (char letter : word) quoted += letter == '\'' ? "'\\''" : std::string(1, letter);
  return quoted + "'";
}

std::string CommandText(const std::string& command, const std::string& model,
                        const std::vector<TypedOption>& typed,
                        const std::vector<TypedOption>& more) {
  std::string text = "grapnel " + command + " " + Quoted(model);
  auto add = [&](const TypedOption& option) {
    std::string name = (option.name.size() == 1 ? "-" : "--") + option.name;
    if (option.values.empty()) text += " " + name;
    // Uses the form "--name=value" if the value could be taken for an option.
    for (llvm::StringRef value : option.values)
      text += " " + name + (value.starts_with("-") ? "=" : " ") + Quoted(value);
  };
  auto found = llvm::find_if(Commands(), [&](const Command& one) { return one.name == command; });
  for (const ArgumentInfo& argument : ArgumentsOf(*found)) {
    auto is_it = [&](const TypedOption& option) { return option.name == argument.name; };
    auto option = llvm::find_if(typed, is_it);
    if (option != typed.end() && llvm::none_of(more, is_it)) add(*option);
  }
  for (const TypedOption& option : more) add(option);
  return text;
}

std::vector<std::string> LongFlags(llvm::function_ref<void(CommandLine&)> set_up) {
  CLI::App app;
  CommandLine line(app);
  set_up(line);
  std::vector<std::string> names;
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  }
  return names;
}

}  // namespace grapnel
