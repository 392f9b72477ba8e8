#include "nn/optim/adamw.h"

#include <numeric>

#include "engine/array_math.h"
#include "engine/kernels/simd_math.h"
#include "engine/kernels/sums.h"

namespace fledge {

namespace {

using kernels::load;
using kernels::store;
using kernels::Vec;

void check(const AdamWOptions& options) {
  const auto not_negative = [](const char* what, double x) {
    require<ValueError>(std::isfinite(x) && x >= 0, "AdamW", what,
                        " must be finite and not negative: got ", x);
  };
  not_negative("the rate", options.rate);
  not_negative("the decay", options.decay);
  not_negative("eps", options.eps);
  not_negative("times", options.times);
  require<ValueError>(Real(options.eps) > Real(0), "AdamW", "eps must be positive: got ",
                      options.eps);
  for (const double beta : {options.beta1, options.beta2})
    require<ValueError>(beta >= 0 && beta < 1, "AdamW", "both betas must be in [0, 1): got ", beta);
  require<ValueError>(options.momentum >= 0 && options.momentum < 1, "AdamW",
                      "the momentum must be in [0, 1): got ", options.momentum);
  const double of_muon = options.times * options.rate;
  for (const double used : {options.rate / (1 - options.beta1), options.rate * options.decay,
                            of_muon, of_muon * options.decay})
    require<ValueError>(isfinite(Real(used)), "AdamW",
                        "the rate is too large for this number type: got ", options.rate);
}

// The average β·old + (1 − β)·fresh, computed as a step from the term with the larger weight:
//   from + share·(to − from) = old + (1 − β)·(fresh − old) = fresh + β·(old − fresh),   share ≤ ½
// With the sum of two products, the rounding error of β would repeat at every step: the error after
// 1,000 steps with β = 0.999 in float would be 1.9e-5 instead of 2.1e-6. With a step that always
// begins at `old`, a rounding error of old would remain if β is near 0 and fresh is much smaller
// than old.
class Average {
 public:
  explicit Average(double beta)
      : from_old_(beta >= 0.5), share_(Real(beta >= 0.5 ? 1 - beta : beta)) {}

  bool from_old() const { return from_old_; }

  /// `usual`: from_old() is true, and the loop needs no branch, which takes a tenth of a step.
  template <bool usual>
  Vec of(Vec old, Vec fresh) const {
    const bool from_old = usual || from_old_;
    const Vec from = from_old ? old : fresh, to = from_old ? fresh : old;
    return from + share_ * (to - from);
  }

