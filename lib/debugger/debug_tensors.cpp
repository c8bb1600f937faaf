// The debugger's commands that print, compute and change tensors.
#include <cmath>
#include <limits>

#include "lib/debugger/debug_command.h"
#include "lib/debugger/debug_values.h"
#include "lib/io/value.h"
#include "lib/ir/find.h"
#include "lib/ir/node_types.h"
#include "lib/ir/tensor_name.h"
#include "lib/support/file.h"
#include "lib/support/suggest.h"
#include "lib/support/text.h"
#include "lib/watch/number_array.h"
#include "lib/watch/tensor_slice.h"
#include "lib/watch/tensor_summary.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

namespace grapnel {
namespace {

// Splits "x:0[0, :]" into "x:0" and "[0, :]".
std::pair<llvm::StringRef, llvm::StringRef> NameAndSlice(llvm::StringRef text) {
  text = text.trim();
  if (text.size() > 1 && HasPrefix(text, "`")) {
    size_t end = text.find('`', 1);
    return {text.slice(1, end), text.substr(end == llvm::StringRef::npos ? end : end + 1).trim()};
  }
  size_t at = text.find('[');
  return {text.take_front(at).trim(), text.substr(std::min(at, text.size())).trim()};
}

TensorExpression::Lookup LookupIn(const Debugger& debugger) {
  return [&debugger](llvm::StringRef name) -> Expected<Tensor> {
    ASSIGN_OR_RETURN(const KeptValue* value, debugger.Value(name));
    return value->value;
  };
}

Expected<Tensor> Evaluate(const Debugger& debugger, llvm::StringRef text) {
  ASSIGN_OR_RETURN(TensorExpression expression, TensorExpression::Parse(text));
  return expression.Evaluate(LookupIn(debugger));
}

Error CheckFiles(const DebugShell& shell) {
  if (shell.uses_files) return Error::success();
  return MakeError("only `grapnel debug` reads and writes files");
}

Error SaveTo(const std::string& path, const Tensor& tensor, DebugShell& shell) {
  RETURN_IF_ERROR(CheckFiles(shell));
  if (tensor.HoldsObjects()) return MakeError("{0} cannot be saved as .npy", tensor.ToString());
  RETURN_IF_ERROR(SaveNpyLiteral(path, tensor.ToLiteral()));
  shell.os() << "written to " << path << "\n";
  return Error::success();
}

// --- print_tensor

// As precise as a tensor's numbers, so that they also bound 64-bit integers.
using ValueBounds = std::pair<NumberArray::Number, NumberArray::Number>;

// Parses "[1, 2]" or "[[-inf, -1], [1, inf]]".
Expected<std::vector<ValueBounds>> RangesOf(llvm::StringRef text) {
  llvm::SmallVector<llvm::StringRef, 8> parts;
  std::string numbers = text.str();
  for (char& c : numbers) c = c == '[' || c == ']' || c == '(' || c == ')' || c == ',' ? ' ' : c;
  llvm::StringRef(numbers).split(parts, ' ', -1, /*KeepEmpty=*/false);
  std::vector<ValueBounds> ranges;
  for (size_t i = 0; i + 1 < parts.size(); i += 2) {
    NumberArray::Number bounds[2];
    for (int k = 0; k < 2; ++k) {
      std::string part = parts[i + k].str();
      size_t sign = part[0] == '-';
      if (part.compare(sign, 3, "np.") == 0) part.erase(sign, 3);
      char* end = nullptr;
      bounds[k] = std::strtold(part.c_str(), &end);
      if (*end) return MakeError("-r {0}: numbers were expected, not '{1}'", text, parts[i + k]);
    }
    ranges.emplace_back(bounds[0], bounds[1]);
  }
  if (ranges.empty() || parts.size() % 2)
    return MakeError("-r {0}: a range [least, most] was expected, or a list of such ranges", text);
  return ranges;
}

struct PrintFlags {
  std::optional<std::string> ranges, save, image, axes;
  bool all = false, summary = false;
  std::optional<ImageAxes> usual_axes{};  // used without --axes
};

Error DrawTo(const std::string& path, const Tensor& tensor, const PrintFlags& flags,
             DebugShell& shell) {
  RETURN_IF_ERROR(CheckFiles(shell));
  std::optional<ImageAxes> axes = flags.usual_axes;
  if (flags.axes) {
    ASSIGN_OR_RETURN(axes, ParseImageAxes(*flags.axes));
  }
  ASSIGN_OR_RETURN(HeatMap map, HeatMapOf(tensor, axes));
  ASSIGN_OR_RETURN(auto file, AtomicFile::Create(path));
  file->os() << map.png;
  RETURN_IF_ERROR(file->Commit());
  shell.os() << "drawn to " << path << ", " << map.width << " by " << map.height << " pixels\n  "
             << map.layout << "\n  " << map.colors << "\n";
  return Error::success();
}

Error Print(DebugShell& shell, const Tensor& tensor, const PrintFlags& flags) {
  llvm::raw_ostream& os = shell.os();
  ArrayTextOptions options = shell.print;
  if (flags.all) options.threshold = std::numeric_limits<int64_t>::max();
  std::vector<bool> is_marked;
  if (flags.ranges) {
    ASSIGN_OR_RETURN(auto ranges, RangesOf(*flags.ranges));
    ASSIGN_OR_RETURN(NumberArray numbers, NumbersOf(tensor));
    for (NumberArray::Number value : numbers.values) {
      is_marked.push_back(llvm::any_of(ranges, [&](const auto& range) {
        return value >= range.first && value <= range.second;
      }));
    }
  }
  std::string text = ArrayText(tensor, options,
                               [&](int64_t flat) { return !is_marked.empty() && is_marked[flat]; });
  for (char c : text) {
    if (c != kMarkBegin && c != kMarkEnd) {
      os << c;
    } else if (shell.color()) {
      os << (c == kMarkBegin ? "\033[33m" : "\033[0m");
    }
  }
  os << "\n";
  if (flags.ranges) {
    int64_t count = llvm::count(is_marked, true);
    double percent = is_marked.empty() ? 0 : 100.0 * count / is_marked.size();
    os << llvm::formatv("within {0}: {1} of {2} element(s) ({3:f2}%)\n", *flags.ranges, count,
                        is_marked.size(), percent);
  }
  if (flags.summary) {
    ASSIGN_OR_RETURN(std::string summary, NumericSummary(tensor));
    os << summary;
  }
  if (flags.save) RETURN_IF_ERROR(SaveTo(*flags.save, tensor, shell));
  return flags.image ? DrawTo(*flags.image, tensor, flags, shell) : Error::success();
}

Expected<PrintFlags> TakePrintFlags(DebugWords* words) {
  PrintFlags flags;
  ASSIGN_OR_RETURN(flags.ranges, words->TakeOption("-r", "--ranges"));
  ASSIGN_OR_RETURN(flags.save, words->TakeOption("-w", "--write_path"));
  if (!flags.save) {
    ASSIGN_OR_RETURN(flags.save, words->TakeOption("--save"));
  }
  ASSIGN_OR_RETURN(flags.image, words->TakeOption("--image"));
  ASSIGN_OR_RETURN(flags.axes, words->TakeOption("--axes"));
  flags.all = words->TakeFlag("-a", "--all");
  flags.summary = words->TakeFlag("-s", "--numeric_summary");
  return flags;
}

// Returns recorded value `number` of the named tensor; nullopt: the last. If several were recorded,
// sets `which` to a text such as ", value 1 of 0 to 2"; in a loop, this text also names the
// iteration.
Expected<const KeptValue*> ValueOf(DebugShell& shell, llvm::StringRef name,
                                   std::optional<int64_t> number, std::string* which) {
  const Debugger& debugger = shell.debugger();
  ASSIGN_OR_RETURN(const KeptValue* value, debugger.Value(name, number.value_or(-1)));
  int64_t count = debugger.history().Count(value->port);
  if (count > 1)
    *which = ", value " + std::to_string(value->number) + " of 0 to " + std::to_string(count - 1);
  if (value->iteration >= 0) *which += ", iteration " + std::to_string(value->iteration);
  return value;
}

// Writes the composite tensors that the port's tensor is a component of.
void WriteWholes(DebugShell& shell, const WatchedPort& port) {
  for (const PartOf& part : PartsOf(shell.debugger(), port, shell.print.threshold)) {
    shell.os() << "part of what " << part.reader.name() << " (" << part.reader.op() << ") "
               << (part.value.is_read ? "reads" : "makes")
               << (part.value.name.empty() ? "" : " as " + part.value.name) << ":\n  "
               << part.value.text << "\n";
  }
}

DebugAnswer PrintTensor(DebugShell& shell, DebugWords& words) {
  ASSIGN_OR_RETURN(auto number, words.TakeNumber("-n", "--number"));
  ASSIGN_OR_RETURN(PrintFlags flags, TakePrintFlags(&words));
  ASSIGN_OR_RETURN(auto names, words.Names(1, 1, "one tensor, as in pt x:0[0, :],"));
  auto [name, slice] = NameAndSlice(names[0]);
  std::string which;
  ASSIGN_OR_RETURN(const KeptValue* value, ValueOf(shell, name, number, &which));
  Tensor tensor = value->value;
  if (slice.empty()) flags.usual_axes = ImageAxesOf(value->port, tensor.rank());
  if (!slice.empty()) {
    std::string text = "_" + slice.str();
    ASSIGN_OR_RETURN(TensorExpression expression, TensorExpression::Parse(text));
    ASSIGN_OR_RETURN(
        tensor, expression.Evaluate([&](llvm::StringRef) { return Expected<Tensor>(tensor); }));
  }
  shell.os() << "Tensor \"" << name << slice << "\"" << which
             << ":\n  dtype: " << NumPyTypeName(tensor.dtype())
             << "\n  shape: " << NumPyShapeText(tensor.dims()) << "\n\n";
  RETURN_IF_ERROR(Print(shell, tensor, flags));
  if (slice.empty() && !number) WriteWholes(shell, value->port);
  return std::nullopt;
}

DebugAnswer PrintFeed(DebugShell& shell, DebugWords& words) {
  ASSIGN_OR_RETURN(auto names, words.Names(0, 1, "one feed, or none for all,"));
  if (names.empty()) {
    for (const std::string& feed : shell.debugger().feeds()) {
      ASSIGN_OR_RETURN(DebugWords one, DebugWords::Parse(feed));
      RETURN_IF_ERROR(PrintTensor(shell, one).takeError());
    }
    return std::nullopt;
  }
  llvm::StringRef name = NameAndSlice(names[0]).first;
  const std::vector<std::string>& feeds = shell.debugger().feeds();
  bool is_fed = llvm::any_of(feeds, [&](const std::string& feed) {
    return WithoutZeroIndex(feed) == WithoutZeroIndex(name);
  });
  if (!is_fed) return NotFound("feed", name, feeds);
  return PrintTensor(shell, words);
}

// Evaluates an expression. The flags of print_tensor may be before or after the expression.
DebugAnswer Eval(DebugShell& shell, DebugWords& words) {
  ASSIGN_OR_RETURN(PrintFlags flags, TakePrintFlags(&words));
  ASSIGN_OR_RETURN(auto parts, words.Names(1, 1000, "an expression"));
  ASSIGN_OR_RETURN(Tensor tensor, Evaluate(shell.debugger(), llvm::join(parts, " ")));
  RETURN_IF_ERROR(Print(shell, tensor, flags));
  return std::nullopt;
}

DebugAnswer Histogram(DebugShell& shell, DebugWords& words) {
  ASSIGN_OR_RETURN(auto bins, words.TakeNumber("-b", "--bins"));
  ASSIGN_OR_RETURN(auto parts, words.Names(1, 1000, "a tensor or an expression"));
  if (bins && (*bins < 1 || *bins > 1000))
    return MakeError("-b {0}: a number of bins from 1 to 1000 was expected", *bins);
  ASSIGN_OR_RETURN(Tensor tensor, Evaluate(shell.debugger(), llvm::join(parts, " ")));
  ASSIGN_OR_RETURN(std::string text, HistogramText(tensor, static_cast<int>(bins.value_or(10))));
  shell.os() << text;
  return std::nullopt;
}

DebugAnswer Channels(DebugShell& shell, DebugWords& words) {
  ASSIGN_OR_RETURN(auto axis, words.TakeNumber("-x", "--axis"));
  bool all = words.TakeFlag("-a", "--all");
  ASSIGN_OR_RETURN(auto parts, words.Names(1, 1000, "a tensor or an expression"));
  ASSIGN_OR_RETURN(Tensor tensor, Evaluate(shell.debugger(), llvm::join(parts, " ")));
  int64_t limit = all ? std::numeric_limits<int64_t>::max() : 32;
  ASSIGN_OR_RETURN(std::string text,
                   ChannelsText(tensor, static_cast<int>(axis.value_or(-1)), limit));
  shell.os() << text;
  return std::nullopt;
}

// --- set

// Parses a value that the user typed, as `dtype`: a .npy file, a list of numbers such as "[1, 2,
// 3]" or "[[...]]", or for strings a text, which may be quoted. Anything else is an expression, and
// the result has the dtype of its value.
Expected<Tensor> TypedValue(DebugShell& shell, llvm::StringRef text, DataType dtype) {
  if (HasSuffix(text, ".npy")) {
    RETURN_IF_ERROR(CheckFiles(shell));
    ASSIGN_OR_RETURN(Literal literal, LoadNpyLiteral(text, dtype));
    return Tensor::FromLiteral(literal);
  }
  if (dtype == proto::DT_STRING) {
    bool is_quoted =
        text.size() > 1 && (text[0] == '"' || text[0] == '\'') && text.back() == text[0];
    std::string content = (is_quoted ? text.drop_front().drop_back() : text).str();
    return Tensor::FromLiteral(Literal::MakeStrings({}, {content}));
  }
  if (!HasPrefix(text, "[")) return Evaluate(shell.debugger(), text);
  NumberArray array;
  array.dtype = dtype;
  std::vector<int64_t> counts;  // number of elements so far of each open list
  Dims dims;
  size_t depth = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    char c = text[i];
    if (c == '[') {
      if (depth == dims.size() && array.size() > 0)
        return MakeError("'{0}': all numbers must be at the same depth of nested lists", text);
      counts.resize(++depth);
      counts[depth - 1] = 0;
      if (dims.size() < depth) dims.resize(depth, -1);
    } else if (c == ']') {
      if (depth == 0) return MakeError("'{0}': unmatched ']'", text);
      int64_t& size = dims[--depth];
      if (size >= 0 && size != counts[depth])
        return MakeError("'{0}': lists at the same depth must have the same length", text);
      size = counts[depth];
      if (depth > 0) ++counts[depth - 1];
    } else if (c != ',' && c != ' ') {
      llvm::StringRef word = text.substr(i).take_until(
          [](char e) { return e == ',' || e == ']' || e == ' ' || e == '['; });
      if (depth == 0 || depth != dims.size())
        return MakeError("'{0}': all numbers must be at the same depth of nested lists", text);
      ASSIGN_OR_RETURN(Tensor element, Evaluate(shell.debugger(), word));
      ASSIGN_OR_RETURN(NumberArray number, NumbersOf(element));
      if (number.size() != 1) return MakeError("'{0}': one number was expected", word);
      array.values.push_back(number.values[0]);
      ++counts[depth - 1];
      i += word.size() - 1;
    }
  }
  if (depth > 0) return MakeError("'{0}': a '[' is not closed", text);
  int64_t size = 1;
  for (int64_t dim : dims) size *= dim;
  if (size != array.size())
    return MakeError("'{0}': one list was expected, with all numbers at the same depth", text);
  array.dims = dims;
  return TensorOf(array);
}

DebugAnswer SetTensor(DebugShell& shell, DebugWords& words) {
  llvm::StringRef rest = words.rest();
  size_t sign = rest.find('=');
  if (sign == llvm::StringRef::npos) return MakeError("set TENSOR = VALUE was expected");
  auto [name, slice] = NameAndSlice(rest.take_front(sign));
  llvm::StringRef text = rest.drop_front(sign + 1).trim();
  if (name.empty() || text.empty()) return MakeError("set TENSOR = VALUE was expected");
  Debugger& debugger = shell.debugger();
  if (debugger.IsToCome(name)) {
    const Graph* graph = nullptr;
    ASSIGN_OR_RETURN(Port port, debugger.FindPort(name, &graph));
    DataType dtype = TypeOfPort(*graph, port);
    ASSIGN_OR_RETURN(
        Tensor value,
        TypedValue(shell, text, dtype == proto::DT_INVALID ? proto::DT_DOUBLE : dtype));
    RETURN_IF_ERROR(debugger.SetToCome(name, slice, std::move(value)));
    shell.os() << name << slice << " is set when it is computed\n";
    return std::nullopt;
  }
  ASSIGN_OR_RETURN(const KeptValue* known, debugger.Value(name));
  Tensor before = known->value;
  ASSIGN_OR_RETURN(Tensor value, TypedValue(shell, text, before.dtype()));
  ASSIGN_OR_RETURN(Tensor made, WithElements(before, slice, value));
  ASSIGN_OR_RETURN(std::optional<DebugOrder> order, debugger.Set(name, made));
  shell.os() << name << " = " << made.ToString() << "\n";
  if (order) shell.os() << "it was computed already: the run restarts with it\n";
  return order;
}

DebugAnswer Unset(DebugShell& shell, DebugWords& words) {
  ASSIGN_OR_RETURN(auto names, words.Names(0, 0, "nothing more"));
  std::optional<DebugOrder> order = shell.debugger().Unset();
  shell.os() << (order ? "the run restarts unchanged\n" : "nothing was set\n");
  return order;
}

// --- config

DebugAnswer Config(DebugShell& shell, DebugWords& words) {
  ASSIGN_OR_RETURN(auto names, words.Names(0, 3, "config show, or config set NAME NUMBER,"));
  ArrayTextOptions& print = shell.print;
  if (names.empty() || names[0] == "show") {
    shell.os() << Table({{"precision", std::to_string(print.precision)},
                         {"threshold", std::to_string(print.threshold)},
                         {"edge_items", std::to_string(print.edge_items)},
                         {"line_width", std::to_string(print.line_width)}});
    return std::nullopt;
  }
  int64_t number = 0;
  if (names[0] != "set" || names.size() != 3 ||
      llvm::StringRef(names[2]).getAsInteger(10, number) || number < 0 || number > 1000000000)
    return MakeError(
        "config show, or config set NAME NUMBER with a number from 0 to 1000000000, was expected");
  if (names[1] == "precision") {
    print.precision = static_cast<int>(std::min<int64_t>(number, 100));
  } else if (names[1] == "threshold") {
    print.threshold = number;
  } else if (names[1] == "edge_items") {
    print.edge_items = number;
  } else if (names[1] == "line_width") {
    print.line_width = static_cast<int>(number);
  } else {
    std::vector<std::string> all = {"precision", "threshold", "edge_items", "line_width"};
    return NotFound("setting", names[1], all);
  }
  return std::nullopt;
}

}  // namespace

