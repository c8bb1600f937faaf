#include "lib/serve/pages/model_page.h"

#include <utility>

#include "lib/io/signature.h"

namespace grapnel {
namespace {

// What a signature runs is the model; the main graph around it calls, saves and restores.
void BeginAtSignature(const GraphInFile& file, GraphPage* drawing) {
  if (!file.module) return;
  auto body_of = [&](const Signature& signature) {
    const Function* function = BodyOf(file, signature).function;
    return function ? function->name().str() : std::string();
  };
  std::vector<std::string> bodies;
  for (const Signature& signature : file.signatures) bodies.push_back(body_of(signature));
  const Signature* first = DefaultSignature(file);
  drawing->BeginAt(std::move(bodies), first ? body_of(*first) : "");
}

}  // namespace

ModelPage::ModelPage(const Module& module, const GraphInFile& file, std::string title)
    : Page(Kind::kModel, std::move(title)),
      module_(module),
      drawing_(module, file.signatures, this->title()) {
  BeginAtSignature(file, &drawing_);
}

ModelPage::ModelPage(std::shared_ptr<const OpenedGraph> opened, std::string title)
    : Page(Kind::kModel, std::move(title)),
      opened_(std::move(opened)),
      module_(opened_->module()),
      drawing_(module_, opened_->file().signatures, this->title()) {
  BeginAtSignature(opened_->file(), &drawing_);
}

}  // namespace grapnel
