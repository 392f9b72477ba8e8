// Loops that may run on several threads.
// Each output number is computed by exactly one task, in a fixed order. The result therefore does
// not depend on the number of threads or on scheduling. Next: base/thread_pool.h.
#pragma once

#include "engine/kernels/blocking.h"
#include "engine/real.h"

namespace fledge::kernels {

/// Calls task(0) … task(count − 1), each once, on several threads when `work`, the elementary
/// operations of all together, is large enough; returns when all are done. An exception of a task
/// reaches the caller: of several, that of the lowest index. Inside an InterruptScope
/// (engine/base/interrupt.h) large work may throw Interrupted, with some of its tasks not done.
template <class F>
void parallel_for(Dim count, Dim work, const F& task) {
  if (count <= 1 || work < blocking.serial_work) {
    for (Dim i = 0; i < count; ++i) task(i);
    return;
  }
  run_tasks(
      count, [](const void* f, Dim index) { (*static_cast<const F*>(f))(index); }, &task);
}

/// How many of `size` numbers make a task: a sixteenth of them, 16,384 at most, whole cache lines.
inline Dim grain_of(Dim size) {
  const Dim share = size / blocking.tasks / 64 * 64 + 64;
  return share < blocking.task_numbers ? share : blocking.task_numbers;
}

/// The same for ranges of at most `grain` numbers, task(begin, end). Small work is one range.
template <class F>
void parallel_ranges(Dim size, Dim grain, Dim work, const F& task) {
  if (work < blocking.serial_work) {
    const F own = task;  // a local copy, with which GCC vectorises more loops
    if (size > 0) own(0, size);
    return;
  }
  parallel_for(ceil_div(size, grain), work,
               [&](Dim i) { task(i * grain, (i + 1) * grain < size ? (i + 1) * grain : size); });
}

/// Calls f(r) for every row of n numbers, in sixteen tasks, or in more where a task would have more
/// than 16,000 numbers. `cost` is the number of elementary operations per number.
template <class F>
void for_rows(Dim rows, Dim n, Dim cost, F f) {
  const Dim share = rows / blocking.tasks, most = blocking.task_numbers / (n + 1);
  parallel_ranges(rows, 1 + (share < most ? share : most), rows * n * cost,
                  [&](Dim begin, Dim end) {
                    for (Dim r = begin; r < end; ++r) f(r);
                  });
}

}  // namespace fledge::kernels
