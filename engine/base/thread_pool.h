// One pool of worker threads, started when it is first needed. Read next: thread_pool.cpp.
//
// Key idea: each output number is computed by exactly one task, in a fixed order. The result
// therefore does not depend on the number of threads or on scheduling. After fork(), the child
// process must not use the pool: fork() does not copy the worker threads.
#pragma once

#include "engine/base/dim.h"

namespace fledge {

/// How many threads share large work: the number that set_threads() set. Before the first call of
/// set_threads() it is the number in FLEDGE_THREADS, but at most one for each processor that this
/// process may use; without that variable, one for each processor. Throws ValueError when
/// FLEDGE_THREADS is no number from 1 to 256.
int threads();

/// Sets the number of threads, from the next run_tasks() on. More threads than processors change no
/// result and cost much time: see available_processors(). Throws ValueError outside 1 … 256.
void set_threads(int count);

using PoolTask = void (*)(const void* context, Dim index);
/// Calls task(context, i) for i = 0 … count − 1 on this thread and, if possible, on the workers.
/// Returns when all are done. Rethrows the exception of the failed task with the lowest index.
/// Throws Interrupted if the interrupt test is true; then some tasks have not run. Call it through
/// engine/kernels/parallel.h.
void run_tasks(Dim count, PoolTask task, const void* context);

}  // namespace fledge
