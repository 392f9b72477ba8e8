#include "engine/autograd.h"

#include "engine/array_math.h"

namespace fledge {

void backward(const Tensor& y, Graph graph) {
  require(y.size() == 1, "backward", "needs a single number, got shape ", y.shape(),
          "; pass a cotangent of that shape for ⟨dy, y⟩");
  backward(y, Array::ones(y.shape()), graph);
}

namespace {

// One backward pass. `waiting_` is a heap of the nodes that have received a gradient, newest on
// top. Leaves are kept out of the heap: they have no inputs to visit, and many nodes are leaves.
//
// Note [Ids order the graph]: a node is made after its inputs, so its id is larger than theirs.
// When a node comes to the top, all nodes that use it have been visited.
class BackwardPass {
 public:
  explicit BackwardPass(Graph graph) : graph_(graph) {}

  // After an exception, no node keeps a pending gradient.
  ~BackwardPass() {
    for (const auto& node : waiting_) node->pending_grad = Array();
    for (const auto& leaf : leaves_) leaf->pending_grad = Array();
  }
  BackwardPass(const BackwardPass&) = delete;
  BackwardPass& operator=(const BackwardPass&) = delete;

  void run(const Handle<Node>& from, const Array& dy) {
    push(from);
    from->pending_grad = dy;
    while (!waiting_.empty()) visit(pop());
    // Reserve first: if allocation throws, no leaf has been moved, and ~BackwardPass can reset all
    // of them.
    finished_.reserve(finished_.size() + leaves_.size());
    for (auto& leaf : leaves_) {
      Array gradient = std::exchange(leaf->pending_grad, Array());
      finished_.push_back({std::move(leaf), std::move(gradient)});
    }
    leaves_.clear();
    keep_finished();
  }

 private:
  struct FinishedGrad {
    Handle<Node> node;
    Array gradient;
  };

  static bool older(const Handle<Node>& a, const Handle<Node>& b) { return a->id < b->id; }

  void push(Handle<Node> node) {
    if (node->leaf) return leaves_.push_back(std::move(node));
    waiting_.push_back(std::move(node));
    std::push_heap(waiting_.begin(), waiting_.end(), older);
  }

  Handle<Node> pop() {
    std::pop_heap(waiting_.begin(), waiting_.end(), older);
    Handle<Node> newest = std::move(waiting_.back());
    waiting_.pop_back();
    return newest;
  }

  void visit(const Handle<Node>& node) {
    const Array dy = std::exchange(node->pending_grad, Array());
    require<GraphError>(!node->released, "backward", "the graph of '", node->op,
                        "' was freed by an earlier backward(); run the forward pass again, or call "
                        "the first one with Graph::keep");
    if (node->keeps_grad) finished_.push_back({node, dy});
    PoolVector<Edge> used;  // with Graph::free, freed when visit() returns
    if (graph_ == Graph::free) {
      used = std::move(node->edges);
      node->released = true;
    }
    for (const Edge& edge : graph_ == Graph::free ? used : node->edges) {
      if (!edge.input->pending_grad.exists()) push(edge.input);
      try {
        (*edge.vjp)(*edge.input, dy);
      } catch (const ShapeError& error) {
        throw ShapeError(in_rule_of(*node, error));
      } catch (const ValueError& error) {
        throw ValueError(in_rule_of(*node, error));
      }
      require(edge.input->pending_grad.exists(), "backward", "a rule of '", node->op,
              "' gave no gradient");
      if (graph_observer != nullptr)
        graph_observer->inspect(*node, edge.input->pending_grad, edge.input.get());
    }
  }

  static std::string in_rule_of(const Node& node, const std::exception& error) {
    return "backward: in a rule of '" + std::string(node.op) + "': " + error.what();
  }

