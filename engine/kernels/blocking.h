// The sizes at which kernels cut work into blocks and tasks.                  Next: blocking.cpp.
//
// A kernel reads these sizes each time it is called. Only tests change them: with small sizes a
// small matrix has many blocks, and every border between blocks is tested in a few milliseconds.
// They change no bit of a result, except four: `sum_k` and `sum_rows` (the lengths of chains of
// additions), `block_keys` (the parts of a softmax) and `task_numbers` (the parts of Σ g² in
// clip_gradients).
#pragma once

#include "engine/real.h"

namespace fledge::kernels {

struct Blocking {
  // parallel.h, gemm.cpp, cross_entropy.cpp
  Dim serial_work;   // work of fewer elementary operations stays on the calling thread
  Dim tasks;         // number of tasks a loop over numbers or rows is cut into
  Dim task_numbers;  // most numbers per task
  Dim task_rows;     // rows of logits per task
  // gemm.cpp: C (n, m) = A (n, k) · B (k, m)
  Dim sum_k;           // most products added one after the other; longer sums are cut in parts
  Dim block_k;         // rows of a panel of B, at most most_block_k
  Dim packed_numbers;  // most numbers of B that are packed at once, but at least one panel
  Dim aliased_row;     // rows a multiple of it apart share few lines of L1
  Dim packed_panels;   // panels of B that are packed and read together
  Dim band_tiles;      // most rows of tiles per task that reads all of B
  Dim unpacked_n;      // rows of A up to which packing all of B does not pay
  Dim cached_numbers;  // a larger A or B does not stay in L2
  // row_product.cpp
  Dim row_product_columns;  // most columns per task, a multiple of `lanes`
  // sums.cpp
  Dim sum_rows;   // most rows added one after the other; longer sums are cut in halves
  Dim sum_parts;  // most tasks that add a part of the rows each; a power of 2
  // attention.cpp, small_head_attention.cpp
  Dim block_queries;       // queries per task; backward, keys per task as well
  Dim block_keys;          // forward, the keys of a part of a softmax
  Dim small_head_queries;  // queries per block
};

inline constexpr Dim most_block_k = 512;

/// The sizes in use. A test that changes them must do so while no kernel runs.
extern Blocking blocking;

}  // namespace fledge::kernels
