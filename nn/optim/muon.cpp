#include "nn/optim/muon.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "engine/array_math.h"
#include "engine/base/interrupt.h"
#include "engine/kernels/sums.h"

namespace fledge {

namespace {

void check(const MuonOptions& options) {
  require<ValueError>(std::isfinite(options.times) && options.times >= 0, "Muon",
                      "times must be finite and not negative: got ", options.times);
  const double rate = options.times * options.adamw.rate;
  require<ValueError>(isfinite(Real(rate)) && isfinite(Real(rate * options.adamw.decay)), "Muon",
                      "the rate is too large for this number type: got ", rate);
  require<ValueError>(options.momentum >= 0 && options.momentum < 1, "Muon",
                      "the momentum must be in [0, 1): got ", options.momentum);
}

// Before AdamW is made, so that an error has the index in the whole list.
std::vector<Tensor> checked(std::vector<Tensor> parameters) {
  require_parameters("Muon", parameters);
  return parameters;
}

// The elements of a list that belong to AdamW, which are those without matrices.
template <class T>
std::vector<T> of_adamw(const std::vector<T>& all, const std::vector<std::vector<Dim>>& matrices) {
  std::vector<T> own;
  for (std::size_t p = 0; p < all.size(); ++p)
    if (p >= matrices.size() || matrices[p].empty()) own.push_back(all[p]);
  return own;
}

// For each of the matrices side by side in u (in, out): √max(1, out/in)·orthogonalised(matrix).
Array directions(const Array& u, const std::vector<Dim>& columns) {
  const Dim rows = u.dim(0), all = u.dim(1);
  Array y(u.shape());
  Real* to = y.write();
  const Real* from = u.data();
  for (const Dim count : columns) {
    Array part({rows, count});
    Real* const numbers = part.write();
    for (Dim i = 0; i < rows; ++i) std::copy_n(from + i * all, count, numbers + i * count);
    const double ratio = static_cast<double>(count) / static_cast<double>(rows);
    part = orthogonalised(part) * Real(std::sqrt(std::max(1.0, ratio)));
    for (Dim i = 0; i < rows; ++i) std::copy_n(part.data() + i * count, count, to + i * all);
    from += count;
    to += count;
  }
  return y;
}

}  // namespace

Array orthogonalised(const Array& g) {
  require(g.rank() == 2, "orthogonalised", "needs a matrix: got shape ", g.shape());
  const Real a = Real(3.4445), b = Real(-4.7750), c = Real(2.0315);
  Array x = g * Real(1 / (std::sqrt(kernels::sum_of_squares(g.data(), g.size())) + 1e-7));
  // X·p(Xᵀ·X) = p(X·Xᵀ)·X, so the smaller of both products is taken: (k, k), k = min(n, m).
  const bool is_tall = g.dim(0) > g.dim(1);
  for (int step = 0; step < 5; ++step) {
    const Array s = is_tall ? product(transposed(x), x) : product(x, transposed(x));
    const Array p =
        zip("orthogonalised", s, product(s, s), [=](Real s1, Real s2) { return b * s1 + c * s2; });
    x = zip("orthogonalised", x, is_tall ? product(x, p) : product(p, x),
            [=](Real x0, Real px) { return a * x0 + px; });
  }
  return x;
}

Muon::Muon(std::vector<Tensor> parameters, MuonOptions muon_options,
           std::vector<double> decay_factors, std::vector<std::vector<Dim>> matrices)
    : options(muon_options),
      parameters_(checked(std::move(parameters))),
      adamw_(of_adamw(parameters_, matrices), options.adamw, of_adamw(decay_factors, matrices)) {
  check(options);
  require<ValueError>(
      matrices.size() == parameters_.size() && decay_factors.size() == parameters_.size(), "Muon",
      "has ", parameters_.size(), " parameters: got ", decay_factors.size(),
      " factors of the decay, and the matrices of ", matrices.size());
  for (std::size_t p = 0; p < parameters_.size(); ++p) {
    const std::vector<Dim>& columns = matrices[p];
    if (columns.empty()) continue;
    const Shape& shape = parameters_[p].shape();
    Moments own;
    own.is_muon = true;
    require<ValueError>(decay_factors[p] >= 0 && decay_factors[p] <= 1, "Muon", "parameter ", p,
                        ": a factor of the decay must be in [0, 1]: got ", decay_factors[p]);
    require<ValueError>(
        shape.rank() == 2 && *std::min_element(columns.begin(), columns.end()) > 0 &&
            std::accumulate(columns.begin(), columns.end(), Dim{0}) == shape.dim(1),
        "Muon", "the matrices in parameter ", p, " of shape ", shape,
        " must have all its columns, and one or more each: got ", columns.size(), " with ",
        std::accumulate(columns.begin(), columns.end(), Dim{0}), " columns in all");
    matrices_.push_back({p, columns, decay_factors[p], own});
  }
}

void Muon::step() {
  check(options);
  adamw_.options = options.adamw;
  if (matrices_.empty()) return adamw_.step();
  require_finite("Muon", parameters_, GradientParts(parameters_), Finite::squares);
  const PoolVector<Real*> numbers = writable_numbers(parameters_);
  struct Update {
    Array momentum, direction;
  };
  std::vector<Update> updates(matrices_.size());
  const Real mu = Real(options.momentum);
  for (std::size_t i = 0; i < matrices_.size(); ++i) {
    const Tensor& p = parameters_[matrices_[i].parameter];
    if (!p.has_grad()) continue;
    const auto add = [mu](Real m, Real g) { return mu * m + g; };
    allocate_moment(matrices_[i].moments.m, p);
    updates[i].momentum = zip("Muon", matrices_[i].moments.m, p.grad(), add);
    updates[i].direction =
        directions(zip("Muon", updates[i].momentum, p.grad(), add), matrices_[i].columns);
  }
  adamw_.step();                               // what throws has thrown
  const InterruptScope no_interrupt(nullptr);  // from here on all matrices are updated
  const double rate = options.times * options.adamw.rate;
  for (std::size_t i = 0; i < matrices_.size(); ++i) {
    if (!updates[i].momentum.exists()) continue;
    auto& [parameter, columns, decay_factor, moments] = matrices_[i];
    moments.m = updates[i].momentum;
    ++moments.t;
    const Real eta = Real(rate), decay = Real(rate * options.adamw.decay * decay_factor);
    Real* const theta = numbers[parameter];
    detail::transform(
        moments.m.size(), [=](Real w, Real u) { return w - (decay * w + eta * u); }, theta, theta,
        updates[i].direction.data());
  }
}

std::vector<Moments> Muon::moments() const {
  std::vector<Moments> all(parameters_.size());
  for (const Matrix& matrix : matrices_) all[matrix.parameter] = copy_of(matrix.moments);
  auto next = adamw_.moments();
  auto from = next.begin();
  for (Moments& moments : all)
    if (!moments.is_muon) moments = std::move(*from++);
  return all;
}

void Muon::restore(const std::vector<Moments>& moments) {
  require_moments("Muon", parameters_, moments);
  std::vector<Moments> own(parameters_.size()), others;
  for (const Matrix& matrix : matrices_) own[matrix.parameter].is_muon = true;
  for (std::size_t p = 0; p < moments.size(); ++p) {
    require<ValueError>(moments[p].is_muon == own[p].is_muon, "Muon", "parameter ", p,
                        own[p].is_muon ? " is a matrix of Muon: got moments of AdamW"
                                       : " is moved by AdamW: got a momentum of Muon");
    if (own[p].is_muon)
      own[p] = copy_of(moments[p]);
    else
      others.push_back(moments[p]);
  }
  adamw_.restore(others);
  for (Matrix& matrix : matrices_) matrix.moments = std::move(own[matrix.parameter]);
}

std::vector<std::vector<Dim>> matrices_of_blocks(
    const std::vector<std::pair<std::string, Tensor>>& named) {
  std::vector<std::vector<Dim>> matrices;
  for (const auto& [name, tensor] : named) {
    matrices.emplace_back();
    if (!name.starts_with("h.") || tensor.rank() != 2) continue;
    const Dim rows = tensor.dim(0), columns = tensor.dim(1), rest = columns - rows;
    if (name.ends_with("attn.c_attn.weight"))
      matrices.back() = {rows, rest / 2, rest / 2};
    else
      matrices.back() = {columns};
  }
  return matrices;
}

}  // namespace fledge
