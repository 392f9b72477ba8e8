// Gradient checks, and how one number of a gradient comes about: what fledge gradcheck asks of the
// part that is compiled for Dual (gradients/), in types that do not depend on the number type.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace report {

/// What the oracles decided about a name.
struct CheckRow {
  struct Verdict {
    const char* oracle;    // "dual" or "differences"
    double max_error = 0;  // infinite: it has decided no element
    bool ok = false;
  };
  std::string name;    // the op, module or model
  std::string shapes;  // of its inputs
  std::int64_t elements = 0;
  Verdict dual, differences;
  std::string problem;  // empty when ok: what is wrong, where, both numbers, likely cause

  bool ok() const { return dual.ok && differences.ok; }
};

/// Whether `name` selects the row: it is the row's name, or its first words.
inline bool is_named(const std::string& row, const std::string& name) {
  return row == name || row.starts_with(name + " ");
}

/// L = Σ_i v_i·y_i with random v, so ∂L/∂x_j = Σ_i v_i·∂y_i/∂x_j: one path for each output y_i that
/// depends on x_j. See gradients/gradients.cpp.
struct ExplainRequest {
  std::string row, tensor;  // tensor: a name or a number; empty: the first
  std::vector<std::int64_t> index;
  std::uint64_t seed = 1;
};

struct Path {
  std::string output;  // "y[0,1]"
  double derivative = 0, cotangent = 0;
  double part() const { return derivative * cotangent; }
};

/// An op that x enters, and what its rule adds to the gradient of x_j.
struct Use {
  std::string op;
  double part = 0;
};

struct Explanation {
  std::string row, tensor;
  std::string element{}, tensor_shape{}, output_shape{};  // element: "x[0,1]"
  std::vector<Path> paths{};
  std::int64_t other_outputs = 0;  // that do not depend on the element
  std::vector<Use> uses{};
  double by_paths = 0, by_backward = 0, by_differences = 0;
  bool paths_agree = false;         // with backward(), up to rounding
  bool differences_agree = false;   // with backward(), up to 1e-8
  bool differences_decide = false;  // false: at a kink, or where rounding hides the derivative
};

/// A tensor that goes to a program or comes from it.
struct Numbers {
  std::string name;
  std::vector<std::int64_t> shape;
  std::vector<float> numbers;
};

/// One call of a program that computes y and dx: it fills the numbers of `answer`, whose names and
/// shapes are given.
using Program =
    std::function<void(const std::vector<Numbers>& inputs, std::vector<Numbers>& answer)>;

/// What calls with different inputs found.
struct AgainstResult {
  std::size_t calls = 0;
  std::int64_t elements = 0;  // of y and dx
  double max_error = 0;       // relative, as in GradcheckReport; of y, to its largest number
  std::string problem;        // empty if y and dx are right
};

}  // namespace report

namespace fledge_dual {

/// The names of all rows: of the ops, then of the modules.
std::vector<std::string> gradient_names();

/// The rows that one of the names selects; all when there is none.
std::vector<report::CheckRow> check_gradients(const std::vector<std::string>& names,
                                              std::uint64_t seed);

/// Checks a program that computes the op of a row in float: it gets the inputs and "dy", and answers
/// with "y" and "dx", or "dx0", "dx1" of several inputs. y is compared with the op's, dx with the
/// derivative by dual numbers; both may differ by 1e-4.
report::AgainstResult check_against(const std::string& row, std::uint64_t seed,
                                    const report::Program& program);

/// How one number of a gradient comes about. The row must exist. Throws support::UsageError for a
/// tensor or an index that it does not have.
report::Explanation explain_gradient(const report::ExplainRequest& request);

}  // namespace fledge_dual
