// The sizes at which kernels cut work into blocks and tasks.                  Next: blocking.cpp.
//
// A kernel reads these sizes each time it is called. Only tests change them: with small sizes a
// small matrix has many blocks, and every border between blocks is tested in a few milliseconds.
// They change no bit of a result, except `sum_rows`, which is the length of a chain of additions.
#pragma once

#include "engine/real.h"

namespace fledge::inline FLEDGE_BUILD::kernels {

struct Blocking {
  // parallel.h, rows.cpp, cross_entropy.cpp
  Dim serial_work;   // work of fewer elementary operations stays on the calling thread
  Dim tasks;         // into which a loop over numbers or rows is cut
  Dim task_numbers;  // in a task, at most
  Dim task_rows;     // of logits in a task
  // gemm.cpp
  Dim block_n, block_k, block_m;  // of A (n, k) and B (k, m); block_k is at most most_block_k
  Dim small_work;                 // n·k·m up to which nothing is packed
  Dim unpacked_m;                 // columns of C up to which rows of A are read where they lie
  Dim tasks_per_thread;           // of a packed product
  Dim small_tasks;                // of a product that is not packed
  // sums.cpp
  Dim sum_columns;  // in a task that adds all rows
  Dim sum_rows;     // added one after the other
  Dim sum_parts;    // tasks that add a part of the rows each; a power of 2
  // attention.cpp, attention_narrow.cpp
  Dim block_queries, narrow_queries;  // at a time
};

inline constexpr Dim most_block_k = 256;

/// The sizes in use. A test that changes them must do so while no kernel runs.
extern Blocking blocking;

}  // namespace fledge::inline FLEDGE_BUILD::kernels
