#include "lib/job/case_on_model.h"

#include "lib/io/signature.h"
#include "lib/io/value.h"
#include "lib/ir/find.h"
#include "lib/ir/fits_shape.h"
#include "lib/ir/tensor_name.h"
#include "lib/support/name_list.h"
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

// Returns the argument name that TensorFlow makes of a key: '_' for characters that an argument
// name cannot contain, and lower case for capitals.
std::string AsNodeName(llvm::StringRef key) {
  std::string name;
  for (char c : key) name += llvm::isAlnum(c) || c == '_' || c == '.' ? llvm::toLower(c) : '_';
  return name;
}

// Returns null if there is no such key.
const SignatureTensor* WithKey(llvm::StringRef key, const Tensors& tensors) {
  auto found = llvm::find_if(tensors, [&](const auto& tensor) { return tensor.key == key; });
  return found == tensors.end() ? nullptr : &*found;
}

const SignatureTensor* WithTensor(llvm::StringRef name, const Tensors& tensors) {
  auto found = llvm::find_if(tensors, [&](const auto& tensor) { return tensor.tensor == name; });
  return found == tensors.end() ? nullptr : &*found;
}

// Returns the input whose key matches the name of a frozen graph's input, which TensorFlow derives
// from the key; null if no key matches, or several do.
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

// True if a feed of a graph that TensorFlow froze is a value captured by the function: such feeds
// are called "unknown", "unknown_0", ...
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
      found->own_feeds.push_back(values.feeds[i].tensor);
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
          "{0}: has {1} of signature '{2}', but {4} has {3}: {5}; capture the case again so that "
          "it has their keys",
          values.folder, Plural(static_cast<int64_t>(values.fetches.size()), "output"),
          signature_.name, sorted.size(), model_.model().path, NameList(sorted));
    }
    for (size_t i = 0; i < values.fetches.size(); ++i) {
      const std::string& name = captured_.fetches[i];
      const SignatureTensor* output = WithKey(has_names ? name : sorted[i], signature_.outputs);
      bool is_key = IsKey(name, values.fetches[i].tensor);
      if (!output && !is_key) output = WithTensor(name, signature_.outputs);
      if (!output) return NoSuch("output", name, signature_.outputs);
      found->own_fetches.push_back(values.fetches[i].tensor);
      values.fetches[i].tensor = output->tensor;
      found->fetch_names.push_back(output->key);
    }
    return Error::success();
  }

 private:
  // True if `name` is a key. case.json maps keys to tensors; any other name is the tensor's own
  // name.
  static bool IsKey(llvm::StringRef name, llvm::StringRef tensor) { return name != tensor; }

  Error NoSuch(const char* what, llvm::StringRef key, const Tensors& tensors) const {
    std::string where = " in signature '" + signature_.name + "'";
    return Annotate(model_.model().path, NotFound(what, key, SortedKeys(tensors), where));
  }

  const OpenedGraph& model_;
  const Signature& signature_;
  const CaseSignature& captured_;
};

// Checks that the case has a value for each placeholder of the signature that an output depends on.
Error CheckInputs(const CaseOfModel& found, const OpenedGraph& model, const Signature& signature) {
  const Graph& main = model.module().main;
  std::vector<NodeId> needed = NeededNodes(main, signature);
  for (const SignatureTensor& input : signature.inputs) {
    if (llvm::is_contained(found.feed_names, input.key)) continue;
    std::optional<Port> port = FindTensorIfThere(main, input.tensor);
    if (!port || !llvm::is_contained(needed, port->node)) continue;
    if (main.node(port->node).op() != "Placeholder") continue;
    return MakeError("{0}: has no value for input '{1}' of signature '{2}' in {3}",
                     found.values.folder, input.key, signature.name, model.model().path);
  }
  return Error::success();
}

}  // namespace

