// `grapnel man [COMMAND]`: manual pages, generated from the commands' help.
#include "lib/support/file.h"
#include "lib/support/suggest.h"
#include "lib/support/text.h"
#include "lib/support/version.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include "tools/command.h"

namespace grapnel {
namespace {

// Escapes text for roff: hyphens can be copied, and no line begins like a roff request.
std::string Escaped(llvm::StringRef text) {
  std::string roff;
  for (char c : text) {
    if ((c == '.' || c == '\'') && (roff.empty() || roff.back() == '\n')) roff += "\\&";
    if (c == '\\') {
      roff += "\\e";
    } else if (c == '-') {
      roff += "\\-";
    } else {
      roff += c;
    }
  }
  return roff;
}

std::string Bold(llvm::StringRef text) { return "\\fB" + Escaped(text) + "\\fR"; }
std::string Italic(llvm::StringRef text) { return "\\fI" + Escaped(text) + "\\fR"; }

std::string TitleLine(llvm::StringRef page) {
  return llvm::formatv(".TH {0} 1 \"\" \"grapnel {1}\" \"grapnel\"\n", Escaped(page.upper()),
                       GRAPNEL_VERSION)
      .str();
}

std::string ValueOf(const ArgumentInfo& argument) {
  if (argument.type == "flag") return "";
  return argument.shown_as.empty() ? "VALUE" : argument.shown_as;
}

std::string Synopsis(const Command& command, llvm::ArrayRef<ArgumentInfo> arguments) {
  std::string text = Bold("grapnel") + " " + Bold(command.name) + " [" + Italic("OPTION") + "]...";
  for (const ArgumentInfo& argument : arguments) {
    if (!argument.by_position) continue;
    std::string name = Italic(argument.name) + (argument.is_list ? "..." : "");
    text += " " + (argument.required ? name : "[" + name + "]");
  }
  return text + "\n";
}

void WriteArgument(const ArgumentInfo& argument, llvm::raw_ostream& os) {
  os << ".TP\n";
  if (argument.by_position) {
    os << Italic(argument.name);
  } else {
    if (!argument.short_name.empty()) os << Bold("-" + argument.short_name) << ", ";
    os << Bold("--" + argument.name);
    if (std::string value = ValueOf(argument); !value.empty()) os << " " << Italic(value);
  }
  os << "\n" << Escaped(argument.help) << "\n";
  if (!argument.choices.empty())
    os << "One of: " << Escaped(llvm::join(argument.choices, ", ")) << ".\n";
  bool has_default = argument.type != "flag" && !argument.default_value.empty();
  if (has_default && argument.default_value != "[]" && argument.default_value != "\"\"")
    os << "Default: " << Escaped(argument.default_value) << ".\n";
}

void WriteEnd(llvm::raw_ostream& os) {
  os << ".SH EXIT STATUS\n0: fine. 1: the answer is no. 2: bad usage or input.\n"
     << ".SH ENVIRONMENT\n"
     << ".TP\n\\fBTF_CPP_MIN_LOG_LEVEL\\fR\n0: all messages, 1: no information, 2: no warnings.\n"
     << ".TP\n\\fBNO_COLOR\\fR\nNo colors on a terminal.\n";
}

void WritePage(const Command& command, llvm::raw_ostream& os) {
  std::vector<ArgumentInfo> arguments = ArgumentsOf(command);
  std::string page = std::string("grapnel-") + command.name;
  os << TitleLine(page) << ".SH NAME\n"
     << Escaped(page) << " \\- " << Escaped(command.help) << "\n.SH SYNOPSIS\n"
     << Synopsis(command, arguments) << ".SH OPTIONS\n";
  for (bool by_position : {true, false}) {
    for (const ArgumentInfo& argument : arguments) {
      if (argument.by_position == by_position) WriteArgument(argument, os);
    }
  }
  os << ".SH EXAMPLE\n.nf\ngrapnel " << Escaped(command.example) << "\n.fi\n";
  WriteEnd(os);
  os << ".SH SEE ALSO\n\\fBgrapnel\\fR(1)\n";
}

std::vector<Command> Sorted() {
  std::vector<Command> commands = Commands();
  llvm::sort(commands,
             [](const Command& a, const Command& b) { return llvm::StringRef(a.name) < b.name; });
  return commands;
}

void WriteFirstPage(llvm::raw_ostream& os) {
  os << TitleLine("grapnel")
     << ".SH NAME\ngrapnel \\- opens, optimizes, runs and debugs TensorFlow graphs\n"
     << ".SH SYNOPSIS\n\\fBgrapnel\\fR \\fICOMMAND\\fR [\\fIOPTION\\fR]... [\\fIARGUMENT\\fR]...\n"
     << ".SH DESCRIPTION\n"
     << "A MODEL is any of: GraphDef (.pb, .pbtxt), text (.gtxt), each also .gz, SavedModel\n"
     << "folder or file, MetaGraph, event file, dump folder, case folder, \\- for standard input;\n"
     << "recognized by content, not by name. \\fBgrapnel\\fR \\fICOMMAND\\fR \\fB\\-\\-help\\fR\n"
     << "and \\fBgrapnel\\-\\fICOMMAND\\fR(1) explain a command.\n"
     << ".SH COMMANDS\n";
  std::string others;
  for (const Command& command : Sorted()) {
    os << ".TP\n" << Bold(command.name) << "\n" << Escaped(command.help) << "\n";
    others +=
        (others.empty() ? "" : ",\n") + ("\\fBgrapnel\\-" + Escaped(command.name)) + "\\fR(1)";
  }
  os << ".SH OPTIONS\n"
        ".TP\n"
        "\\fB\\-\\-version\\fR\n"
        "The version; with \\fB\\-\\-verbose\\fR the build configuration.\n";
  WriteEnd(os);
  os << ".SH SEE ALSO\n" << others << "\n";
}

Error WriteFiles(const std::string& folder) {
  if (std::error_code code = llvm::sys::fs::create_directories(folder))
    return MakeError("{0}: {1}", folder, code.message());
  std::string text;
  llvm::raw_string_ostream os(text);
  WriteFirstPage(os);
  RETURN_IF_ERROR(WriteFile(folder + "/grapnel.1", text));
  for (const Command& command : Commands()) {
    text.clear();
    WritePage(command, os);
    RETURN_IF_ERROR(WriteFile(folder + "/grapnel-" + command.name + ".1", text));
  }
  return Error::success();
}

struct ManFlags {
  std::string command, folder;
};

Expected<int> Run(const ManFlags& flags, Invocation& invocation) {
  if (!flags.folder.empty()) {
    if (!flags.command.empty())
      return MakeError("--output writes all pages: leave '{0}' out", flags.command);
    RETURN_IF_ERROR(WriteFiles(flags.folder));
    invocation.Wrote(flags.folder, Plural(Commands().size() + 1, "page"));
    return kExitOk;
  }
  if (flags.command.empty()) {
    WriteFirstPage(invocation.out());
    return kExitOk;
  }
  std::vector<std::string> names;
  for (const Command& command : Commands()) {
    names.push_back(command.name);
    if (flags.command != command.name) continue;
    WritePage(command, invocation.out());
    return kExitOk;
  }
  return NotFound("command", flags.command, names);
}

RunCommand SetUp(CommandLine& line) {
  line.WithoutPlugins();
  line.WithoutJson();
  auto flags = std::make_shared<ManFlags>();
  line.Option("COMMAND", flags->command, "the command; default: the page of grapnel itself");
  line.Option("-o,--output", flags->folder, "write all pages into a folder").ShownAs("DIR");
  return [flags](Invocation& invocation) { return Run(*flags, invocation); };
}

GRAPNEL_COMMAND("man", "prints a manual page for `man -l`", "man opt | man -l -", SetUp);

}  // namespace
}  // namespace grapnel