llvm::ArrayRef<DebugCommand> TensorCommands() {
  static const std::vector<DebugCommand> commands = {
      {{"print_tensor", "pt"},
       "TENSOR[SLICE] [-n NUMBER] [-r RANGES] [-a] [-s] [--save FILE.npy] [--image FILE.png "
       "[--axes ROWS,COLUMNS]]",
       "prints a tensor as NumPy does\n"
       "SLICE: as in Python, [0, :5]. -n: one of its earlier values (`ni -d` numbers them). -r "
       "[least, most]: mark\n"
       "and count elements in a range, or in a list of ranges. -a: all elements. -s: counts of "
       "NaN, -inf, -, 0, +, +inf,\n"
       "and min, max, mean, std. --save (-w): write it to a file.",
       PrintTensor},
      {{"eval", "ev", "p"},
       "EXPRESSION [-r RANGES] [-a] [-s] [--save FILE.npy] [--image FILE.png [--axes "
       "ROWS,COLUMNS]]",
       "evaluates an expression of tensors\n"
       "mean(abs(x:0)), x:0[0] - y:0, np.sum(`scope/y:0`, axis=1), any(isnan(x:0)). A name with "
       "characters other than\n"
       "letters, digits, _ . / needs backquotes; a `/` that divides needs blanks around it.",
       Eval},
      {{"print_feed", "pf"}, "[FEED]", "prints all feeds, or one of them", PrintFeed},
      {{"histogram", "hist"},
       "[-b BINS] TENSOR|EXPRESSION",
       "shows a histogram of a tensor's values",
       Histogram},
      {{"channels"},
       "[-x AXIS] [-a] TENSOR|EXPRESSION",
       "summarizes a tensor by its indices along an axis, the last one without -x",
       Channels},
      {{"set"},
       "TENSOR[SLICE] = NUMBER|LIST|EXPRESSION|FILE.npy",
       "changes a tensor's value\n"
       "Right after its node has run (see finish, break ... if), the change takes effect at once; "
       "before that, when the node runs; else the run restarts with it and runs silently to this\n"
       "step. An output is changed only for this execution of its node, a feed or constant until "
       "unset. "
       "dtype and shape must stay the same.",
       SetTensor},
      {{"unset"}, "", "undoes all changes: the run restarts and runs silently to this step", Unset},
      {{"config", "cfg"},
       "[show] | set NAME NUMBER",
       "shows or sets how tensors are printed: precision, threshold, edge_items, line_width",
       Config},
  };
  return commands;
}

}  // namespace grapnel
