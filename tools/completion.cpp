// `grapnel completion SHELL`: shell completion generated from the registered commands and flags.
#include "llvm/ADT/STLExtras.h"
#include "tools/command.h"

namespace grapnel {
namespace {

struct CommandFlags {
  std::string name, help;
  std::vector<std::string> flags;
};

std::vector<CommandFlags> AllFlags() {
  std::vector<CommandFlags> all;
  std::vector<Command> commands = Commands();
  llvm::sort(commands,
             [](const Command& a, const Command& b) { return llvm::StringRef(a.name) < b.name; });
  for (const Command& command : commands) {
    CommonFlags common;
    std::vector<std::string> flags = LongFlags([&](CommandLine& line) {
      command.set_up(line);
      AddCommonFlags(line, common);
    });
    llvm::sort(flags);
    all.push_back({command.name, command.help, std::move(flags)});
  }
  return all;
}

std::string Join(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : " ") + word;
  return text;
}

void Bash(llvm::raw_ostream& os) {
  std::string names, cases;
  for (const CommandFlags& command : AllFlags()) {
    names += (names.empty() ? "" : " ") + command.name;
    cases += "    " + command.name + ") flags='" + Join(command.flags) + "' ;;\n";
  }
  os << "_grapnel() {\n  local word=${COMP_WORDS[COMP_CWORD]} flags=\n"
     << "  if [ \"$COMP_CWORD\" -eq 1 ]; then\n    mapfile -t COMPREPLY < <(compgen -W '" << names
     << "' -- \"$word\")\n    return\n  fi\n"
     << "  case ${COMP_WORDS[1]} in\n"
     << cases << "  esac\n"
     << "  case $word in\n    -*) mapfile -t COMPREPLY < <(compgen -W \"$flags\" -- \"$word\") ;;\n"
     << "    *) mapfile -t COMPREPLY < <(compgen -f -- \"$word\") ;;\n  esac\n}\n"
     << "complete -o filenames -F _grapnel grapnel\n";
}

void Zsh(llvm::raw_ostream& os) {
  os << "#compdef grapnel\n_grapnel() {\n  if (( CURRENT == 2 )); then\n    local -a commands=(\n";
  for (const CommandFlags& command : AllFlags())
    os << "      '" << command.name << ":" << command.help << "'\n";
  os << "    )\n    _describe command commands\n    return\n  fi\n  case $words[2] in\n";
  for (const CommandFlags& command : AllFlags())
    os << "    " << command.name << ") compadd -- " << Join(command.flags) << " ;;\n";
  os << "  esac\n  _files\n}\ncompdef _grapnel grapnel\n";
}

void Fish(llvm::raw_ostream& os) {
  for (const CommandFlags& command : AllFlags()) {
    os << "complete -c grapnel -n __fish_use_subcommand -a " << command.name << " -d '"
       << command.help << "'\n";
    for (const std::string& flag : command.flags) {
      os << "complete -c grapnel -n '__fish_seen_subcommand_from " << command.name << "' -l "
         << flag.substr(2) << "\n";
    }
  }
}

RunCommand SetUp(CommandLine& line) {
  line.WithoutPlugins();
  line.WithoutJson();
  auto shell = std::make_shared<std::string>();
  line.Option("SHELL", *shell, "which shell").Required().OneOf({"bash", "zsh", "fish"});
  return [shell](Invocation& invocation) -> Expected<int> {
    (*shell == "bash" ? Bash : *shell == "zsh" ? Zsh : Fish)(invocation.out());
    return kExitOk;
  };
}

GRAPNEL_COMMAND("completion", "prints completion for a shell",
                "completion bash > ~/.local/share/bash-completion/completions/grapnel", SetUp);

}  // namespace
}  // namespace grapnel
