// One pool of worker threads, started when it is first needed. Read next: thread_pool.cpp.
//
// Key idea: each output number is computed by exactly one task, in a fixed order. The result
// therefore does not depend on the number of threads or on scheduling. After fork(), the child
// process must not use the pool: fork() does not copy the worker threads.
#pragma once

#include "engine/base/dim.h"

namespace fledge {

/// How many threads share large work: the number requested by set_threads(), or else by
/// FLEDGE_THREADS, but at most one for each processor that this process may use. More threads than
/// processors would change no result and cost much time. The default is one thread per processor.
/// Throws ValueError when FLEDGE_THREADS is no number from 1 to 256.
int threads();

/// Sets the requested number of threads, from the next run_tasks() on. Throws ValueError outside
/// 1 … 256.
void set_threads(int count);

using PoolTask = void (*)(const void* context, Dim index);
/// Calls task(context, i) for i = 0 … count − 1 on this thread and, if possible, on the workers.
/// Returns when all are done. Rethrows the exception of the failed task with the lowest index.
/// Throws Interrupted if the interrupt test is true; then some tasks have not run. Call it through
/// engine/kernels/parallel.h.
void run_tasks(Dim count, PoolTask task, const void* context);

/// For tests, which need more threads than a small machine has processors: `count` replaces
/// available_processors(); 0 ends that.
void set_processors(int count);

}  // namespace fledge
