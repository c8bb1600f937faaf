// The tab with the library's functions: a row for each Python function with its traces, and for
// each group of other functions. The page makes the call graph from the model's document.
#include "lib/io/library_text.h"
#include "lib/serve/routes/tab.h"
#include "lib/support/printable.h"

namespace grapnel {
namespace {

class Writer {
 public:
  Writer(const FunctionLibrary& library, llvm::json::OStream& json)
      : library_(library), json_(json) {}

  void WriteRow(const FunctionRow& row) {
    json_.attribute("name", Printable(row.name));
    json_.attribute("role", RoleName(row.role));
    if (row.is_entry) json_.attribute("entry", true);
    if (row.one_body) json_.attribute("one_body", true);
    json_.attribute("traces", row.traces);
    json_.attributeArray("members", [&] {
      for (int member : row.members) json_.object([&] { WriteMember(member); });
    });
  }

 private:
  // Writes one function. It refers to other functions by the numbers of their bodies.
  void WriteMember(int number) {
    const LibraryFunction& each = library_.functions[number];
    json_.attribute("body", number + 1);
    if (each.name.number) json_.attribute("number", *each.name.number);
    json_.attribute("arguments", Printable(ArgumentsText(each)));
    std::string part = PartOfText(library_, each);
    json_.attribute("role", Printable(part.empty() ? RoleText(each) : part));
    json_.attribute("status", StatusName(each.status));
    json_.attribute("nodes", each.nodes);
    json_.attribute("bytes", static_cast<int64_t>(each.bytes));
    WriteBody("copy_of", each.copy_of);
    WriteBody("forward", each.forward);
    WriteBody("backward", each.backward);
    WriteBody("partner", each.partner);
    WriteBody("trace", each.trace);
    WriteBody("successor", each.successor);
    std::vector<std::string> values;
    for (const TraceConstant& constant : each.constants) values.push_back(ConstantText(constant));
    WriteTexts("constants", values);
    WriteTexts("has", ByScope(each.has));
    WriteTexts("lacks", ByScope(each.lacks));
  }

  void WriteBody(llvm::StringRef key, int number) {
    if (number >= 0) json_.attribute(key, number + 1);
  }

  void WriteTexts(llvm::StringRef key, llvm::ArrayRef<std::string> texts) {
    if (texts.empty()) return;
    json_.attributeArray(key, [&] {
      for (const std::string& text : texts) json_.value(Printable(text));
    });
  }

  const FunctionLibrary& library_;
  llvm::json::OStream& json_;
};

// Returns {"rows": [{"name", "role", "traces": how many of "members" are traces, "members":
// [{"body", ...}]}]}.
Expected<std::string> FunctionsJson(Page& page) {
  ASSIGN_OR_RETURN(const GraphPage* drawing, page.Drawing());
  FunctionLibrary library =
      ReadFunctionLibrary(drawing->graph(0).module(), page.FunctionsNamedOutside());
  return PageDocument([&](llvm::json::OStream& json) {
    Writer writer(library, json);
    json.object([&] {
      json.attributeArray("rows", [&] {
        for (const FunctionRow& row : library.rows) json.object([&] { writer.WriteRow(row); });
      });
    });
  });
}

Expected<Document> Functions(const RouteCall& call) { return FunctionsJson(*call.page); }

Error Write(const PageSet&, Page& page, FileDocuments& file) {
  ASSIGN_OR_RETURN(std::string functions, FunctionsJson(page));
  file.Put("functions", functions);
  return Error::success();
}

GRAPNEL_TAB({.place = 30,
             .name = "functions",
             .routes = {{Method::kGet, "{entry}/functions", kNoBody, Functions}},
             .write = Write});

}  // namespace
}  // namespace grapnel
