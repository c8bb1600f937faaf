#include "lib/serve/pages/model_page.h"

#include <utility>

namespace grapnel {

ModelPage::ModelPage(const Module& module, llvm::ArrayRef<Signature> signatures, std::string title)
    : Page(Kind::kModel, std::move(title)),
      module_(module),
      drawing_(module, signatures, this->title()) {}

ModelPage::ModelPage(std::shared_ptr<const OpenedGraph> opened, std::string title)
    : Page(Kind::kModel, std::move(title)),
      opened_(std::move(opened)),
      module_(opened_->module()),
      drawing_(module_, opened_->file().signatures, this->title()) {}

}  // namespace grapnel