Expected<CaseOfModel> CaseOnItself(Case values) {
  CaseOfModel found;
  ASSIGN_OR_RETURN(CaseSignature captured, SignatureOfCase(values.folder));
  for (size_t i = 0; i < values.feeds.size(); ++i)
    found.feed_names.push_back(captured.name.empty() ? values.feeds[i].tensor : captured.feeds[i]);
  for (const Case::Feed& feed : values.feeds) found.own_feeds.push_back(feed.tensor);
  for (const Case::Fetch& fetch : values.fetches) found.own_fetches.push_back(fetch.tensor);
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

Error FillFromCase(const CaseOfModel& on_model, const OpenedGraph& model, RunRequest* run) {
  const Signature* signature = nullptr;
  if (!on_model.signature.empty()) {
    ASSIGN_OR_RETURN(signature, ChooseSignature(model.model(), model.file(), on_model.signature));
    RETURN_IF_ERROR(CheckInputs(on_model, model, *signature));
    run->signature = on_model.signature;
  }
  std::vector<FeedSource> given = std::move(run->feeds);
  run->feeds.clear();
  for (size_t i = 0; i < on_model.values.feeds.size(); ++i) {
    const Case::Feed& feed = on_model.values.feeds[i];
    const std::string& name = on_model.feed_names[i];
    if (llvm::any_of(given, [&](const FeedSource& other) {
          return other.tensor == name || other.tensor == feed.tensor;
        }))
      continue;
    const SignatureTensor* input = signature ? WithKey(name, signature->inputs) : nullptr;
    if (!input) {
      run->feeds.push_back({feed.tensor, feed.file, Tensor()});
      continue;
    }
    std::string what = "input '" + name + "'";
    auto value = LoadNpyLiteral(feed.file, input->dtype);
    if (!value) return Annotate(what, value.takeError());
    if (!FitsShape(Shape(value->dims()), input->shape)) {
      return MakeError("{0}: {1} has shape {2}, {3} expects {4}", what, feed.file,
                       DimsText(value->dims()), model.model().path, input->shape.ToString());
    }
    auto tensor = Tensor::FromLiteral(*value);
    if (!tensor) return Annotate(what, tensor.takeError());
    run->feeds.push_back({feed.tensor, "", std::move(*tensor)});
  }
  for (FeedSource& feed : given) run->feeds.push_back(std::move(feed));
  if (!run->fetches.empty()) return Error::success();
  for (const Case::Fetch& fetch : on_model.values.fetches) run->fetches.push_back(fetch.tensor);
  return Error::success();
}

namespace {

// Pairs the feeds and fetches of a case that has keys: side A is the tensor in the case's own
// graph, side B that in the model.
SameEnds EndsOf(const CaseOfModel& on_model) {
  SameEnds ends;
  ends.by_keys = true;
  const Case& values = on_model.values;
  for (size_t i = 0; i < values.feeds.size(); ++i)
    ends.inputs.push_back({on_model.own_feeds[i], values.feeds[i].tensor, on_model.feed_names[i]});
  for (size_t i = 0; i < values.fetches.size(); ++i)
    ends.outputs.push_back(
        {on_model.own_fetches[i], values.fetches[i].tensor, on_model.fetch_names[i]});
  return ends;
}

std::vector<SameEnds::End> Together(const Tensors& a, const Tensors& b) {
  std::vector<SameEnds::End> ends;
  for (const SignatureTensor& tensor : a) {
    if (const SignatureTensor* same = WithKey(tensor.key, b))
      ends.push_back({tensor.tensor, same->tensor, tensor.key});
  }
  return ends;
}

SameEnds TheOtherWay(SameEnds ends) {
  for (auto* list : {&ends.inputs, &ends.outputs}) {
    for (SameEnds::End& end : *list) std::swap(end.a, end.b);
  }
  return ends;
}

}  // namespace

Expected<SameEnds> FindSameEnds(const OpenedGraph& a, const OpenedGraph& b,
                                llvm::StringRef signature) {
  const auto& case_a = a.model().case_info;
  const auto& case_b = b.model().case_info;
  if (case_a || case_b) {
    if (case_a && case_b) {
      // Both graphs are cases with their own values: pairs only the fetches with the same names.
      ASSIGN_OR_RETURN(CaseOfModel keys_a, CaseOnItself(*case_a));
      ASSIGN_OR_RETURN(CaseOfModel keys_b, CaseOnItself(*case_b));
      SameEnds ends;
      ends.by_keys = true;
      for (size_t i = 0; i < keys_a.fetch_names.size(); ++i) {
        auto same = llvm::find(keys_b.fetch_names, keys_a.fetch_names[i]);
        if (same == keys_b.fetch_names.end()) continue;
        ends.outputs.push_back(
            {keys_a.own_fetches[i], keys_b.own_fetches[same - keys_b.fetch_names.begin()], *same});
      }
      return ends;
    }
    ASSIGN_OR_RETURN(CaseOfModel on_model,
                     case_a ? CaseOnModel(*case_a, b) : CaseOnModel(*case_b, a));
    if (on_model.signature.empty()) return SameEnds();
    SameEnds ends = EndsOf(on_model);
    return case_a ? ends : TheOtherWay(std::move(ends));
  }
  ASSIGN_OR_RETURN(const Signature* of_a, ChooseSignature(a.model(), a.file(), signature));
  if (!of_a) return SameEnds();
  auto of_b = ChooseSignature(b.model(), b.file(), of_a->name);
  if (!of_b) {
    llvm::consumeError(of_b.takeError());
    return SameEnds();
  }
  if (!*of_b) return SameEnds();
  return SameEnds{true, Together(of_a->inputs, (*of_b)->inputs),
                  Together(of_a->outputs, (*of_b)->outputs)};
}

}  // namespace grapnel
