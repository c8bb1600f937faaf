// `grapnel check-gradients MODEL|CASE`: compares a graph's gradients with finite differences.
#include "lib/job/check_gradients.h"

#include "lib/io/write.h"
#include "lib/ir/summary.h"
#include "lib/support/json.h"
#include "lib/support/name_file.h"
#include "lib/support/text.h"
#include "lib/trace/gradient_rule.h"
#include "tools/document.h"
#include "tools/input.h"
#include "tools/run_flags.h"
#include "tools/time_limit.h"

namespace grapnel {
namespace {

struct Flags {
  std::string model, output;
  RunFlags run;
  std::vector<std::string> by;
  double tolerance = 0, step = 0;
  int elements = 32;
  bool list = false;
  TimeLimit limit;
};

// Returns "[1,2]" for element 5 of a [2,3].
std::string PlaceOf(int64_t index, llvm::ArrayRef<int64_t> dims) {
  Dims place(dims.size());
  for (size_t i = dims.size(); i-- > 0; index /= dims[i]) place[i] = index % dims[i];
  return DimsText(place);
}

void WriteText(const GradientCheck& check, llvm::raw_ostream& out) {
  for (const CheckedTensor& tensor : check.tensors) {
    out << (tensor.ok() ? "ok    " : "WRONG ") << tensor.label << ": " << DataTypeName(tensor.dtype)
        << DimsText(tensor.dims) << ", ";
    if (!tensor.is_connected) {
      out << "no gradient";
      if (tensor.ok()) out << ", and no difference\n";
    } else {
      out << tensor.checked << " of " << NumElements(tensor.dims).value_or(0) << " elements";
      if (tensor.ok())
        out << ", off by " << llvm::format("%.2g", tensor.worst.error) << " at most\n";
    }
    if (tensor.ok()) continue;
    out << ": at " << PlaceOf(tensor.worst.index, tensor.dims) << " the gradient is "
        << llvm::format("%.6g", tensor.worst.made) << ", finite differences say "
        << llvm::format("%.6g", tensor.worst.measured) << "\n";
  }
}

void WriteTensor(const CheckedTensor& tensor, llvm::json::OStream& json) {
  json.attribute("tensor", tensor.name);
  json.attribute("dtype", DataTypeName(tensor.dtype));
  json.attributeArray("shape", [&] {
    for (int64_t dim : tensor.dims) json.value(dim);
  });
  json.attribute("connected", tensor.is_connected);
  json.attribute("checked", tensor.checked);
  json.attribute("ok", tensor.ok());
  json.attribute("tolerance", NumberOrText(tensor.tolerance));
  json.attributeObject("worst", [&] {
    json.attribute("element", PlaceOf(tensor.worst.index, tensor.dims));
    json.attribute("gradient", NumberOrText(tensor.worst.made));
    json.attribute("measured", NumberOrText(tensor.worst.measured));
    json.attribute("error", NumberOrText(tensor.worst.error));
  });
}

void WriteCheck(const GradientCheck& check, llvm::json::OStream& json) {
  json.attribute("ok", check.ok());
  json.attributeArray("of", [&] {
    for (const std::string& y : check.ys) json.value(y);
  });
  json.attributeArray("by", [&] {
    for (const CheckedTensor& tensor : check.tensors)
      json.object([&] { WriteTensor(tensor, json); });
  });
}

// Writes the graph with the gradients of the fetches, without a check.
Expected<int> Write(OpenedGraph& opened, const Flags& flags, Invocation& invocation) {
  auto ends = FindGradientEnds(opened, flags.run.signature, flags.run.fetches, flags.by);
  if (!ends) return NameFile(flags.model, ends.takeError());
  auto made = AddGradients(opened.module(), ends->ys, ends->xs);
  if (!made) return NameFile(flags.model, made.takeError());
  RETURN_IF_ERROR(WriteGraph(*made->module, flags.output));
  for (size_t i = 0; i < ends->xs.size(); ++i) {
    llvm::StringRef gradient = made->gradients[i];
    invocation.out() << ends->labels[i] << " " << (gradient.empty() ? "none" : gradient) << "\n";
  }
  invocation.Wrote(flags.output, Plural(CountNodes(*made->module), "node"));
  return kExitOk;
}

// Lists the ops with a gradient, and in JSON also the ops that are known to have no gradient.
int List(Invocation& invocation) {
  if (!invocation.flags.json) {
    for (const GradientEntry* entry : AllGradients()) {
      if (entry->fn && entry->op != "(function)") invocation.out() << entry->op << "\n";
    }
    return kExitOk;
  }
  WriteDocument(invocation.out(), [](llvm::json::OStream& json) {
    json.attributeArray("ops", [&] {
      for (const GradientEntry* entry : AllGradients()) {
        if (entry->op == "(function)") continue;
        json.object([&] {
          json.attribute("op", entry->op);
          json.attribute("gradient", entry->fn != nullptr);
          if (entry->refusal) json.attribute("refusal", entry->refusal);
        });
      }
    });
  });
  return kExitOk;
}

Expected<int> Run(const Flags& flags, Invocation& invocation) {
  if (flags.list) return List(invocation);
  if (flags.model.empty()) return MakeError("check-gradients: which model? (--list shows the ops)");
  ASSIGN_OR_RETURN(OpenedGraph opened, OpenInput(flags.model, flags.run.graph, invocation.sink()));
  RETURN_IF_ERROR(flags.run.Use(&opened));
  if (!flags.output.empty()) return Write(opened, flags, invocation);
  GradientCheckRequest request;
  ASSIGN_OR_RETURN(request.run, flags.run.Request());
  ThreadPool pool(invocation.flags.threads);
  CancelFlag& cancel = invocation.cancel();
  request.run.pool = &pool;
  request.run.cancel = &cancel;
  request.run.sink = invocation.sink();
  request.by = flags.by;
  request.tolerance = flags.tolerance;
  request.step = flags.step;
  request.elements = flags.elements;
  Deadline deadline = flags.limit.Begin(cancel, flags.model, invocation);
  auto check = CheckGradients(opened, request);
  if (cancel.is_set()) {
    if (!check) llvm::consumeError(check.takeError());
    return MakeError("{0}: {1}", flags.model, flags.limit.Text());
  }
  if (!check) return NameFile(flags.model, check.takeError());
  if (invocation.flags.json)
    WriteDocument(invocation.out(), [&](llvm::json::OStream& json) { WriteCheck(*check, json); });
  else
    WriteText(*check, invocation.out());
  return check->ok() ? kExitOk : kExitNo;
}

RunCommand SetUp(CommandLine& line) {
  auto flags = std::make_shared<Flags>();
  line.Option("MODEL", flags->model, "a model, or a case folder with its feeds");
  flags->run.AddTo(line, "a tensor whose gradients are checked; default: as in `run`", "NAME");
  flags->run.AddVariablesTo(line);
  line.Option("--by", flags->by,
              "check only gradients with respect to this feed or variable; default: all "
              "floating-point ones")
      .ShownAs("NAME");
  line.Option("--elements", flags->elements, "how many elements of each tensor to measure at most")
      .Positive()
      .ShowDefault();
  line.Option("--tolerance", flags->tolerance,
              "allowed error relative to the largest derivative of the tensor; default: by dtype");
  line.Option(
      "--step", flags->step,
      "change of an element relative to its size, for finite differences; default: by dtype");
  line.Option("-o,--output", flags->output,
              "instead of checking, write the graph with its gradients, and print which tensor is "
              "the gradient of which")
      .ShownAs("GRAPH");
  line.Flag("--list", flags->list, "list the ops with a gradient");
  flags->limit.AddTo(line, "stop with an error after this time; default: never");
  return [flags](Invocation& invocation) { return Run(*flags, invocation); };
}

GRAPNEL_COMMAND("check-gradients", "compares the gradients of a graph with finite differences",
                "check-gradients model.pb --fetch loss", SetUp);

}  // namespace
}  // namespace grapnel
