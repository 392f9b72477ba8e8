// The gradient checker: proves, element by element and in two ways, that a backward pass belongs to
// its forward pass.
//
// It needs the dual build. There one number is a double (tangent 0) and a dual number (tangent 1),
// so one program compares with finite differences and with exact dual numbers; the rounding of
// floats is larger than the errors that are looked for. Jᵀ·v from backward() is compared with the
// same number got without it, for a random v: with v = (1, …, 1) softmax's gradient is zero and
// every wrong rule for it passes. Next: gradcheck.cpp, comparison.h.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "engine/tensor.h"

#if !defined(FLEDGE_DUAL)
#error "gradcheck needs the dual build: link fledge::fledge_dual"
#endif

namespace fledge {

/// The largest error that a correct gradient may show, by oracle: 1e-12 and 1e-8.
extern const double gradcheck_tolerance_dual;
extern const double gradcheck_tolerance_differences;

struct GradcheckOptions {
  int order = 1;                                                   // 2: the Hessian too
  std::uint64_t seed = 1;                                          // of the random cotangent v
  double tolerance_dual = gradcheck_tolerance_dual;                // positive and finite
  double tolerance_differences = gradcheck_tolerance_differences;  // positive and finite
  std::vector<std::string> zero_gradients = {};  // names whose gradient is zero by mathematics
};

/// One element of a gradient, as a report shows it.
struct GradcheckElement {
  std::string index;    // "[2, 5]"
  double analytic = 0;  // by backward()
  double expected = 0;  // by the oracle, or by another backward pass
};

/// What a check found. The error of element j is |a − n| / s with a from backward(), n from the
/// oracle and s = Σ_i |v_i|·|∂y_i/∂x_j|, the size of what is summed, but at least 1 % of the
/// largest s of the check. An error that only this floor makes small is not excused: unless
/// rounding may explain it, the element is wrong.
///
/// An element is undecided where one oracle cannot tell whether its gradient is right:
///   - differences, at a kink, or where the rounding of a large number hides the derivative;
///   - differences, where f throws or has an output of another shape at a neighbouring point;
///   - dual numbers, where rounding hides the last digits of the derivative, but six agree;
///   - dual numbers, where the derivative is so small that the rounding of larger ones hides it.
/// It does not make the report fail: a right gradient must not be called wrong. `undecided` counts
/// these elements and `note` names the first. If every element must be proved twice, require
/// undecided == 0; `fledge gradcheck` does.
struct GradcheckReport {
  bool ok = false;
  Dim elements = 0;  // compared: every element of every input
  /// NaN if a number is NaN, infinite if no element was decided or the oracle refuses the check.
  double max_error_dual = 0;
  double max_error_differences = 0;  // the same, of the elements that differences decide
  /// The oracles that found the problem. If both are false, backward passes do not agree, or no
  /// comparison was made.
  bool wrong_by_dual = false;
  bool wrong_by_differences = false;
  std::string problem;       // empty when ok; else one sentence
  std::string likely_cause;  // empty unless the errors show a known pattern
  std::string pattern;       // without a likely cause: how many elements of the tensor are wrong
  std::string tensor;        // of the worst element
  std::string index;         // of the worst element: "[2, 5]"
  double analytic = 0;       // its gradient by backward()
  /// Its gradient by dual numbers if they found the problem, else by differences. If no oracle
  /// found it, by another backward pass.
  double expected = 0;
  /// The five elements of `tensor` with the largest errors, the largest first.
  std::vector<GradcheckElement> worst;
  Dim undecided = 0;  // elements that one oracle cannot check
  std::string note;   // empty when undecided is 0; else one sentence an oracle: where, and why
  double max_error_second = 0;  // of H·u, with order = 2
  Dim second_undecided = 0;     // elements of H·u that differences cannot check
  Dim unreached = 0;            // outputs that depend on no input

  explicit operator bool() const { return ok; }
};

/// "ok: 12 elements, largest error 3e-15 (dual), 2e-11 (differences)", or the problem with its
/// numbers, likely cause, and a table of the worst elements if there are two or more; and the note.
/// Numbers that are compared have as many digits as it takes to differ, and a decimal point in every
/// locale.
std::string to_string(const GradcheckReport& report);

/// Checks the gradient of f() with respect to every element of the parameters named. f must compute
/// the same y, of any shape, each time it is called.
///
/// A report is not ok if an error is larger than the tolerance of its oracle. It is not ok either
/// if the check could not fail: there are no elements, a number is not finite, or the gradient of
/// an input is zero everywhere. An input listed in zero_gradients is an exception: for it,
/// backward() and the oracle must both find zero, up to rounding errors. A gradient that cancels to
/// zero leaves rounding errors; they are recognised because they change when the inputs change a
/// little, between their last places and 1e-4 of them. If rounding leaves fewer than six
/// digits to dual numbers, the report is not ok and says so; it does not call the gradient wrong.
///
/// The backward pass is run again in four ways: unchanged, which must give the same bits; with
/// v = 0, which must give exact zeros; with 1024·v, −1024·v and v/1024, because rules are linear;
/// and with a second op that uses every parameter, because rules must add to its contribution.
/// Earlier gradients of the parameters named are cleared; other parameters keep theirs. A report is
/// not ok if a parameter has other bits after these passes.
///
/// With order = 2 the tangents of backward() are checked as well, for parameters that move along a
/// random u: they are H·u, with the Hessian H of L = ⟨v, f()⟩ (Pearlmutter 1994). They must be the
/// differences of backward() along u, and ⟨w, H·u⟩ = ⟨u, H·w⟩ for a random w. Elements of H·u that
/// differences cannot decide, as at a kink, are counted in `second_undecided`; if none is decided,
/// the report is not ok.
///
/// When both oracles find a wrong gradient, the report has one problem and one likely cause. When
/// one of them confirms backward(), the likely cause says that the oracles disagree: the forward
/// pass then computes with numbers that carry no tangent, or a rule of Dual is wrong.
///
/// Differences cannot tell which slope a rule should take at a kink, and need a smooth stretch of
/// 3h to both sides, h = 0.006·max(1, |x|) down to a 4600th of it: log of 1e-6 has none. Dual
/// numbers need none, and follow the branch that was taken.
/// An exception of f at the inputs given comes out; one at a neighbouring point decides nothing.
/// Throws ValueError for a tolerance that is not positive and finite, a tensor that is no
/// parameter, one that is listed twice, and a name in zero_gradients that no parameter has.
GradcheckReport gradcheck(const std::function<Tensor()>& f,
                          const std::vector<NamedTensor>& parameters,
                          const GradcheckOptions& options = {});

/// Checks f at the given inputs; they are named "input 0", "input 1", …. Then makes some of them
/// constants, in every mixture (of more than four inputs: all but one, and one): the gradients of
/// the others must stay the same.
GradcheckReport gradcheck(const std::function<Tensor(const std::vector<Tensor>&)>& f,
                          const std::vector<Array>& inputs, const GradcheckOptions& options = {});

/// The shapes of the parameters that take part in f() and are not among these, each once.
std::vector<Shape> other_parameters(const std::function<Tensor()>& f,
                                    const std::vector<NamedTensor>& parameters);

/// Which outputs depend on which inputs, by dual numbers at these inputs: a picture for each input,
/// with a line for each output and a column for each element of the input, 1 where ∂y_i/∂x_j ≠ 0.
/// That of causal attention is a triangle.
std::vector<std::string> jacobian_pattern(
    const std::function<Tensor(const std::vector<Tensor>&)>& f, const std::vector<Array>& inputs);

}  // namespace fledge
