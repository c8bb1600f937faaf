#include "python/src/call.h"

#include <nanobind/stl/map.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "lib/exec/named_feed.h"
#include "lib/support/file.h"
#include "lib/support/memory_file.h"
#include "lib/support/printable.h"
#include "lib/support/version.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/raw_ostream.h"
#include "python/src/gil.h"
#include "python/src/passes.h"
#include "python/src/values.h"
#include "python/src/work.h"
#include "tools/command.h"
#include "tools/program.h"

namespace nb = nanobind;

namespace grapnel::python {
namespace {

// The inputs and results of running a command.
class CommandWork : public Work {
 public:
  CommandWork(std::vector<std::string> arguments, std::vector<std::unique_ptr<NamedFeed>> feeds,
              const nb::list& definitions, bool shows_progress)
      : arguments_(std::move(arguments)), feeds_(std::move(feeds)) {
    if (shows_progress)
      caller_.progress = [this](llvm::StringRef what, int64_t done, int64_t total) {
        SetStep(what, done, total);
      };
    if (nb::len(definitions) == 0) return;
    passes_.emplace(definitions, caller_.cancel);
    caller_.passes = &passes_->registry();
  }

  CancelFlag& cancel() { return caller_.cancel; }
  const std::string& out() const { return out_; }
  const std::string& err() const { return err_; }
  std::vector<std::pair<std::string, Tensor>>& values() { return values_; }
  int code() const { return code_; }
  const std::string& error() const { return error_; }
  // Returns the exception that a Python pass or rule raised, or null.
  nb::handle raised() const { return passes_ ? nb::handle(passes_->raised()) : nb::handle(); }

 private:
  void Run() override {
    if (!passes_) return RunCommand();
    // The thread keeps its Python thread state from here on: creating the state for each call of a
    // rule takes longer than the rule.
    TakenGil taken;
    ReleasedGil released;
    RunCommand();
  }
  void Interrupted() override {
    if (passes_) passes_->Interrupt();
  }

  void RunCommand() {
    Expected<int> code = CallCommand(arguments_, caller_);
    if (code)
      code_ = *code;
    else
      error_ = TextOf(code.takeError());
    feeds_.clear();
  }

