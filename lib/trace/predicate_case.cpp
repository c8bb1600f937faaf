// Nested Ifs, each in the else branch of the previous one, as in
// tensorflow/python/ops/control_flow_case.py.
#include "lib/trace/predicate_case.h"

#include "lib/trace/check_ops.h"
#include "lib/trace/op_builder.h"
#include "lib/trace/ops.h"
#include "llvm/ADT/StringExtras.h"

namespace grapnel {
namespace {

class CaseMaker {
 public:
  CaseMaker(Tracer& t, const std::vector<PredicateBranch>& branches, const SourceLocation& where)
      : make_(t, where), branches_(branches), where_(where) {}

  Values Run(const BranchFn& otherwise, bool exclusive) {
    if (branches_.empty()) {
      make_.Fail("case: there are no branches");
      return {};
    }
    for (const auto& [predicate, branch] : branches_) {
      if (!predicate.ok() && predicate.body()) return {};
      if (predicate.ok() && predicate.dtype() == proto::DT_BOOL) continue;
      make_.Fail(("case: a predicate is " + DataTypeName(predicate.dtype()) + ", bool was expected")
                     .str());
      return {};
    }
    auto scope = make_.Scope("case");
    // Without `otherwise`, the last branch runs if no other predicate is true; an Assert then
    // checks its predicate.
    if (!otherwise) --last_;
    Operation check;
    if (exclusive) {
      check = AssertAtMost(1, last_, "Input error: exclusive=True");
      auto after = make_.After(check);
      return From(0, otherwise);
    }
    return From(0, otherwise);
  }

 private:
  Values From(size_t i, const BranchFn& otherwise) {
    if (i == last_) return otherwise ? otherwise() : LastOfAll();
    auto then = [&] { return branches_[i].second(); };
    auto rest = [&] { return From(i + 1, otherwise); };
    return MakeIf(make_.state(), Operand(branches_[i].first, where_), then, rest, where_);
  }

  Values PredicatesTo(size_t count) const {
    Values predicates;
    for (size_t i = 0; i < count; ++i) predicates.push_back(branches_[i].first);
    return predicates;
  }

  // Makes an assertion that at most `most` of the first `count` predicates are true.
  Operation AssertAtMost(int most, size_t count, const std::string& text) {
    Values predicates = PredicatesTo(count);
    // TensorFlow packs an empty list into an empty float tensor.
    Value packed =
        predicates.empty()
            ? make_.Constant(Literal::Make(proto::DT_FLOAT, {0}, ""), "preds_c")
            : Value(make_.Op("Pack", Operand(predicates, where_), {{"axis", 0}}, "preds_c"));
    Value numbers = Cast(packed, proto::DT_INT32, where_);
    Value axis = make_.Ints({0});
    Value sum = make_.Op("Sum", {numbers, axis}, {{"keep_dims", false}}, "num_true_conds");
    Value limit = make_.Scalar(most, proto::DT_INT32, "n_true_conds");
    Value holds = make_.Op("LessEqual", {sum, limit});
    std::vector<std::string> names;
    for (const Value& predicate : predicates) names.push_back(predicate.name());
    std::string message =
        llvm::formatv("{0}: more than {1} conditions ({2}) evaluated as True:", text, most,
                      llvm::join(names, ", "))
            .str();
    return Assert(holds, {Operand(llvm::StringRef(message), where_), Operand(packed, where_)}, 3,
                  where_);
  }

  Values LastOfAll() {
    Value all =
        make_.Op("Pack", Operand(PredicatesTo(branches_.size()), where_), {{"axis", 0}}, "preds_c");
    Operation others = AssertAtMost(
        0, last_,
        llvm::formatv("Implementation error: selected default action #{0} was called, but some of "
                      "other predicates are True: ",
                      last_)
            .str());
    Operation own = Assert(branches_[last_].first,
                           {Operand("Input error: None of conditions evaluated as True:", where_),
                            Operand(all, where_)},
                           3, where_);
    auto after_others = make_.After(others);
    auto after_own = make_.After(own);
    return branches_[last_].second();
  }

  OpBuilder make_;
  const std::vector<PredicateBranch>& branches_;
  const SourceLocation where_;
  size_t last_ = branches_.size();  // number of Ifs
};

}  // namespace

Values PredicateCase(Tracer& t, const std::vector<PredicateBranch>& branches,
                     const BranchFn& otherwise, bool exclusive, SourceLocation where) {
  return CaseMaker(t, branches, where).Run(otherwise, exclusive);
}

}  // namespace grapnel