 private:
  bool from_old_;
  Real share_;
};

// A matrix (rows, count): columns of an array with `all` columns.
struct MatrixPart {
  Real* numbers = nullptr;
  Dim rows = 0, count = 0, all = 0;
};

// U becomes √max(1, out/in)·orthogonalised(U), U (in, out).
void make_direction(const MatrixPart& u) {
  Array part({u.rows, u.count});
  Real* const numbers = part.write();
  for (Dim i = 0; i < u.rows; ++i)
    std::copy_n(u.numbers + i * u.all, u.count, numbers + i * u.count);
  const double ratio = static_cast<double>(u.count) / static_cast<double>(u.rows);
  part = orthogonalised(part) * Real(std::sqrt(std::max(1.0, ratio)));
  for (Dim i = 0; i < u.rows; ++i)
    std::copy_n(part.data() + i * u.count, u.count, u.numbers + i * u.all);
}

// A product of two small matrices is too little work for several threads, so each thread takes whole
// matrices if there are enough of them.
void make_directions(const PoolVector<MatrixPart>& matrices) {
  const Dim count = std::ssize(matrices);
  const auto make = [&](Dim i) { make_direction(matrices[static_cast<std::size_t>(i)]); };
  if (count < threads()) {
    for (Dim i = 0; i < count; ++i) make(i);
  } else {
    kernels::parallel_for(count, std::numeric_limits<Dim>::max(), make);
  }
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

AdamW::AdamW(std::vector<Tensor> parameters, AdamWOptions adamw_options,
             std::vector<double> decay_factors, std::vector<std::vector<Dim>> matrices)
    : options(adamw_options),
      parameters_(std::move(parameters)),
      decay_factors_(std::move(decay_factors)),
      matrices_(std::move(matrices)),
      moments_(parameters_.size()) {
  require_parameters("AdamW", parameters_);
  check(options);
  if (decay_factors_.empty()) decay_factors_.assign(parameters_.size(), 1);
  if (matrices_.empty()) matrices_.resize(parameters_.size());
  require<ValueError>(
      decay_factors_.size() == parameters_.size() && matrices_.size() == parameters_.size(),
      "AdamW", "has ", parameters_.size(), " parameters: got ", decay_factors_.size(),
      " factors of the decay, and the matrices of ", matrices_.size(), "; give one per parameter");
  for (const double factor : decay_factors_)
    require<ValueError>(factor >= 0 && factor <= 1, "AdamW",
                        "a factor of the decay must be in [0, 1]: got ", factor);
  for (std::size_t p = 0; p < parameters_.size(); ++p) {
    const std::vector<Dim>& columns = matrices_[p];
    moments_[p].is_muon = !columns.empty();
    if (columns.empty()) continue;
    const Shape& shape = parameters_[p].shape();
    const Dim all = std::accumulate(columns.begin(), columns.end(), Dim{0});
    require<ValueError>(shape.rank() == 2 && all == shape.dim(1) &&
                            *std::min_element(columns.begin(), columns.end()) > 0,
                        "AdamW", "the matrices in parameter ", p, " of shape ", shape,
                        " must have all its columns, and one or more each: got ", columns.size(),
                        " with ", all, " columns in all");
  }
}

void AdamW::step() {
  check(options);
  const Average first_moment(options.beta1), second_moment(options.beta2);
  const GradientParts gradients(parameters_);
  require_finite("AdamW", parameters_, gradients, Finite::squares);
  const PoolVector<Real*> numbers = writable_numbers(parameters_);
  struct Update {
    Real *m = nullptr, *v = nullptr;  // null for a matrix
    Real decay = Real(0), rate = Real(0), root2 = Real(0);
  };
  PoolVector<Update> updates(parameters_.size());
  PoolVector<Array> momenta(parameters_.size()), steps(parameters_.size());  // of matrices
  PoolVector<MatrixPart> matrices;                                           // of the steps
  const Real mu = Real(options.momentum);
  const auto add = [mu](Real m, Real g) { return mu * m + g; };
  for (std::size_t p = 0; p < parameters_.size(); ++p) {  // before anything changes: it may throw
    auto& [m, v, t, is_muon] = moments_[p];
    allocate_moment(m, parameters_[p]);
    if (!is_muon) allocate_moment(v, parameters_[p]);
    if (numbers[p] == nullptr) continue;
    if (is_muon) {
      momenta[p] = zip("AdamW", m, parameters_[p].grad(), add);
      steps[p] = zip("AdamW", momenta[p], parameters_[p].grad(), add);
      Real* columns = steps[p].write();
      for (const Dim count : matrices_[p]) {
        matrices.push_back({columns, m.dim(0), count, m.dim(1)});
        columns += count;
      }
    } else {
      updates[p] = {m.write(), v.write()};
    }
  }
  make_directions(matrices);
  const InterruptScope no_interrupt(nullptr);  // from here on all parameters are updated
  const Real eps = Real(options.eps);

  Dim t = 0;  // computed again only if it changes: the two powers take 200 instructions
  Real rate = Real(0), root2 = Real(0);
  for (std::size_t p = 0; p < parameters_.size(); ++p) {
    if (numbers[p] == nullptr) continue;
    ++moments_[p].t;
    if (moments_[p].is_muon) {
      moments_[p].m = momenta[p];
      const Real eta = Real(options.times * options.rate);
      const Real decay = Real(options.times * options.rate * options.decay * decay_factors_[p]);
      detail::transform(
          steps[p].size(), [=](Real w, Real u) { return w - (decay * w + eta * u); }, numbers[p],
          numbers[p], steps[p].data());
      continue;
    }
    if (moments_[p].t != t) {
      t = moments_[p].t;
      const double correction1 = 1 - std::pow(options.beta1, static_cast<double>(t));
      const double correction2 = 1 - std::pow(options.beta2, static_cast<double>(t));
      rate = Real(options.rate / correction1);
      root2 = Real(std::sqrt(correction2));
    }
    updates[p].decay = Real(options.rate * options.decay * decay_factors_[p]);
    updates[p].rate = rate;
    updates[p].root2 = root2;
  }
  const auto run = [&]<bool usual>(std::bool_constant<usual>) {
    gradients.each(4, [&, first = first_moment, second = second_moment](const auto& part) {
      const Update update = updates[part.parameter];
      if (update.m == nullptr) return;  // a matrix
      Real* const theta = numbers[part.parameter] + part.begin;
      Real* const m = update.m + part.begin;
      Real* const v = update.v + part.begin;
      kernels::by_vectors(part.count, [=](Dim i, Dim count) {
        const Vec old = load(theta + i, count), g = load(part.numbers + i, count);
        const Vec mean = first.template of<usual>(load(m + i, count), g);
        const Vec square = second.template of<usual>(load(v + i, count), g * g);
        const Vec step = update.rate * mean / (sqrt(square) / update.root2 + eps);
        store(theta + i, old - (update.decay * old + step), count);
        store(m + i, mean, count);
        store(v + i, square, count);
      });
    });
  };
  if (first_moment.from_old() && second_moment.from_old())
    run(std::true_type());
  else
    run(std::false_type());
}

std::vector<Moments> AdamW::moments() const {
  std::vector<Moments> copies;
  for (const Moments& moments : moments_) copies.push_back(copy_of(moments));
  return copies;
}

void AdamW::restore(const std::vector<Moments>& moments) {
  require_moments("AdamW", parameters_, moments);
  std::vector<Moments> copies;
  for (std::size_t p = 0; p < moments.size(); ++p) {
    require<ValueError>(moments[p].is_muon == moments_[p].is_muon, "AdamW", "parameter ", p,
                        moments_[p].is_muon ? " is a matrix of Muon: got moments of AdamW"
                                            : " is moved by AdamW: got a momentum of Muon");
    copies.push_back(copy_of(moments[p]));
  }
  moments_ = std::move(copies);
}

std::vector<std::vector<Dim>> matrices_of_blocks(const std::vector<NamedTensor>& named) {
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
