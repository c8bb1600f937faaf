// Optimizers, which update variables from their gradients. The arithmetic, its order and its
// epsilons are those of Keras 3, so that a run from the same start gives the same numbers up to
// rounding.
//
//   Adam adam(t, {.learning_rate = 0.001});
//   adam.Minimize(loss, {w, b});
//
// Slots, such as moments and step counters, are variables named as in Keras: `adam/w_momentum`,
// `adam/iteration`.
#ifndef GRAPNEL_LIB_TRACE_OPTIMIZERS_H_
#define GRAPNEL_LIB_TRACE_OPTIMIZERS_H_

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "lib/support/public.h"
#include "lib/trace/variable.h"

namespace grapnel {

// A number, a float Value, or a function of the step (an int64 scalar, from 0).
class GRAPNEL_PUBLIC LearningRate {
 public:
  using Schedule = std::function<Value(Tracer& t, const Value& step)>;
  LearningRate(double rate) : rate_(rate) {}
  LearningRate(const Value& rate) : value_(rate) {}
  LearningRate(Schedule schedule) : schedule_(std::move(schedule)) {}
  Value At(Tracer& t, const Value& step, const SourceLocation& where) const;
  // The rate, if it was given as a number; else nullopt.
  std::optional<double> number() const { return rate_; }

 private:
  std::optional<double> rate_;
  Value value_;
  Schedule schedule_;
};

// rate * decay ^ (step / steps); with `staircase` the exponent is rounded down.
GRAPNEL_PUBLIC LearningRate ExponentialDecay(double rate, int64_t steps, double decay,
                                             bool staircase = false);
// Falls along half a cosine from `rate` to alpha * rate over `steps` steps, and is constant from
// then on.
GRAPNEL_PUBLIC LearningRate CosineDecay(double rate, int64_t steps, double alpha = 0);
// The rate is values[i] up to and including step boundaries[i], and the last value after the last
// boundary; `values` has one element more than `boundaries`.
GRAPNEL_PUBLIC LearningRate PiecewiseConstant(std::vector<int64_t> boundaries,
                                              std::vector<double> values);

// Options of all optimizers. Of clip_norm, clip_global_norm and clip_value, the first that is set
// is used.
struct GRAPNEL_PUBLIC OptimizerOptions {
  std::optional<double> clip_norm = {};         // largest norm of each gradient
  std::optional<double> clip_global_norm = {};  // largest norm of all gradients together
  std::optional<double> clip_value = {};        // largest absolute value of each element
  // weight_decay * learning rate * variable is subtracted from each variable that has a gradient
  std::optional<double> weight_decay = {};
  // Uses ops that update a variable in one step (ResourceApplyAdam), as tf.compat.v1.train does.
  // Their results differ from Keras's by rounding; for RMSProp, whose averages begin as ones; for
  // momentum, if the learning rate changes; and they square the sum of slices with the same index.
  bool fused = false;
  std::string name = {};  // the scope of its variables; default: "adam", ...
};

class GRAPNEL_PUBLIC Optimizer {
 public:
  virtual ~Optimizer();
  Optimizer(const Optimizer&) = delete;
  // Applies the gradients of `loss` to the variables. Variables that `loss` does not depend on stay
  // unchanged; it is an error if `loss` depends on none of them.
  void Minimize(const Value& loss, const std::vector<Variable>& variables,
                SourceLocation where = SourceLocation());
  // Applies one gradient per variable, in order; a missing gradient changes nothing. Gradients that
  // are slices are treated as in Keras: plain SGD changes only the rows of the slices, other
  // optimizers change the whole variable; for a repeated index, norms and squares count each slice,
  // not the sum of the slices. With `fused`, each variable is changed as a whole by the sum of the
  // slices. Call this once per optimizer.
  void Apply(std::vector<Gradient> gradients, const std::vector<Variable>& variables,
             SourceLocation where = SourceLocation());
  // The number of steps done, int64.
  const Variable& iterations() const { return iterations_; }
  const std::string& name() const { return name_; }

 protected:
  Optimizer(Tracer& t, const LearningRate& rate, const OptimizerOptions& options,
            llvm::StringRef name, SourceLocation where);
  // Updates one variable; `rate` has the dtype of the variable.
  virtual void Step(const Gradient& gradient, const Variable& variable, const Value& rate) = 0;
  // Begin and End are called once per step, before and after the update of all variables.
  virtual void Begin(const std::vector<Variable>&) {}
  virtual void End() {}

