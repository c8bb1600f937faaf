#include "tools/program.h"

#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cstdlib>

#include "lib/job/plugin.h"
#include "lib/support/exceptions.h"
#include "lib/support/file.h"
#include "lib/support/plugin.h"
#include "lib/support/printable.h"
#include "lib/support/suggest.h"
#include "llvm/Support/Signals.h"
#include "tools/built_with.h"
#include "tools/command.h"
#include "tools/progress.h"

namespace grapnel {

std::vector<Command>& Commands() {
  static std::vector<Command>* commands = new std::vector<Command>;
  return *commands;
}

void AddCommonFlags(CommandLine& line, CommonFlags& flags) {
  line.BeginCommon();
  if (line.has_json()) line.Flag("--json", flags.json, "print JSON in a stable format");
  line.Flag("-q,--quiet", flags.quiet,
            "print no warnings and no progress; many commands print no result either");
  line.Flag("-v,--verbose", flags.verbose, "also print informational messages on stderr");
  line.Option("--log-level", flags.log_level,
              "lowest level of messages to print on stderr; default: TF_CPP_MIN_LOG_LEVEL, else "
              "warning")
      .OneOf({"info", "warning", "error"});
  line.Option("--threads", flags.threads, "threads to use; default: one per core").Between(0, 4096);
  line.Option("--memory", flags.memory,
              "memory limit for values, as 8G or 50%; default: 80% of free memory")
      .ShownAs("SIZE");
  if (line.has_plugins())
    line.Option("--plugin", flags.plugins,
                "a shared object with its own passes, rules, kernels or functions to trace; may be "
                "repeated (docs/reference/library.md)")
        .ShownAs("FILE.so");
  line.Option("--color", flags.color, "when to print in colors; auto: on a terminal")
      .OneOf({"auto", "always", "never"})
      .ShowDefault();
}

namespace {

Severity LevelFrom(const CommonFlags& flags) {
  llvm::StringRef name = flags.log_level;
  if (name == "info" || flags.verbose) return Severity::kInfo;
  if (name == "warning") return Severity::kWarning;
  if (name == "error" || flags.quiet) return Severity::kError;
  // TensorFlow users often have this variable set: 0 shows all messages, 1 no information, 2 no
  // warnings.
  const char* level = std::getenv("TF_CPP_MIN_LOG_LEVEL");
  if (name.empty() && level)
    return level[0] == '0'   ? Severity::kInfo
           : level[0] == '1' ? Severity::kWarning
                             : Severity::kError;
  return Severity::kWarning;
}

// Formats a parse error; for an unknown command or flag, suggests similar names.
std::string WhatIsWrong(const CLI::App& app, const CLI::ParseError& error) {
  std::vector<std::string> unknown = app.remaining(/*recurse=*/true);
  llvm::erase_if(unknown, [](const std::string& word) { return word == "--"; });
  std::vector<std::string> names;
  if (!unknown.empty() && app.get_subcommands().empty() && unknown[0][0] != '-') {
    for (const Command& command : Commands()) names.push_back(command.name);
    return TextOf(NotFound("command", unknown[0], names));
  }
  std::string text = llvm::StringRef(error.what()).rtrim().str();
  llvm::StringRef rest = text;
  if (rest.consume_front("Could not convert: ")) {
    auto [name, value] = rest.split(" = ");
    return (name + ": a whole number was expected, not '" + value + "'").str();
  }
  auto [name, what] = llvm::StringRef(text).split(": 1 required ");
  if (what.consume_back(" missing")) return (name + ": " + what + " was expected").str();
  if (unknown.empty() || app.get_subcommands().empty()) return text;
  for (const CLI::Option* option : app.get_subcommands()[0]->get_options()) {
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  }
  if (unknown[0][0] == '-') return TextOf(NotFound("option", unknown[0], names));
  return "argument '" + unknown[0] + "' was not expected";
}

// Runs a command; every command is called through this function. Exceptions of libraries become
// errors.
Expected<int> Run(const RunCommand& run, Invocation& invocation) {
  if (!invocation.flags.memory.empty()) {
    auto bytes = ParseMemory(invocation.flags.memory);
    if (!bytes) return Annotate("--memory", bytes.takeError());
    MemoryBudget::Get().SetLimit(*bytes);
  }
  for (const std::string& plugin : invocation.flags.plugins) RETURN_IF_ERROR(LoadPlugin(plugin));
  return WithoutExceptions([&] { return run(invocation); });
}

void Write(llvm::StringRef text) {
  [[maybe_unused]] ssize_t written = write(STDERR_FILENO, text.data(), text.size());
}

// Ends the program because a file that is being read was truncated. Called in a signal handler,
// which must not allocate memory.
void EndOnCutFile(const char* path) {
  Write("grapnel: ");
  Write(path);
  Write(": was truncated while it was read; try again when it is complete\n");
  llvm::sys::RunInterruptHandlers();  // removes unfinished files
  std::_Exit(kExitBadInput);
}

void EndInConstructor(const char* path, const char* why) {
  Write("grapnel: ");
  Write(path);
  Write(": a constructor ");
  Write(why);
  Write("\n");
  std::_Exit(kExitBadInput);
}

// Returns `code`, or an error if a file was truncated during the command: everything that was read
// from it, even an error, is then unreliable.
Expected<int> WithWholeFiles(Expected<int> code) {
  Error cut = CheckOpenFiles();
  if (!cut) cut = CheckClosedFiles();
  if (!cut) return code;
  if (!code) llvm::consumeError(code.takeError());
  return cut;
}

// The command line: all commands with name and help. Commands that `arguments` contains also have
// their flags.
class Parser {
 public:
  Parser(llvm::ArrayRef<const char*> arguments, Invocation& invocation);