  std::vector<std::string> arguments_;
  std::vector<std::unique_ptr<NamedFeed>> feeds_;
  std::string out_, err_, error_;
  llvm::raw_string_ostream raw_out_{out_}, raw_err_{err_};
  PrintableStream printable_out_{raw_out_}, printable_err_{raw_err_};
  std::vector<std::pair<std::string, Tensor>> values_;
  int code_ = 0;
  Caller caller_{
      printable_out_,
      printable_err_,
      [this](Severity severity, llvm::StringRef text) { AddMessage(severity, text); },
      {},
      [this](std::string why) { GiveUp(std::move(why)); },
      [this](const std::string& name, const Tensor& value) { values_.emplace_back(name, value); },
      nullptr};
  std::optional<CallerPasses> passes_;
};

// Raises a Python Error; `cause`, if not null, becomes its __cause__.
[[noreturn]] void RaiseFrom(const std::string& text, nb::handle cause) {
  if (!cause) Raise(text);
  nb::object type = nb::module_::import_("tfgrapnel._tfgrapnel").attr("Error");
  nb::object error = type(text);
  error.attr("__cause__") = cause;
  PyErr_SetObject(type.ptr(), error.ptr());
  throw nb::python_error();
}

nb::str TextFrom(const std::string& bytes) {
  return nb::steal<nb::str>(
      PyUnicode_DecodeUTF8(bytes.data(), static_cast<Py_ssize_t>(bytes.size()), "replace"));
}

using List = nb::typed<nb::list, nb::any>;

// Runs a command; returns (code, out, err, [(name, value)]). `feeds`: name -> (dtype, dims,
// elements), as ValueOf returns them; `tell`: called with the severity and text of each message;
// `passes`: as CallerPasses takes them; `show`: called with the current step and progress, or None.
nb::typed<nb::tuple, int, nb::str, nb::str, List> Call(
    std::vector<std::string> arguments, const nb::typed<nb::dict, nb::str, nb::any>& feeds,
    const nb::typed<nb::callable, void(nb::str, nb::str)>& tell, const List& passes,
    const nb::object& show) {
  std::vector<std::unique_ptr<NamedFeed>> named;
  for (auto [name, value] : feeds)
    named.push_back(std::make_unique<NamedFeed>(nb::cast<std::string>(name),
                                                TensorOf(nb::cast<nb::tuple>(value))));
  auto work = std::make_shared<CommandWork>(std::move(arguments), std::move(named), passes,
                                            !show.is_none());
  auto hand_on = [&](Severity severity, const std::string& text) {
    tell(severity == Severity::kError     ? "error"
         : severity == Severity::kWarning ? "warning"
                                          : "info",
         TextFrom(text));
  };
  Work::Show hand_step;
  if (!show.is_none())
    hand_step = [&](const Work::Step& step) { show(TextFrom(step.what), step.done, step.total); };
  if (!work->Do(work, work->cancel(), hand_on, hand_step)) Raise(work->why_given_up());
  if (!work->error().empty()) RaiseFrom(work->error(), work->raised());
  nb::list values;
  for (auto& [name, value] : work->values())
    values.append(nb::make_tuple(TextFrom(name), ValueOf(std::move(value))));
  return nb::make_tuple(work->code(), TextFrom(work->out()), TextFrom(work->err()), values);
}

nb::dict DictOf(const ArgumentInfo& info) {
  nb::dict argument;
  argument["name"] = info.name;
  argument["short_name"] = info.short_name;
  argument["help"] = info.help;
  argument["shown_as"] = info.shown_as;
  argument["type"] = info.type;
  argument["default"] = info.default_value;
  argument["choices"] = info.choices;
  argument["by_position"] = info.by_position;
  argument["required"] = info.required;
  argument["is_list"] = info.is_list;
  return argument;
}

// Returns the descriptions of all commands.
List DescribeCommands() {
  std::vector<Command> sorted = Commands();
  llvm::sort(sorted,
             [](const Command& a, const Command& b) { return llvm::StringRef(a.name) < b.name; });
  nb::list commands;
  for (const Command& command : sorted) {
    nb::list arguments;
    for (const ArgumentInfo& info : ArgumentsOf(command)) arguments.append(DictOf(info));
    nb::dict made;
    made["name"] = command.name;
    made["help"] = command.help;
    made["example"] = command.example;
    made["arguments"] = arguments;
    commands.append(made);
  }
  return commands;
}

MemoryFile* MakeMemoryFile(std::string name) {
  auto file = MemoryFile::Create(std::move(name));
  if (!file) Raise(TextOf(file.takeError()));
  return file->release();
}

void WriteTo(MemoryFile& file, const nb::bytes& bytes) {
  Error error = file.Write({static_cast<const char*>(bytes.data()), bytes.size()});
  if (error) Raise(TextOf(std::move(error)));
}

nb::bytes BytesOf(const MemoryFile& file) {
  auto bytes = FileBytes::Open(file.name());
  if (!bytes) Raise(TextOf(bytes.takeError()));
  return nb::bytes((*bytes)->bytes().data(), (*bytes)->bytes().size());
}

}  // namespace

void AddCalls(nb::module_& module) {
  module.attr("version") = GRAPNEL_VERSION;
  module.def("commands", DescribeCommands);
  module.def("call", Call, nb::arg("arguments"), nb::arg("feeds"), nb::arg("tell"),
             nb::arg("passes"), nb::arg("show").none());
  nb::class_<MemoryFile>(module, "MemoryFile")
      .def(nb::new_([](std::string name) { return MakeMemoryFile(std::move(name)); }),
           nb::arg("name"))
      .def("write", WriteTo, nb::arg("data"))
      .def("read", BytesOf)
      .def_prop_ro("name", &MemoryFile::name)
      .def_prop_ro("empty", &MemoryFile::empty);
}

}  // namespace grapnel::python
