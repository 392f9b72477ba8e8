// What a page has not: threads, a memory for each of them, and exceptions that are caught. This file
// takes the place of engine/base/thread_pool.cpp and memory.cpp.
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <new>
#include <typeinfo>

#include "engine/base/interrupt.h"
#include "engine/base/memory.h"
#include "engine/base/thread_pool.h"
#include "examples/page/engine/interface.h"

namespace {

[[noreturn]] void fail_with(const char* sentence) {
  fail(sentence, static_cast<std::uint32_t>(std::strlen(sentence)));
}

void* checked(void* block) {
  if (block == nullptr) fail_with("memory: a page has no more than 2 GB");
  return block;
}

}  // namespace

namespace fledge {

int available_processors() { return 1; }
int threads() { return 1; }
void set_threads(int) {}

void run_tasks(Dim count, PoolTask task, const void* context) {
  for (Dim i = 0; i < count; ++i) task(context, i);
}

const bool memory_is_kept = false;
bool memory_is_filled = false;

void* allocate_memory(std::size_t bytes) {
  constexpr std::size_t line = 64;
  return checked(std::aligned_alloc(line, (bytes / line + 1) * line));
}
void deallocate_memory(void* block, std::size_t) noexcept { std::free(block); }
void release_memory() noexcept {}
double machine_memory() { return 0x1p31; }

}  // namespace fledge

// All memory of the standard library: without exceptions its own operator new ends in abort().
void* operator new(std::size_t bytes) { return checked(std::malloc(bytes)); }
void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept {
  return ::operator new(bytes);
}
void operator delete(void* block) noexcept { std::free(block); }
void operator delete(void* block, std::size_t) noexcept { std::free(block); }

// `throw` calls these two functions. Nothing is caught in a page: the sentence of the exception goes
// to the page. All exceptions of fledge and of the standard library have std::exception as their
// first base, so they have the same address.
extern "C" void* __cxa_allocate_exception(std::size_t bytes) { return ::operator new(bytes); }
extern "C" [[noreturn]] void __cxa_throw(void* thrown, std::type_info*, void (*)(void*)) {
  fail_with(static_cast<const std::exception*>(thrown)->what());
}
extern "C" void __cxa_free_exception(void*) {}