  // Parses the arguments, of which the first is the program's name. Throws CLI11's errors.
  void Parse(llvm::ArrayRef<const char*> arguments) {
    app_.parse(static_cast<int>(arguments.size()), arguments.data());
  }
  CLI::App& app() { return app_; }
  // Returns the selected command, and the function that runs it.
  const std::pair<CLI::App*, RunCommand>& command() const {
    return *llvm::find_if(commands_, [](const auto& command) { return command.first->parsed(); });
  }

 private:
  CLI::App app_;
  std::vector<std::pair<CLI::App*, RunCommand>> commands_;
};

Parser::Parser(llvm::ArrayRef<const char*> arguments, Invocation& invocation)
    : app_(
          "Opens TensorFlow graphs: shows them, optimizes them as Grappler does, runs them and "
          "reports what happened.",
          "grapnel") {
  // CLI11 stops at --version before it reports unknown arguments.
  bool is_verbose = llvm::any_of(arguments.drop_front(), [](llvm::StringRef argument) {
    return argument == "--verbose" || argument == "-v";
  });
  app_.set_version_flag("--version", is_verbose ? BuiltWithText() : VersionText(),
                        "the version; with --verbose the build configuration");
  app_.require_subcommand(1);
  app_.footer(
      "`grapnel COMMAND --help` explains a command. Exit codes: 0 fine, 1 the answer is no, 2 bad "
      "usage or input.");
  std::vector<Command> sorted = Commands();
  llvm::sort(sorted,
             [](const Command& a, const Command& b) { return llvm::StringRef(a.name) < b.name; });
  for (const Command& command : sorted) {
    CLI::App* sub = app_.add_subcommand(command.name, command.help);
    // Creating the flags of all commands takes a third of the startup time, so only the flags of
    // the named commands are created.
    if (!llvm::is_contained(arguments, llvm::StringRef(command.name))) continue;
    sub->footer(std::string("Example:\n  grapnel ") + command.example);
    CommandLine line(*sub);
    commands_.emplace_back(sub, command.set_up(line));
    AddCommonFlags(line, invocation.flags);
  }
}

}  // namespace

int RunProgram(int argc, const char* const* argv) {
  Invocation invocation;
  if (argc > 0) invocation.program = argv[0];
  std::vector<const char*> arguments(argv, argv + argc);
  // As in other programs, `help COMMAND` shows the help of a command.
  if (argc > 1 && llvm::StringRef(argv[1]) == "help") {
    arguments.erase(arguments.begin() + 1);
    arguments.push_back("--help");
  }
  Parser parser(arguments, invocation);
  CLI::App& app = parser.app();
  if (argc == 1) {
    invocation.err() << app.help();
    return kExitBadInput;
  }
  try {
    parser.Parse(arguments);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return app.exit(error);  // --help, --version
    invocation.err() << "grapnel: " << WhatIsWrong(app, error) << "\n";
    invocation.err() << "(`grapnel"
                     << (app.get_subcommands().empty() ? ""
                                                       : " " + app.get_subcommands()[0]->get_name())
                     << " --help` lists the options)\n";
    return kExitBadInput;
  }
  const auto& [sub, run] = parser.command();
  OnCutFile(EndOnCutFile);
  OnThrowingConstructor(EndInConstructor);
  if (!invocation.flags.quiet) Progress::Start(sub->get_name());
  Expected<int> code = Run(run, invocation);
  Progress::End();
  if (!invocation.follows_files) code = WithWholeFiles(std::move(code));
  invocation.out().flush();
  llvm::outs().flush();
  if (!code) {
    invocation.err() << "grapnel: " << TextOf(code.takeError()) << "\n";
    return kExitBadInput;
  }
  if (llvm::outs().has_error()) {
    llvm::outs().clear_error();
    invocation.err() << "grapnel: standard output: cannot write\n";
    return kExitBadInput;
  }
  return *code;
}

Expected<int> CallCommand(llvm::ArrayRef<std::string> arguments, Caller& caller) {
  std::vector<const char*> words = {"grapnel"};
  for (const std::string& argument : arguments) words.push_back(argument.c_str());
  Invocation invocation(&caller);
  Parser parser(words, invocation);
  try {
    parser.Parse(words);
  } catch (const CLI::ParseError& error) {
    return MakeError("{0}", WhatIsWrong(parser.app(), error));
  }
  std::string wrong_before = TextOf(CheckClosedFiles());  // errors of earlier calls
  Expected<int> code = Run(parser.command().second, invocation);
  caller.out.flush();
  caller.err.flush();
  Error cut = CheckOpenFiles();
  if (!cut) cut = CheckClosedFiles();
  std::string wrong = TextOf(std::move(cut));
  if (wrong.empty() || wrong == wrong_before) return code;
  if (!code) llvm::consumeError(code.takeError());
  return MakeError("{0}", wrong);
}

std::vector<ArgumentInfo> ArgumentsOf(const Command& command) {
  CLI::App app;
  CommonFlags common;
  CommandLine line(app);
  RunCommand owner = command.set_up(line);  // owns the flags' variables
  AddCommonFlags(line, common);
  return line.Arguments();
}

// One stream for stdout and one for stderr, like llvm::outs() and llvm::errs().
static PrintableStream& PrintableOut() {
  static auto* stream = new PrintableStream(llvm::outs());
  return *stream;
}
static PrintableStream& PrintableErr() {
  static auto* stream = [] {
    auto* made = new PrintableStream(llvm::errs());
    made->SetUnbuffered();
    return made;
  }();
  return *stream;
}

llvm::raw_ostream& Invocation::out() {
  if (caller_) return caller_->out;
  Progress::MakeWay();
  if (UseColor()) PrintableOut().AllowColor();
  return PrintableOut();
}
llvm::raw_ostream& Invocation::err() {
  if (caller_) return caller_->err;
  Progress::MakeWay();
  return PrintableErr();
}

MessageSink Invocation::sink() {
  if (caller_) return caller_->sink;
  Severity least = LevelFrom(flags);
  return [least](Severity severity, llvm::StringRef text) {
    if (severity < least) return;
    const char* label = severity == Severity::kError     ? "error: "
                        : severity == Severity::kWarning ? "warning: "
                                                         : "";
    Progress::MakeWay();
    PrintableErr() << "grapnel: " << label << text << "\n";
  };
}

void Invocation::ReportProgress(llvm::StringRef what, int64_t done, int64_t total) {
  if (!caller_)
    Progress::Report(what, done, total);
  else if (caller_->progress)
    caller_->progress(what, done, total);
}

void Invocation::Wrote(llvm::StringRef path, llvm::StringRef content) {
  if (caller_ || flags.quiet || path.empty() || path == "-" || path.starts_with("/dev/")) return;
  out().flush();  // a file is the last thing that a command tells of
  llvm::outs().flush();
  err() << "wrote " << path;
  if (!content.empty()) err() << " (" << content << ")";
  err() << "\n";
}

bool Invocation::UseColor() const {
  if (caller_) return false;
  if (flags.color != "auto") return flags.color == "always";
  const char* no_color = std::getenv("NO_COLOR");
  return llvm::outs().is_displayed() && (!no_color || !*no_color);
}

}  // namespace grapnel