  // All sums are computed before the first gradient is written: an exception changes no gradient.
  void keep_finished() {
    for (FinishedGrad& f : finished_)
      if (f.node->grad.exists()) f.gradient = f.node->grad + f.gradient;
    for (FinishedGrad& f : finished_) f.node->grad = std::move(f.gradient);
  }

  Graph graph_;
  PoolVector<Handle<Node>> waiting_, leaves_;
  PoolVector<FinishedGrad> finished_;
};

}  // namespace

void backward(const Tensor& y, const Array& dy, Graph graph) {
  require<GraphError>(y.needs_grad(), "backward",
                      "this tensor does not depend on any parameter, or was computed under NoGrad");
  require<ValueError>(dy.exists(), "backward", "the cotangent is no array");
  require(dy.shape() == y.shape(), "backward", "cotangent of shape ", dy.shape(),
          " for a tensor of shape ", y.shape());
  // Only parallel work checks for an interrupt, and a small graph has none; so check once here.
  check_interrupt();
  BackwardPass(graph).run(y.node(), dy);
}

namespace {

// sum += x
void add_into(Array& sum, const Array& x) {
  Real* to = sum.write();
  detail::transform(
      sum.size(), [](Real a, Real b) { return a + b; }, to, to, x.data());
}

}  // namespace

void Node::accumulate_grad(Array dx) {
  require<ValueError>(dx.exists(), "rule", "must return the gradient of an argument of shape ",
                      shape, ": got no array");
  Array contribution = sum_to(std::move(dx), shape);
  if (!pending_grad.exists()) {
    pending_grad = std::move(contribution);
  } else if (pending_grad.is_unique()) {
    add_into(pending_grad, contribution);
  } else if (contribution.is_unique()) {
    add_into(contribution, pending_grad);
    pending_grad = std::move(contribution);
  } else {
    pending_grad = pending_grad + contribution;
  }
}

Array& Node::pending_grad_buffer() {
  if (!pending_grad.exists())
    pending_grad = Array::zeros(shape);
  else if (!pending_grad.is_unique())
    pending_grad = pending_grad.clone();
  return pending_grad;
}

namespace {

constinit thread_local bool is_recording = true;

}  // namespace

bool recording() { return is_recording; }
NoGrad::NoGrad() : before_(std::exchange(is_recording, false)) {}
NoGrad::~NoGrad() { is_recording = before_; }

Tensor record(std::string_view op, Array value, PoolVector<Edge> edges) {
  require<ValueError>(value.exists(), op, "needs a value to record: got no array");
  std::erase_if(edges, [](const Edge& edge) { return edge.input == nullptr; });
  if (edges.empty()) return Tensor(std::move(value));
  Handle<Node> node(new Node(op, value.shape()));
  node->edges = std::move(edges);
  if (graph_observer != nullptr) graph_observer->inspect(*node, value, nullptr);
  return {std::move(value), std::move(node)};
}

namespace {

constinit std::atomic<std::uint64_t> last_id{0};

}  // namespace

Node::Node(std::string_view op_name, const Shape& value_shape)
    : id(++last_id), op(op_name), shape(value_shape) {}

// Note [No recursion]: recursive destructors would free a chain of a million nodes a million calls
// deep. So a loop deletes the inputs that have no other handle, deepest first. It allocates
// nothing, because graphs are also freed after memory has run out. The way back is stored by
// pointer reversal: while an input is deleted, the edge to it holds the node that used it.
void Node::destroy(Node* node) noexcept {
  Node* user = nullptr;  // the node that uses `node` as an input
  while (true) {
    while (!node->edges.empty()) {
      Node* const input = node->edges.back().input.release();
      if (input != nullptr && input->handles.remove()) {
        node->edges.back().input = Handle<Node>(user);
        user = std::exchange(node, input);
      } else {
        node->edges.pop_back();
      }
    }
    delete node;
    if (user == nullptr) return;
    node = std::exchange(user, user->edges.back().input.release());
    node->edges.pop_back();
  }
}

}  // namespace fledge
