#include "lib/serve/routes/sent_documents.h"

#include "llvm/Support/Base64.h"
#include "llvm/Support/JSON.h"

namespace grapnel {
namespace {

// The most bytes of documents to embed: a page of several megabytes stays blank while the browser
// reads it.
constexpr size_t kMostSent = size_t{1} << 20;

std::string Element(llvm::StringRef path, const Document& document) {
  std::string type = document.is_table ? "application/x-grapnel-columns" : "application/json";
  std::string text = document.is_table ? llvm::encodeBase64(document.text) : document.text;
  return ("<script type=\"" + type + "\" id=\"sent " + path + "\">" + text + "</script>\n").str();
}

// Returns the number of the page that is shown first, as the beginning of its documents' paths; ""
// if there is none. `models`: the JSON list of pages.
std::string FirstModel(llvm::StringRef models) {
  auto list = llvm::json::parse(models);
  if (!list) {
    llvm::consumeError(list.takeError());
    return "";
  }
  const llvm::json::Array* entries = list->getAsArray();
  const llvm::json::Object* first =
      entries && !entries->empty() ? entries->front().getAsObject() : nullptr;
  if (auto opens = first ? first->getInteger("opens") : std::nullopt) return std::to_string(*opens);
  const llvm::json::Value* id = first ? first->get("id") : nullptr;
  if (!id) return "";
  if (auto number = id->getAsInteger()) return std::to_string(*number);
  return id->getAsString().value_or("").str();
}

class PictureDocuments {
 public:
  PictureDocuments(std::string model, AnswerOf answer)
      : model_(std::move(model)), answer_(answer) {}

  std::string All() && {
    std::optional<Document> summary = Add("model");
    if (!summary) return "";
    auto parsed = llvm::json::parse(summary->text);
    if (!parsed) {
      llvm::consumeError(parsed.takeError());
      return std::move(elements_);
    }
    const llvm::json::Object* model = parsed->getAsObject();
    int64_t first = model ? model->getInteger("first").value_or(0) : 0;
    Add("scope/" + std::to_string(first));
    const llvm::json::Array* open = model ? model->getArray("open") : nullptr;
    if (!open) return std::move(elements_);
    for (const llvm::json::Value& body : *open) {
      if (const llvm::json::Object* object = body.getAsObject()) AddBody(*object, first);
    }
    return std::move(elements_);
  }

 private:
  void AddBody(const llvm::json::Object& open, int64_t first) {
    int64_t body = open.getInteger("body").value_or(first);
    std::string path = "scope/" + std::to_string(body);
    if (body != first) Add(path);
    const llvm::json::Array* scopes = open.getArray("scopes");
    if (!scopes) return;
    for (const llvm::json::Value& scope : *scopes)
      if (auto id = scope.getAsInteger()) Add(path + "/" + std::to_string(*id));
  }

  std::optional<Document> Add(const std::string& path) {
    if (elements_.size() > kMostSent) return std::nullopt;
    std::string whole = model_ + "/" + path;
    std::optional<Document> document = answer_(whole);
    if (document && elements_.size() + document->text.size() <= kMostSent)
      elements_ += Element(whole, *document);
    return document;
  }

  std::string model_;
  AnswerOf answer_;
  std::string elements_;
};

}  // namespace

std::string SentDocument(const std::string& path, AnswerOf answer) {
  std::optional<Document> document = answer(path);
  return document && document->text.size() <= kMostSent ? Element(path, *document) : "";
}

std::string SentPicture(AnswerOf answer) {
  std::optional<Document> models = answer("models");
  std::string model = models ? FirstModel(models->text) : "";
  std::string elements = SentDocument("node-data", answer);
  if (!model.empty()) elements += PictureDocuments(std::move(model), answer).All();
  return elements;
}

}  // namespace grapnel
