#include "lib/render/web/script_bundle.h"

#include <utility>
#include <vector>

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"

namespace grapnel {
namespace {

using FindFile = llvm::function_ref<const WebFile*(llvm::StringRef)>;

class Bundler {
 public:
  explicit Bundler(FindFile find) : find_(find) {}

  Error Add(llvm::StringRef name) {
    if (!done_.insert(name).second) return Error::success();
    const WebFile* file = find_(name);
    if (!file) return MakeError("there is no module '{0}'", name);
    llvm::SmallVector<llvm::StringRef, 0> lines;
    file->text.split(lines, '\n');
    std::string body;
    std::vector<std::string> exports;
    for (llvm::StringRef line : lines) {
      if (line.starts_with("import ")) {
        RETURN_IF_ERROR(Import(name, line, &body));
        continue;
      }
      if (line.consume_front("export ")) exports.push_back(DeclaredName(line).str());
      body += line.str() + "\n";
    }
    for (const std::string& one : exports) exports_[name].insert(one);
    script_ += llvm::formatv("modules[\"./{0}\"] = (() => {{\n{1}return {{{2}};\n})();\n", name,
                             body, llvm::join(exports, ", "));
    return Error::success();
  }

  std::string Finish() && {
    return "\"use strict\";\n(() => {\nconst modules = {};\n" + script_ + "})();\n";
  }

 private:
  Error Import(llvm::StringRef module, llvm::StringRef line, std::string* body) {
    auto [names, from] = line.drop_front(7).rtrim("; ").split(" from ");
    llvm::StringRef path = from.trim("\"");
    if (!names.starts_with("{") || !path.consume_front("./"))
      return MakeError("{0}: unsupported form of import: '{1}'", module, line);
    RETURN_IF_ERROR(Add(path));
    llvm::SmallVector<llvm::StringRef, 8> wanted;
    names.trim("{} ").split(wanted, ',');
    for (llvm::StringRef one : wanted) {
      llvm::StringRef exported = one.trim();
      if (!exports_[path].contains(exported))
        return MakeError("{0}: './{1}' has no line that exports '{2}'", module, path, exported);
    }
    *body += llvm::formatv("const {0} = modules[\"./{1}\"];\n", names, path);
    return Error::success();
  }

  // Returns the name that a line declares: f in "async function f(", C in "class C ", x in "const x
  // =".
  static llvm::StringRef DeclaredName(llvm::StringRef line) {
    for (llvm::StringRef word : {"async ", "function* ", "function ", "class ", "const ", "let "})
      line.consume_front(word);
    return line.take_while([](char c) { return llvm::isAlnum(c) || c == '_' || c == '$'; });
  }

  FindFile find_;
  llvm::StringSet<> done_;
  llvm::StringMap<llvm::StringSet<>> exports_;  // by module
  std::string script_;
};

}  // namespace

Expected<std::string> BundleScripts(llvm::ArrayRef<llvm::StringRef> entries, FindFile find) {
  Bundler bundler(find);
  for (llvm::StringRef entry : entries) RETURN_IF_ERROR(bundler.Add(entry));
  return std::move(bundler).Finish();
}

}  // namespace grapnel
