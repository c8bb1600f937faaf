#include "lib/trace/optimizers.h"

#include <cmath>

#include "lib/trace/body.h"
#include "lib/trace/gradient_rule.h"
#include "lib/trace/math_ops.h"
#include "lib/trace/ops.h"

namespace grapnel {
namespace {

OptimizerOptions WithDecay(OptimizerOptions options) {
  if (!options.weight_decay) options.weight_decay = 0.004;
  return options;
}

AdamOptions DecayingAdam(AdamOptions options) {
  options.common = WithDecay(options.common);
  return options;
}

}  // namespace

Optimizer::Optimizer(Tracer& t, const LearningRate& rate, const OptimizerOptions& options,
                     llvm::StringRef name, SourceLocation where)
    : t_(t),
      learning_rate_(rate),
      options_(options),
      where_(where),
      name_(options.name.empty() ? name.str() : options.name) {
  iterations_ = ScalarSlot("iteration", proto::DT_INT64, 0);
}

Optimizer::~Optimizer() = default;

Operation Optimizer::Run(llvm::StringRef op, llvm::ArrayRef<Value> inputs,
                         std::vector<OpAttribute> attributes) const {
  llvm::SmallVector<Operand, 8> operands;
  for (const Value& input : inputs) operands.push_back(Operand(input, where_));
  return MakeOp(t_.state(), {op, operands, std::move(attributes), {}}, where_);
}

Value Optimizer::Op(llvm::StringRef op, llvm::ArrayRef<Value> inputs) const {
  return Run(op, inputs).output();
}

Value Optimizer::Number(double number, DataType dtype) const {
  TraceBody& body = *t_.state().current;
  return MakeConstant(body, Literal::Scalar(dtype, number), body.UniqueName("Const"), where_);
}

Variable Optimizer::Slot(const Variable& variable, llvm::StringRef name, double value) {
  std::string of = variable.name();
  std::replace(of.begin(), of.end(), '/', '_');
  if (!variable.shape().IsFullyKnown()) {
    t_.ReportError(where_, "optimizer '" + name_ + "': variable '" + variable.name() +
                               "' has shape " + variable.shape().ToString() +
                               ", and its slots need a known shape");
    return Variable();
  }
  std::vector<int64_t> dims;
  dims.reserve(variable.shape().rank());
  for (int i = 0; i < variable.shape().rank(); ++i) dims.push_back(variable.shape().dim(i));
  return MakeSlot((of + "_" + name).str(), initial::Fill(dims, value, variable.dtype()));
}

// Names the variable after the optimizer alone, whatever name scope is open.
Variable Optimizer::MakeSlot(const std::string& name, const Literal& value) {
  std::string scope;
  std::swap(scope, t_.state().current->scope);
  Variable slot(t_, name_ + "/" + name, value, {.trainable = false}, where_);
  std::swap(scope, t_.state().current->scope);
  return slot;
}

Variable Optimizer::ScalarSlot(llvm::StringRef name, DataType dtype, double value) {
  return MakeSlot(name.str(), Literal::Scalar(dtype, value));
}

Value Optimizer::Dense(const Gradient& gradient) const { return ToDense(t_.state(), gradient); }

Value Optimizer::SquareOf(const Gradient& gradient) const {
  Gradient square = gradient;
  square.values = Square(gradient.values, where_);
  return Dense(square);
}

void Optimizer::Clip(std::vector<Gradient>& gradients) {
  if (!options_.clip_norm && !options_.clip_global_norm && !options_.clip_value) return;
  // The norm counts slices with the same index separately, as in Keras.
  Values values;
  for (const Gradient& gradient : gradients) values.push_back(gradient.values);
  auto number = [&](const Value& like, double value) {
    return Operand(Literal::Scalar(like.dtype(), value), where_);
  };
  if (options_.clip_norm) {
    for (Value& value : values) {
      if (value.ok()) value = ClipByNorm(value, number(value, *options_.clip_norm), where_);
    }
  } else if (options_.clip_global_norm) {
    values = ClipByGlobalNorm(values, *options_.clip_global_norm, where_);
  } else {
    for (Value& value : values) {
      double most = *options_.clip_value;
      if (value.ok()) value = ClipByValue(value, number(value, -most), number(value, most), where_);
    }
  }
  for (size_t i = 0; i < values.size(); ++i) {
    gradients[i].values = values[i];
    if (options_.clip_global_norm && !options_.clip_norm) gradients[i] = Dense(gradients[i]);
  }
}

void Optimizer::Minimize(const Value& loss, const std::vector<Variable>& variables,
                         SourceLocation where) {
  if (!loss.ok()) return;
  if (variables.empty())
    return t_.ReportError(where, "optimizer '" + name_ + "': there is no variable to train");
  std::vector<Gradient> gradients =
      SparseGradients(t_, llvm::ArrayRef<Value>(loss), variables, {}, where);
  bool any = llvm::any_of(gradients, [](const Gradient& g) { return g.values.ok(); });
  if (!any && t_.state().errors.empty()) {
    return t_.ReportError(where, "optimizer '" + name_ + "': the loss '" + loss.name() +
                                     "' depends on none of the variables, such as '" +
                                     (variables[0].ok() ? variables[0].name() : "") + "'");
  }
  Apply(std::move(gradients), variables, where);
}

void Optimizer::Apply(std::vector<Gradient> gradients, const std::vector<Variable>& all,
                      SourceLocation where) {
  if (gradients.size() != all.size()) {
    return t_.ReportError(where, llvm::formatv("optimizer '{0}': {1} gradients were given for {2} "
                                               "variables",
                                               name_, gradients.size(), all.size())
                                     .str());
  }
  if (is_applied_)
    return t_.ReportError(
        where, "optimizer '" + name_ + "': it was already applied in this step; apply it once");
  is_applied_ = true;
  std::vector<Gradient> given;
  std::vector<Variable> variables;
  for (size_t i = 0; i < all.size(); ++i) {
    if (!gradients[i].values.ok() || !all[i].ok()) continue;
    if (gradients[i].values.dtype() != all[i].dtype()) {
      return t_.ReportError(
          where, llvm::formatv("optimizer '{0}': variable '{1}' is {2}, its gradient is {3}", name_,
                               all[i].name(), DataTypeName(all[i].dtype()),
                               DataTypeName(gradients[i].values.dtype()))
                     .str());
    }
    given.push_back(gradients[i]);
    variables.push_back(all[i]);
  }
  if (!iterations_.ok()) return;
  where_ = where;
  Tracer::ScopeGuard scope = t_.Scope(name_, where);
  Clip(given);
  Value rate = learning_rate_.At(t_, ReadOf(iterations_), where);
  if (options_.weight_decay && *options_.weight_decay != 0) {
    for (const Variable& variable : variables) {
      Value decay = Op("Mul", {ReadOf(variable), Number(*options_.weight_decay, variable)});
      variable.AssignSub(Operand(Op("Mul", {decay, Cast(rate, variable.dtype(), where)}), where));
    }
  }
  Begin(variables);
  for (size_t i = 0; i < variables.size(); ++i) {
    Step(given[i], variables[i], Cast(rate, variables[i].dtype(), where));
  }
  End();
  iterations_.AssignAdd(Operand(Literal::Scalar(proto::DT_INT64, 1), where));
}

// --- SGD.

Sgd::Sgd(Tracer& t, const SgdOptions& options, SourceLocation where)
    : Optimizer(t, options.learning_rate, options.common, "sgd", where), sgd_(options) {}

void Sgd::Step(const Gradient& gradient, const Variable& variable, const Value& rate) {
  if (gradient.is_slices() && sgd_.momentum == 0 && !options_.fused) {
    Value change = Op("Mul", {gradient.values, rate});
    variable.ScatterSub(Operand(gradient.indices, where_), Operand(change, where_));
    return;
  }
  Value g = Dense(gradient);
  if (sgd_.momentum == 0) {
    if (options_.fused)
      Run("ResourceApplyGradientDescent", {variable.handle(), rate, g});
    else
      variable.AssignSub(Operand(Op("Mul", {g, rate}), where_));
    return;
  }
  Variable m = Slot(variable, "momentum");
  if (!m.ok()) return;
  Value momentum = Number(sgd_.momentum, variable);
  if (options_.fused) {
    Run("ResourceApplyMomentum", {variable.handle(), m.handle(), rate, g, momentum},
        {{"use_nesterov", sgd_.nesterov}});
    return;
  }
  auto next = [&] {
    Value kept = Op("Mul", {ReadOf(m), momentum});
    return Op("Sub", {kept, Op("Mul", {g, rate})});
  };
  m.Assign(Operand(next(), where_));
  variable.AssignAdd(Operand(sgd_.nesterov ? next() : ReadOf(m), where_));
}

// --- RMSProp.

RmsProp::RmsProp(Tracer& t, const RmsPropOptions& options, SourceLocation where)
    : Optimizer(t, options.learning_rate, options.common, "rmsprop", where), rms_(options) {}

void RmsProp::StepFused(const Value& g, const Variable& variable, const Value& rate) {
  // TensorFlow initializes the velocity with ones.
  Variable velocity = Slot(variable, "velocity", 1), momentum = Slot(variable, "momentum");
  if (!velocity.ok() || !momentum.ok()) return;
  Values numbers = {rate, Number(rms_.rho, variable), Number(rms_.momentum, variable),
                    Number(rms_.epsilon, variable), g};
  Values inputs = {variable.handle()};
  if (rms_.centered) inputs.push_back(Slot(variable, "average_gradient").handle());
  inputs.push_back(velocity.handle());
  inputs.push_back(momentum.handle());
  llvm::append_range(inputs, numbers);
  Run(rms_.centered ? "ResourceApplyCenteredRMSProp" : "ResourceApplyRMSProp", inputs);
}

void RmsProp::Step(const Gradient& gradient, const Variable& variable, const Value& rate) {
  Value g = Dense(gradient);
  if (options_.fused) return StepFused(g, variable, rate);
  Variable velocity = Slot(variable, "velocity");
  if (!velocity.ok()) return;
  auto average = [&](const Variable& slot, const Value& value) {
    Value kept = Op("Mul", {Number(rms_.rho, variable), ReadOf(slot)});
    Value added = Op("Mul", {Number(1 - rms_.rho, variable), value});
    slot.Assign(Operand(Op("AddV2", {kept, added}), where_));
  };
  average(velocity, SquareOf(gradient));
  Value denominator = ReadOf(velocity);
  if (rms_.centered) {
    Variable mean = Slot(variable, "average_gradient");
    if (!mean.ok()) return;
    average(mean, g);
    denominator = Op("Sub", {denominator, Square(ReadOf(mean), where_)});
  }
  denominator = Op("AddV2", {denominator, Number(rms_.epsilon, variable)});
  Value increment = Op("RealDiv", {Op("Mul", {rate, g}), Sqrt(denominator, where_)});
  if (rms_.momentum > 0) {
    Variable momentum = Slot(variable, "momentum");
    if (!momentum.ok()) return;
    Value kept = Op("Mul", {Number(rms_.momentum, variable), ReadOf(momentum)});
    momentum.Assign(Operand(Op("AddV2", {kept, increment}), where_));
    increment = ReadOf(momentum);
  }
  variable.AssignSub(Operand(increment, where_));
}

// --- Adam.

Adam::Adam(Tracer& t, const AdamOptions& options, SourceLocation where)
    : Adam(t, options, "adam", where) {}

Adam::Adam(Tracer& t, const AdamOptions& options, llvm::StringRef name, SourceLocation where)
    : Optimizer(t, options.learning_rate, options.common, name, where), adam_(options) {}

AdamW::AdamW(Tracer& t, const AdamOptions& options, SourceLocation where)
    : Adam(t, DecayingAdam(options), "adamw", where) {}

void Adam::Begin(const std::vector<Variable>& variables) {
  if (!options_.fused || variables.empty()) return;
  beta_1_power_ = ScalarSlot("beta_1_power", variables[0].dtype(), adam_.beta_1);
  beta_2_power_ = ScalarSlot("beta_2_power", variables[0].dtype(), adam_.beta_2);
}

void Adam::End() {
  if (!beta_1_power_.ok() || !beta_2_power_.ok()) return;
  for (auto [power, beta] :
       {std::pair(beta_1_power_, adam_.beta_1), std::pair(beta_2_power_, adam_.beta_2)})
    power.Assign(Operand(Op("Mul", {ReadOf(power), Number(beta, power)}), where_));
}

void Adam::Step(const Gradient& gradient, const Variable& variable, const Value& rate) {
  Value g = Dense(gradient);
  DataType dtype = variable.dtype();
  Variable m = Slot(variable, "momentum"), v = Slot(variable, "velocity");
  if (!m.ok() || !v.ok()) return;
  if (options_.fused) {
    Values inputs = {variable.handle(),
                     m.handle(),
                     v.handle(),
                     Cast(ReadOf(beta_1_power_), dtype, where_),
                     Cast(ReadOf(beta_2_power_), dtype, where_),
                     rate,
                     Number(adam_.beta_1, variable),
                     Number(adam_.beta_2, variable),
                     Number(adam_.epsilon, variable),
                     g};
    if (adam_.amsgrad) inputs.insert(inputs.begin() + 3, Slot(variable, "velocity_hat").handle());
    Run(adam_.amsgrad ? "ResourceApplyAdamWithAmsgrad" : "ResourceApplyAdam", inputs);
    return;
  }
  Value next = Op("AddV2", {ReadOf(iterations()), Number(1, proto::DT_INT64)});
  Value step = Cast(next, dtype, where_);
  Value one = Number(1, dtype);
  Value beta_1_power = Op("Pow", {Number(adam_.beta_1, dtype), step});
  Value beta_2_power = Op("Pow", {Number(adam_.beta_2, dtype), step});
  Value root = Sqrt(Op("Sub", {one, beta_2_power}), where_);
  Value alpha = Op("RealDiv", {Op("Mul", {rate, root}), Op("Sub", {one, beta_1_power})});
  auto approach = [&](const Variable& slot, const Value& value, double beta) {
    Value difference = Op("Sub", {value, ReadOf(slot)});
    slot.AssignAdd(Operand(Op("Mul", {difference, Number(1 - beta, dtype)}), where_));
  };
  approach(m, g, adam_.beta_1);
  approach(v, SquareOf(gradient), adam_.beta_2);
  if (adam_.amsgrad) {
    Variable hat = Slot(variable, "velocity_hat");
    if (!hat.ok()) return;
    Value largest = ReadOf(hat);
    hat.Assign(Operand(Op("Maximum", {largest, ReadOf(v)}), where_));
    v = hat;
  }
  Value above = Op("Mul", {ReadOf(m), alpha});
  Value below = Op("AddV2", {Sqrt(ReadOf(v), where_), Number(adam_.epsilon, dtype)});
  variable.AssignSub(Operand(Op("RealDiv", {above, below}), where_));
}

// --- By name.

std::unique_ptr<Optimizer> MakeOptimizer(Tracer& t, llvm::StringRef name, const LearningRate& rate,
                                         SourceLocation where) {
  if (name == "sgd") return std::make_unique<Sgd>(t, SgdOptions{.learning_rate = rate}, where);
  if (name == "momentum" || name == "nesterov") {
    return std::make_unique<Sgd>(
        t, SgdOptions{.learning_rate = rate, .momentum = 0.9, .nesterov = name == "nesterov"},
        where);
  }
  if (name == "rmsprop")
    return std::make_unique<RmsProp>(t, RmsPropOptions{.learning_rate = rate}, where);
  if (name == "adam") return std::make_unique<Adam>(t, AdamOptions{.learning_rate = rate}, where);
  if (name == "adamw") return std::make_unique<AdamW>(t, AdamOptions{.learning_rate = rate}, where);
  return nullptr;
}

std::vector<std::string> OptimizerNames() {
  return {"adam", "adamw", "momentum", "nesterov", "rmsprop", "sgd"};
}

}  // namespace grapnel
