// Makes the rows of a FunctionLibrary: see FunctionRow.
#include <algorithm>
#include <map>
#include <tuple>

#include "lib/library/library_steps.h"
#include "lib/library/trace_differences.h"
#include "llvm/ADT/STLExtras.h"

namespace grapnel {
namespace {

class RowMaker {
 public:
  explicit RowMaker(FunctionLibrary* library) : library_(*library) {}

  void Run() {
    std::map<std::string, std::vector<int>> groups;
    for (size_t i = 0; i < functions().size(); ++i)
      groups[KeyOf(functions()[i])].push_back(static_cast<int>(i));
    for (auto& [key, members] : groups) SplitGroup(members);
    for (FunctionRow& row : library_.rows) FinishRow(&row);
    std::stable_sort(library_.rows.begin(), library_.rows.end(),
                     [&](const FunctionRow& a, const FunctionRow& b) { return Rank(a) < Rank(b); });
    for (size_t i = 0; i < library_.rows.size(); ++i)
      for (int member : library_.rows[i].members) functions()[member].row = static_cast<int>(i);
  }

 private:
  std::vector<LibraryFunction>& functions() { return library_.functions; }

  // Returns the key of a function's row: all traces, forward and backward functions of one Python
  // function share a key, and so do the functions that are the same part of an op in one Python
  // function.
  std::string KeyOf(const LibraryFunction& each) const {
    switch (each.role) {
      case FunctionRole::kTrace:
      case FunctionRole::kForward:
      case FunctionRole::kBackward:
        return "trace " + each.name.base;
      case FunctionRole::kBody:
      case FunctionRole::kCondition:
      case FunctionRole::kBranch:
        return "part " + each.name.base + " " + OwnerOf(each);
      case FunctionRole::kDataset:
        return "dataset " + each.name.base + " " + each.name.transformation;
      case FunctionRole::kEagerOp:
        return "eager";
      default:
        return "other " + each.name.base;
    }
  }

  // Returns the name, without its number, of the function that contains the op (such as an If) of
  // which `each` is a part. For a function made from a trace, uses the op of which the trace is a
  // part.
  std::string OwnerOf(const LibraryFunction& each) const {
    const LibraryFunction& from = each.trace >= 0 ? library_.functions[each.trace] : each;
    for (const FunctionUse& use : from.uses)
      return use.caller < 0 ? "" : library_.functions[use.caller].name.base;
    return "";
  }

  static bool CanBeSplit(const LibraryFunction& each) {
    return each.role == FunctionRole::kTrace || each.role == FunctionRole::kDataset;
  }

  bool IsTrace(int number) const {
    const LibraryFunction& each = library_.functions[number];
    return each.role != FunctionRole::kForward && each.role != FunctionRole::kBackward &&
           !each.name.is_rewritten && !each.name.is_gradient;
  }

  // Splits the functions with one key into rows: several Python functions with the same name, such
  // as methods of two classes, get a row each.
  void SplitGroup(const std::vector<int>& group) {
    size_t first = library_.rows.size();
    auto add = [&](int number, size_t row) {
      if (row == library_.rows.size()) {
        bool eager = functions()[number].role == FunctionRole::kEagerOp;
        library_.rows.push_back(
            {eager ? "eager ops" : functions()[number].name.base, functions()[number].role, {}});
      }
      library_.rows[row].members.push_back(number);
      functions()[number].row = static_cast<int>(row);
    };
    for (int number : group) {
      if (!IsTrace(number)) continue;
      size_t row = first;
      while (row < library_.rows.size() && CanBeSplit(functions()[number]) &&
             !MayBeTracesOfOne(functions()[library_.rows[row].members[0]], functions()[number]))
        ++row;
      add(number, row);
    }
    for (int number : group) {
      if (IsTrace(number)) continue;
      int trace = functions()[number].trace;
      while (trace >= 0 && !IsTrace(trace)) trace = functions()[trace].trace;
      bool is_here = trace >= 0 && llvm::is_contained(group, trace);
      add(number, is_here ? functions()[trace].row : first);
    }
  }

  void FinishRow(FunctionRow* row) {
    std::sort(row->members.begin(), row->members.end(), [&](int a, int b) {
      auto key = [&](int number) {
        const LibraryFunction& each = functions()[number];
        return std::make_tuple(!IsTrace(number), each.name.number.value_or(-1),
                               each.function->name(), number);
      };
      return key(a) < key(b);
    });
    row->traces = llvm::count_if(row->members, [&](int number) { return IsTrace(number); });
    std::vector<LibraryFunction*> traces;
    for (int member : llvm::ArrayRef(row->members).take_front(row->traces))
      traces.push_back(&functions()[member]);
    row->one_body = traces.size() > 1 && llvm::all_of(traces, [&](const LibraryFunction* each) {
                      return each->hash == traces[0]->hash;
                    });
    row->role = functions()[row->members[0]].role;
    if (row->role == FunctionRole::kForward || row->role == FunctionRole::kBackward)
      row->role = FunctionRole::kTrace;
    row->is_entry = llvm::any_of(row->members, [&](int member) {
      return functions()[member].status == FunctionStatus::kEntry;
    });
    if (row->role != FunctionRole::kEagerOp) CompareTraces(traces);
  }

  static std::tuple<int, llvm::StringRef> Rank(const FunctionRow& row) {
    bool is_part = row.role != FunctionRole::kTrace && row.role != FunctionRole::kPlain;
    int rank = row.is_entry && !is_part ? 0 : is_part ? 2 : 1;
    if (row.is_entry && is_part) rank = row.role == FunctionRole::kSignature ? 0 : 2;
    if (row.role == FunctionRole::kEagerOp) rank = 3;
    return {rank, row.name};
  }

  FunctionLibrary& library_;
};

}  // namespace

void MakeRows(FunctionLibrary* library) { RowMaker(library).Run(); }

}  // namespace grapnel
