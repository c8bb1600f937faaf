#include "lib/job/case_on_model.h"

#include "lib/io/signature.h"
#include "lib/io/value.h"
#include "lib/ir/tensor_name.h"
#include "lib/support/suggest.h"
#include "lib/support/text.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

namespace grapnel {
namespace {

using Tensors = std::vector<SignatureTensor>;

std::vector<std::string> SortedKeys(const Tensors& tensors) {
  std::vector<std::string> keys;
  for (const SignatureTensor& tensor : tensors) keys.push_back(tensor.key);
  llvm::sort(keys);
  return keys;
}

// TensorFlow puts '_' for what no argument's name may hold, and small letters for capitals.
std::string AsNodeName(llvm::StringRef key) {
  std::string name;
  for (char c : key) name += llvm::isAlnum(c) || c == '_' || c == '.' ? llvm::toLower(c) : '_';
  return name;
}

// Null: none has that key.
const SignatureTensor* WithKey(llvm::StringRef key, const Tensors& tensors) {
  auto found = llvm::find_if(tensors, [&](const auto& tensor) { return tensor.key == key; });
  return found == tensors.end() ? nullptr : &*found;
}

const SignatureTensor* WithTensor(llvm::StringRef name, const Tensors& tensors) {
  auto found = llvm::find_if(tensors, [&](const auto& tensor) { return tensor.tensor == name; });
  return found == tensors.end() ? nullptr : &*found;
}

// Inputs of a frozen graph are named after the keys. Null: none is, or several may be meant.
const SignatureTensor* WithNode(llvm::StringRef name, const Tensors& tensors) {
  llvm::StringRef node = ReadTensorName(name).node;
  if (const SignatureTensor* same = WithKey(node, tensors)) return same;
  const SignatureTensor* found = nullptr;
  for (const SignatureTensor& tensor : tensors) {
    if (AsNodeName(tensor.key) != AsNodeName(node)) continue;
    if (found) return nullptr;
    found = &tensor;
  }
  return found;
}

// Whether a feed of a graph that TensorFlow froze holds what the function captured: it calls those
// "unknown", "unknown_0", ...
bool IsCapture(llvm::StringRef name) {
  llvm::StringRef node = ReadTensorName(name).node;
  if (!node.consume_front("unknown")) return false;
  return node.empty() ||
         (node.consume_front("_") && !node.empty() && llvm::all_of(node, llvm::isDigit));
}

class Finder {
 public:
  Finder(const OpenedGraph& model, const Signature& signature, const CaseSignature& captured)
      : model_(model), signature_(signature), captured_(captured) {}

  Error FindFeeds(CaseOfModel* found) {
    Case& values = found->values;
    std::vector<size_t> captures;
    for (size_t i = 0; i < values.feeds.size(); ++i) {
      const std::string& name = captured_.feeds[i];
      bool is_key = IsKey(name, values.feeds[i].tensor);
      const SignatureTensor* input = WithKey(name, signature_.inputs);
      if (!input && !is_key) input = WithTensor(name, signature_.inputs);
      if (!input && !is_key) input = WithNode(name, signature_.inputs);
      if (!input && !is_key && IsCapture(name)) {
        captures.push_back(i);
        continue;
      }
      if (!input) return NoSuch("input", name, signature_.inputs);
      values.feeds[i].tensor = input->tensor;
      found->feed_names.push_back(input->key);
    }
    for (size_t i : llvm::reverse(captures)) {
      values.feeds.erase(values.feeds.begin() + i);
      for (Case::Step& step : values.steps) step.feeds.erase(step.feeds.begin() + i);
    }
    return Error::success();
  }

  Error FindFetches(CaseOfModel* found) {
    Case& values = found->values;
    std::vector<std::string> sorted = SortedKeys(signature_.outputs);
    bool has_names = values.fetches.empty();
    for (size_t i = 0; i < values.fetches.size(); ++i) {
      const std::string& name = captured_.fetches[i];
      has_names |= IsKey(name, values.fetches[i].tensor) || WithKey(name, signature_.outputs) ||
                   WithTensor(name, signature_.outputs);
    }
    if (!has_names && sorted.size() != values.fetches.size()) {
      return MakeError(
          "{0}: has {1} of signature '{2}', which has {3} in {4}: '{5}'; capture the case again: "
          "it then has their keys",
          values.folder, Plural(static_cast<int64_t>(values.fetches.size()), "output"),
          signature_.name, sorted.size(), model_.model().path, llvm::join(sorted, "', '"));
    }
    for (size_t i = 0; i < values.fetches.size(); ++i) {
      const std::string& name = captured_.fetches[i];
      const SignatureTensor* output = WithKey(has_names ? name : sorted[i], signature_.outputs);
      bool is_key = IsKey(name, values.fetches[i].tensor);
      if (!output && !is_key) output = WithTensor(name, signature_.outputs);
      if (!output) return NoSuch("output", name, signature_.outputs);
      values.fetches[i].tensor = output->tensor;
      found->fetch_names.push_back(output->key);
    }
    return Error::success();
  }

