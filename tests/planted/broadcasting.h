// Planted bugs in the undoing of broadcasts and in the loops that broadcast.
#pragma once

#include "bug.h"

namespace planted {

inline constexpr Bug broadcasting_bugs[] = {
    {"broadcast-not-reduced", "engine/autograd.cpp",
     R"(Array contribution = sum_to(std::move(dx), shape);)",
     R"(Array contribution = std::move(dx);)",
     "deeplearning4j/nd4j #2424: the gradient keeps the shape of the result"},
    {"broadcast-counted-twice", "engine/autograd.cpp",
     R"(Array contribution = sum_to(std::move(dx), shape);)",
     R"(const bool stretched = dx.shape() != shape;
        Array contribution = sum_to(std::move(dx), shape);
        if (stretched) contribution = contribution * Real(2);)",
     "rsokl/MyGrad #131: backward called twice for what was broadcast"},
    {"broadcast-mean-for-sum", "engine/array_math.cpp",
     R"(return sum_over(dy, axes).with_shape(shape);)",
     R"(return (sum_over(dy, axes) * (real(shape.size()) / real(dy.size()))).with_shape(shape);)",
     "andersbll/nnet, by jimfleming/differentiation #1: mean where sum belongs"},
    {"broadcast-one-sum-for-all", "engine/array_math.cpp",
     R"(return sum_over(dy, axes).with_shape(shape);)",
     R"(const std::vector<int> every = axes_of({}, dy.shape(), "sum_to");
        return broadcast_to(sum_over(dy, every).with_shape(Shape()), shape);)",
     "rasbt/stat453-deep-learning-ss21 #5: one sum over all biases, given to each"},
    {"broadcast-last-wins", "engine/array_math.cpp",
     R"(return sum_over(dy, axes).with_shape(shape);)",
     R"(Array place(shape), last(shape);
        Real* number = place.write();
        for (Dim i = 0; i < place.size(); ++i) number[i] = real(i);
        const Array to = broadcast_to(place, dy.shape());
        Real* dx = last.write();
        for (Dim i = 0; i < dy.size(); ++i) dx[static_cast<Dim>(value_of(to[i]))] = dy[i];
        return last;)",
     "a classic slip: written through a stride of 0, the last one wins"},
    {"broadcast-of-size-one-only", "engine/array_math.cpp",
     R"(if (axis < extra || shape[axis - extra] != dy.shape()[axis]) axes.push_back(axis);)",
     R"(if (axis == 0 || shape[std::max(axis - extra, 0)] != dy.shape()[axis]) axes.push_back(axis);)",
     "HomericIntelligence/Odyssey #2080: axes numbered before the leading ones are gone"},
    {"broadcast-walk-forgets-to-return", "engine/array_math.cpp",
     R"(at -= strides[a] * shape[axis];)", R"(at -= strides[a] * (shape[axis] - 1);)",
     "a classic slip: an odometer that resets one step short"},
};

}  // namespace planted
