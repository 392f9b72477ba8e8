// Planted bugs in the engine: accumulation, order, freeing, recording, lifetime.
#pragma once

#include "bug.h"

namespace planted {

inline constexpr Bug graph_bugs[] = {
    {"gradient-overwritten", "engine/autograd.cpp", R"(if (!pending_grad.exists()) {)",
     R"(if (pending_grad.exists() || !pending_grad.exists()) {)",
     "karpathy/nn-zero-to-hero #52: = for += in the first lecture"},
    {"gradient-in-place-overwritten", "engine/autograd.cpp",
     R"([](Real a, Real b) { return a + b; }, to, to, x.data())",
     R"([](Real, Real b) { return b; }, to, to, x.data())",
     "a classic slip: right until a third path joins"},
    {"gradient-added-into-a-shared-block", "engine/autograd.cpp",
     R"(} else if (pending_grad.is_unique()) {
        add_into(pending_grad, contribution);)",
     R"(} else if (pending_grad.exists()) {
        Real* to = const_cast<Real*>(pending_grad.data());
        for (Dim i = 0; i < pending_grad.size(); ++i) to[i] += contribution[i];)",
     "a classic slip: a + a adds into the gradient that its other reader still needs"},
    {"gradient-counted-twice", "engine/autograd.cpp", R"((*edge.vjp)(*edge.input, dy);)",
     R"((*edge.vjp)(*edge.input, dy);
        (*edge.vjp)(*edge.input, dy);)",
     "zou-group/textgrad #200: the same gradient added twice"},
    {"first-user-only", "engine/autograd.cpp",
     R"(if (!edge.input->pending_grad.exists()) push(edge.input);)",
     R"(if (edge.input->pending_grad.exists()) continue;
        push(edge.input);)",
     "TrenTorch/TrenTorch #182: shared tensors lose branches, 6 where 21 is right"},
    {"oldest-first", "engine/autograd.cpp", R"(return a->id < b->id;)", R"(return a->id > b->id;)",
     "karpathy/micrograd #64: visited before all its users"},
    {"diamond-visited-twice", "engine/autograd.cpp",
     R"(std::pop_heap(waiting_.begin(), waiting_.end(), older);)", "",
     "sebgao/cTensor #5: 7 where 6 is right, a node is passed once per path"},
    {"same-argument-listed-once", "engine/autograd.cpp", R"(node->edges = std::move(edges);)",
     R"(for (Edge& edge : edges)
          if (std::none_of(node->edges.begin(), node->edges.end(),
                           [&](const Edge& known) { return known.input == edge.input; }))
            node->edges.push_back(std::move(edge));)",
     "NervanaSystems/neon #169: dot(x, x.T), parents kept in a set"},
    {"cotangent-ignored", "engine/autograd.cpp", R"(from->pending_grad = dy;)",
     R"(from->pending_grad = Array::ones(dy.shape());)",
     "a classic slip: backward() starts with ones whatever it was given"},
    {"second-pass-replaces", "engine/autograd.cpp",
     R"(if (f.node->grad.exists()) f.gradient = f.node->grad + f.gradient;)",
     R"(if (!f.gradient.exists()) f.gradient = f.node->grad;)",
     "kvark/meganeura #121: every step overwrites, nothing accumulates over batches"},
    {"stale-inner-gradient", "engine/autograd.cpp",
     R"(const Array dy = std::exchange(node->pending_grad, Array());)",
     R"(const Array dy = node->pending_grad;)",
     "karpathy/micrograd #102: inner gradients stay from one backward to the next"},
    {"tied-contribution-erased", "engine/autograd.cpp",
     R"(if (!pending_grad.exists())
          pending_grad = Array::zeros(shape);
        else if)",
     R"(pending_grad = Array::zeros(shape);
        if)",
     "paiml/entrenar #314: a tied table loses the gradient of its other role"},
    {"freed-graph-answers", "engine/autograd.cpp", R"(node->released = true;)", "",
     "TrenTorch/TrenTorch #182: cleared after first use, the second backward gives nothing"},
    {"graph-never-freed", "engine/autograd.cpp", R"(if (graph_ == Graph::free) {
      used = std::move(node->edges);
      node->released = true;
    }
    for (const Edge& edge : graph_ == Graph::free ? used : node->edges))",
     R"(for (const Edge& edge : node->edges))",
     "karpathy/nanoGPT #287: memory grows until the system kills the training"},
    {"kept-graph-freed", "engine/autograd.cpp", R"(if (graph_ == Graph::free) {
      used = std::move(node->edges);
      node->released = true;
    }
    for (const Edge& edge : graph_ == Graph::free ? used : node->edges))",
     R"(used = std::move(node->edges);
    node->released = graph_ == Graph::free;
    for (const Edge& edge : used))",
     "a classic slip: retain_graph has no effect"},
    {"exception-leaves-gradients", "engine/autograd.cpp",
     R"(for (const auto& node : waiting_) node->pending_grad = Array();)", "",
     "a classic slip: a rule throws, and the next backward starts from its leftovers"},
    {"gradient-kept-before-the-end", "engine/autograd.cpp",
     R"(if (node->keeps_grad) finished_.push_back({node, dy});)",
     R"(if (node->keeps_grad) node->grad = node->grad.exists() ? node->grad + dy : dy;)",
     "a classic slip: half of the parameters changed when a rule threw"},
    {"deep-graph-freed-by-recursion", "engine/autograd.cpp",
     R"(for (Edge& edge : edges) free_with_inputs(std::move(edge.input));)",
     R"(for (Edge& edge : edges) edge.input = nullptr;)",
     "pytorch/pytorch #5534: freeing a deep graph overflows the stack"},
    {"nograd-forgotten-on-exception", "engine/autograd.cpp",
     R"(NoGrad::~NoGrad() { recording_flag() = before_; })",
     R"(NoGrad::~NoGrad() {
          if (std::uncaught_exceptions() == 0) recording_flag() = before_;
        })",
     "Lightning-AI/pytorch-lightning #2180: an error in validation ends all training"},
    {"nograd-does-not-nest", "engine/autograd.cpp", R"(recording_flag() = before_;)",
     R"(recording_flag() = before_ || true;)",
     "pytorch/pytorch #44531: the inner one restores the wrong mode"},
    {"nograd-on-every-thread", "engine/autograd.cpp", R"(thread_local bool on = true;)",
     R"(static bool on = true;)", "a classic slip: a global where each thread needs its own"},
    {"nograd-records", "engine/autograd.cpp", R"(bool recording() { return recording_flag(); })",
     R"(bool recording() { return recording_flag() || true; })",
     "a classic slip: evaluation keeps the graph, and the memory"},
    {"zero-grad-keeps", "engine/tensor.cpp", R"(if (node_) node_->grad = Array();)",
     R"(if (node_ && !node_->leaf) node_->grad = Array();)",
     "a classic slip: gradients of all steps add up"},
    {"keep-grad-forgets", "engine/tensor.cpp", R"(node_->keeps_grad = true;)",
     R"(node_->keeps_grad = node_->leaf;)", "a classic slip: only leaves keep theirs"},
    {"detach-keeps-history", "engine/tensor.h",
     R"(Tensor detach() const { return Tensor(value()); })",
     R"(Tensor detach() const { return *this; })",
     "a classic slip: the same numbers, and their history",
     "tests/engine/gradcheck/test_diagnosis.cpp tests/engine/gradcheck/test_gradcheck.cpp "
     "tests/engine/gradcheck/test_gradcheck_wrong.cpp tests/engine/test_autograd.cpp "
     "tests/engine/test_autograd_graphs.cpp tests/engine/test_tensor.cpp"},
    {"shared-numbers-overwritten", "engine/array.h", R"(if (!is_unique()) refuse_shared();)",
     R"(if (!exists()) refuse_shared();)",
     "a classic slip: an optimiser writes what a graph still needs"},
};

}  // namespace planted