 private:
  // case.json says of keys alone which tensors of the case's graph they are.
  static bool IsKey(llvm::StringRef name, llvm::StringRef tensor) { return name != tensor; }

  Error NoSuch(const char* what, llvm::StringRef key, const Tensors& tensors) const {
    std::string where = " in signature '" + signature_.name + "'";
    return Annotate(model_.model().path, NotFound(what, key, SortedKeys(tensors), where));
  }

  const OpenedGraph& model_;
  const Signature& signature_;
  const CaseSignature& captured_;
};

bool Fits(llvm::ArrayRef<int64_t> dims, const Shape& shape) {
  if (!shape.known_rank()) return true;
  if (static_cast<size_t>(shape.rank()) != dims.size()) return false;
  for (int i = 0; i < shape.rank(); ++i) {
    if (shape.IsKnown(i) && shape.dim(i) != dims[i]) return false;
  }
  return true;
}

}  // namespace

Expected<CaseOfModel> CaseOnItself(Case values) {
  CaseOfModel found;
  ASSIGN_OR_RETURN(CaseSignature captured, SignatureOfCase(values.folder));
  for (size_t i = 0; i < values.feeds.size(); ++i)
    found.feed_names.push_back(captured.name.empty() ? values.feeds[i].tensor : captured.feeds[i]);
  for (size_t i = 0; i < values.fetches.size(); ++i)
    found.fetch_names.push_back(captured.name.empty() ? values.fetches[i].tensor
                                                      : captured.fetches[i]);
  found.values = std::move(values);
  return found;
}

Expected<CaseOfModel> CaseOnModel(Case values, const OpenedGraph& model) {
  ASSIGN_OR_RETURN(CaseSignature captured, SignatureOfCase(values.folder));
  bool has_signatures = !llvm::all_of(model.file().signatures, IsInternal);
  if (captured.name.empty() || !has_signatures) return CaseOnItself(std::move(values));
  ASSIGN_OR_RETURN(const Signature* chosen,
                   ChooseSignature(model.model(), model.file(), captured.name));
  CaseOfModel found;
  found.values = std::move(values);
  found.signature = chosen->name;
  Finder finder(model, *chosen, captured);
  RETURN_IF_ERROR(finder.FindFeeds(&found));
  RETURN_IF_ERROR(finder.FindFetches(&found));
  return found;
}

Expected<std::vector<FeedSource>> FeedsOn(const CaseOfModel& on_model, const OpenedGraph& model) {
  std::vector<FeedSource> feeds;
  const Signature* signature = nullptr;
  if (!on_model.signature.empty()) {
    ASSIGN_OR_RETURN(signature, ChooseSignature(model.model(), model.file(), on_model.signature));
  }
  for (size_t i = 0; i < on_model.values.feeds.size(); ++i) {
    const Case::Feed& feed = on_model.values.feeds[i];
    const std::string& name = on_model.feed_names[i];
    const SignatureTensor* input = signature ? WithKey(name, signature->inputs) : nullptr;
    if (!input) {
      feeds.push_back({feed.tensor, feed.file, Tensor()});
      continue;
    }
    std::string what = "input '" + name + "'";
    auto value = LoadNpyLiteral(feed.file, input->dtype);
    if (!value) return Annotate(what, value.takeError());
    if (!Fits(value->dims(), input->shape)) {
      return MakeError("{0}: {1} has shape {2}, {3} expects {4}", what, feed.file,
                       DimsText(value->dims()), model.model().path, input->shape.ToString());
    }
    auto tensor = Tensor::FromLiteral(*value);
    if (!tensor) return Annotate(what, tensor.takeError());
    feeds.push_back({feed.tensor, "", std::move(*tensor)});
  }
  return feeds;
}

}  // namespace grapnel
