// One pool of worker threads, started when it is first needed.               Next: thread_pool.cpp.
//
// Key idea: each output number is computed by exactly one task, in a fixed order. The result
// therefore does not depend on the number of threads or on scheduling. A process that has forked
// must not use the pool of its parent: fork() copies no threads.
#pragma once

#include "engine/base/dim.h"

namespace fledge {

/// How many threads share large work: the number that was asked for, by set_threads() or else by
/// FLEDGE_THREADS, but at most one for each processor that this process may use. More threads than
/// processors would change no result and cost much time. The default is one thread per processor.
/// Throws ValueError when FLEDGE_THREADS is no number from 1 to 256.
int threads();

/// Sets the number of threads that are asked for, at once. Throws ValueError outside 1 … 256.
void set_threads(int count);

/// Calls task(context, 0) … task(context, count − 1), each once, on the worker threads and this one;
/// returns when all are done. kernels/parallel.h is the way to call it.
using PoolTask = void (*)(const void* context, Dim index);
void run_tasks(Dim count, PoolTask task, const void* context);

/// For tests, which need more threads than a small machine has processors: `count` replaces
/// available_processors(); 0 ends that.
void set_processors(int count);

}  // namespace fledge