  // Returns a slot of the variable, whose elements are initially `value`; not ok() after an error,
  // such as a variable of unknown shape.
  Variable Slot(const Variable& variable, llvm::StringRef name, double value = 0);
  Variable ScalarSlot(llvm::StringRef name, DataType dtype, double value);
  Value Dense(const Gradient& gradient) const;
  // The square of the gradient. If slices have the same index, the result is the sum of their
  // squares, as in Keras, and not the square of their sum.
  Value SquareOf(const Gradient& gradient) const;
  Value Op(llvm::StringRef op, llvm::ArrayRef<Value> inputs) const;
  Operation Run(llvm::StringRef op, llvm::ArrayRef<Value> inputs,
                std::vector<OpAttribute> attributes = {}) const;
  Value Number(double number, DataType dtype) const;
  Value Number(double number, const Variable& like) const { return Number(number, like.dtype()); }
  // Reads a variable for arithmetic.
  Value ReadOf(const Variable& variable) const { return static_cast<Value>(variable); }

  Tracer& t_;
  const LearningRate learning_rate_;
  const OptimizerOptions options_;
  SourceLocation where_;

 private:
  Variable MakeSlot(const std::string& name, const Literal& value);
  void Clip(std::vector<Gradient>& gradients);
  std::string name_;
  Variable iterations_;
  bool is_applied_ = false;
};

struct GRAPNEL_PUBLIC SgdOptions {
  LearningRate learning_rate = 0.01;
  double momentum = 0;
  bool nesterov = false;
  OptimizerOptions common = {};
};
class GRAPNEL_PUBLIC Sgd : public Optimizer {
 public:
  explicit Sgd(Tracer& t, const SgdOptions& options = {}, SourceLocation where = SourceLocation());

 protected:
  void Step(const Gradient& gradient, const Variable& variable, const Value& rate) override;

 private:
  const SgdOptions sgd_;
};

struct GRAPNEL_PUBLIC RmsPropOptions {
  LearningRate learning_rate = 0.001;
  double rho = 0.9, momentum = 0, epsilon = 1e-7;
  bool centered = false;
  OptimizerOptions common = {};
};
class GRAPNEL_PUBLIC RmsProp : public Optimizer {
 public:
  explicit RmsProp(Tracer& t, const RmsPropOptions& options = {},
                   SourceLocation where = SourceLocation());

 protected:
  void Step(const Gradient& gradient, const Variable& variable, const Value& rate) override;

 private:
  void StepFused(const Value& gradient, const Variable& variable, const Value& rate);
  const RmsPropOptions rms_;
};

struct GRAPNEL_PUBLIC AdamOptions {
  LearningRate learning_rate = 0.001;
  double beta_1 = 0.9, beta_2 = 0.999, epsilon = 1e-7;
  bool amsgrad = false;
  OptimizerOptions common = {};
};
class GRAPNEL_PUBLIC Adam : public Optimizer {
 public:
  explicit Adam(Tracer& t, const AdamOptions& options = {},
                SourceLocation where = SourceLocation());

 protected:
  Adam(Tracer& t, const AdamOptions& options, llvm::StringRef name, SourceLocation where);
  void Step(const Gradient& gradient, const Variable& variable, const Value& rate) override;
  void Begin(const std::vector<Variable>& variables) override;
  void End() override;

 private:
  const AdamOptions adam_;
  Variable beta_1_power_, beta_2_power_;  // for the fused op
};

// Adam with weight decay decoupled from the gradient; the decay is 0.004 unless common.weight_decay
// is set.
class GRAPNEL_PUBLIC AdamW : public Adam {
 public:
  explicit AdamW(Tracer& t, const AdamOptions& options = {},
                 SourceLocation where = SourceLocation());
};

// Makes an optimizer by name: "sgd", "momentum" (SGD with 0.9), "nesterov", "rmsprop", "adam",
// "adamw", with default options otherwise. Null if the name is unknown.
GRAPNEL_PUBLIC std::unique_ptr<Optimizer> MakeOptimizer(Tracer& t, llvm::StringRef name,
                                                        const LearningRate& rate,
                                                        SourceLocation where = SourceLocation());
GRAPNEL_PUBLIC std::vector<std::string> OptimizerNames();

// Scales all values by one factor if the norm of all of them together exceeds `norm`
// (tf.clip_by_global_norm, as in Keras). A missing value stays missing. For functions that clip
// single tensors, see lib/trace/math_ops.h.
GRAPNEL_PUBLIC Values ClipByGlobalNorm(const Values& xs, double norm,
                                       SourceLocation where = SourceLocation());

}  // namespace grapnel

#endif  // GRAPNEL_LIB_TRACE_OPTIMIZERS_H_
