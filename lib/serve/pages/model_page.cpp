#include "lib/serve/pages/model_page.h"

#include <utility>

#include "lib/io/named_functions.h"
#include "lib/io/signature.h"
#include "lib/job/shape_overrides.h"
#include "lib/job/source.h"
#include "lib/serve/pages/stored_values.h"

namespace grapnel {
namespace {

// Returns the largest of the functions that no function of the library calls; null if there is
// none.
const Function* LargestEntry(const Module& module) {
  FunctionLibrary library = ReadFunctionLibrary(module);
  const LibraryFunction* largest = nullptr;
  for (int entry : library.Entries()) {
    const LibraryFunction& each = library.functions[entry];
    if (!largest || each.nodes > largest->nodes) largest = &each;
  }
  return largest ? largest->function : nullptr;
}

// Shows the largest entry point first, for a library without a main graph.
void BeginAtEntry(const Module& module, GraphPage* drawing) {
  if (module.main.num_nodes() > 0 || module.functions.empty()) return;
  const Function* function = LargestEntry(module);
  if (!function) return;
  SignatureBody entry;
  entry.graph = &function->body;
  entry.function = function;
  drawing->BeginAt({std::move(entry)}, 0);
}

// Makes a signature's body the first body of the page: in a SavedModel of TensorFlow 2 it is the
// model, while the main graph only calls it, and saves and restores variables.
void BeginAtSignature(const GraphInFile& file, const Module& module, llvm::StringRef name,
                      GraphPage* drawing) {
  BeginAtEntry(module, drawing);
  if (file.module.get() != &module || file.signatures.empty()) return;
  std::vector<SignatureBody> bodies;
  std::optional<size_t> first;
  const Signature* wanted = DefaultSignature(file);
  for (const Signature& signature : file.signatures)
    if (signature.name == name) wanted = &signature;
  for (const Signature& signature : file.signatures) {
    if (&signature == wanted) first = bodies.size();
    bodies.push_back(BodyOf(file, signature));
  }
  drawing->BeginAt(std::move(bodies), first);
}

// Returns a function that reads the program's source text around a line, for the page's panel.
std::function<std::optional<PageLines::Text>(const SourceFrame&)> TextBelow(std::string path) {
  return [path = std::move(path)](const SourceFrame& frame) -> std::optional<PageLines::Text> {
    constexpr int kAround = 3;
    auto text = ReadSourceText(path, frame, kAround, SourceReach::kBelow);
    if (!text) return std::nullopt;
    return PageLines::Text{text->first, std::move(text->lines)};
  };
}

// Finds the layers of a file's graph or, if `module` is not that graph, of the module.
std::function<BoxLayers()> LayersIn(const Module& module, const GraphInFile& file) {
  return [&module, &file] {
    return BoxLayers(file.module.get() == &module ? LayersOf(file) : LayersOf(module));
  };
}

// The batch size that FLOPs assume if the model's is unknown, as `grapnel info` does.
constexpr int64_t kAssumedBatch = 1;

}  // namespace

ModelPage::ModelPage(const Module& module, const GraphInFile& file, std::string title,
                     llvm::StringRef signature)
    : Page(Kind::kModel, std::move(title)),
      module_(module),
      named_outside_(grapnel::FunctionsNamedOutside(file)),
      drawing_(module, file.signatures, this->title()) {
  BeginAtSignature(file, module, signature, &drawing_);
  drawing_.SetLayers(LayersIn(module, file));
  std::string saved_model = file.meta_graph.empty() ? std::string() : file.path;
  drawing_.SetLines(
      {[this, saved_model = std::move(saved_model)] { return LinesOf(module_, saved_model); },
       TextBelow(file.path)});
}

ModelPage::ModelPage(std::shared_ptr<const OpenedGraph> opened, std::string title,
                     llvm::StringRef signature)
    : Page(Kind::kModel, std::move(title)),
      opened_(std::move(opened)),
      module_(opened_->module()),
      named_outside_(grapnel::FunctionsNamedOutside(opened_->file())),
      drawing_(module_, opened_->file().signatures, this->title()) {
  BeginAtSignature(opened_->file(), module_, signature, &drawing_);
  drawing_.SetLayers(LayersIn(module_, opened_->file()));
  AssumeBatch(*opened_);
  ShowValues(*opened_);
  drawing_.SetLines({[this] { return LinesOf(*opened_); }, TextBelow(opened_->model().path)});
}

void ModelPage::AssumeBatch(const OpenedGraph& opened) {
  if (!HasOpenBatch(opened)) return;
  drawing_.SetSized(kAssumedBatch, [this, &opened]() -> const Module& {
    sized_.emplace(opened.Copy());
    ShapeOverrides given;
    given.batch = kAssumedBatch;
    llvm::consumeError(FillSizes(given, {}, &*sized_));  // FLOPs that need the size stay unknown
    return sized_->module();
  });
}

void ModelPage::ShowValues(const OpenedGraph& opened) {
  if (&opened.module() != &module_) return;
  if (std::optional<PageValues> values = StoredValuesOf(opened))
    drawing_.SetValues(std::move(*values));
}

void ModelPage::WriteListed(llvm::json::OStream& json) const {
  if (!address_.empty()) json.attribute("address", address_);
}

}  // namespace grapnel
