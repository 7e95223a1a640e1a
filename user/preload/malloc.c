// SPDX-License-Identifier: BSD-2-Clause
/*
 * Stands before the allocator of a program that was started with this library in LD_PRELOAD, and
 * passes each call on. C++ operators are left alone: those of libstdc++ and libc++ call malloc.
 * Were they defined here, a C program that loads a C++ plugin later would get these, and find no
 * next definition behind them.
 */
#include <dlfcn.h>
#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "live_table.h"
#include "sampler.h"

#define EXPORT	    __attribute__((visibility("default")))
#define UNLIKELY(x) __builtin_expect(!!(x), 0)

/* For allocations of the dynamic linker while the next allocator is looked up; it keeps them. */
#define EARLY_BYTES 65536
#define ALIGNMENT   16

static void *first_malloc(size_t size);
static void first_free(void *address);
static void *first_calloc(size_t count, size_t size);
static void *first_realloc(void *address, size_t size);
static int first_posix_memalign(void **ret_address, size_t alignment, size_t size);
static void *first_aligned_alloc(size_t alignment, size_t size);
static void *first_memalign(size_t alignment, size_t size);
static void *first_valloc(size_t size);
static void *first_pvalloc(size_t size);

/* The next definition of each; at first, a function that looks all of them up. */
static struct {
	void *(*malloc)(size_t size);
	void (*free)(void *address);
	void *(*calloc)(size_t count, size_t size);
	void *(*realloc)(void *address, size_t size);
	int (*posix_memalign)(void **ret_address, size_t alignment, size_t size);
	void *(*aligned_alloc)(size_t alignment, size_t size);
	void *(*memalign)(size_t alignment, size_t size);
	void *(*valloc)(size_t size);
	void *(*pvalloc)(size_t size);
} next = {
	.malloc = first_malloc,
	.free = first_free,
	.calloc = first_calloc,
	.realloc = first_realloc,
	.posix_memalign = first_posix_memalign,
	.aligned_alloc = first_aligned_alloc,
	.memalign = first_memalign,
	.valloc = first_valloc,
	.pvalloc = first_pvalloc,
};

static void *(*real_realloc)(void *address, size_t size);
static void (*real_free)(void *address);

static char early[EARLY_BYTES] __attribute__((aligned(ALIGNMENT)));
static size_t early_used;
/* volatile: glibc declares dlsym() as a leaf, which calls nothing of ours, so that compilers drop a
 * store before it. But before 2.34 it allocates. */
static __thread volatile bool is_looking;

static bool is_early(const void *address)
{
	return (uintptr_t)address - (uintptr_t)early < EARLY_BYTES;
}

/* Its size lies before each. Zeroed, since each place is used once. */
static void *early_alloc(size_t alignment, size_t size)
{
	size_t at;

	if (size > EARLY_BYTES || alignment > EARLY_BYTES / 4) {
		errno = ENOMEM;
		return NULL;
	}
	alignment = alignment < ALIGNMENT ? ALIGNMENT : alignment;
	at = __atomic_fetch_add(&early_used, size + alignment + ALIGNMENT, __ATOMIC_RELAXED);
	if (at + size + alignment + ALIGNMENT > EARLY_BYTES) {
		errno = ENOMEM;
		return NULL;
	}
	at = (at + ALIGNMENT + alignment - 1) & ~(alignment - 1);
	memcpy(early + at - sizeof(size), &size, sizeof(size));
	return early + at;
}

/* Put in place of the next free and realloc once there are early allocations. */
static void free_but_early(void *address)
{
	if (!is_early(address))
		real_free(address);
}

static void *realloc_but_early(void *address, size_t size)
{
	size_t old;
	void *fresh;

	if (!is_early(address))
		return real_realloc(address, size);
	memcpy(&old, (char *)address - sizeof(old), sizeof(old));
	fresh = next.malloc(size);
	if (fresh)
		memcpy(fresh, address, old < size ? old : size);
	return fresh;
}

static void *look_up(const char *name)
{
	return dlsym(RTLD_NEXT, name);
}

/* Several threads may do this at once, with the same result. */
static void look_up_all(void)
{
	int kept = errno;
	void *(*malloc_found)(size_t size);

	is_looking = true;
	real_free = look_up("free");
	real_realloc = look_up("realloc");
	next.calloc = look_up("calloc");
	next.posix_memalign = look_up("posix_memalign");
	next.aligned_alloc = look_up("aligned_alloc");
	next.memalign = look_up("memalign");
	next.valloc = look_up("valloc");
	next.pvalloc = look_up("pvalloc");
	malloc_found = look_up("malloc");
	next.free = early_used ? free_but_early : real_free;
	next.realloc = early_used ? realloc_but_early : real_realloc;
	next.malloc = malloc_found;
	is_looking = false;
	errno = kept;
}

static void *no_memory(void)
{
	errno = ENOMEM;
	return NULL;
}

static void *first_malloc(size_t size)
{
	if (is_looking)
		return early_alloc(ALIGNMENT, size);
	look_up_all();
	return next.malloc(size);
}

static void first_free(void *address)
{
	/* Until malloc is found, there are early allocations only. */
	if (is_looking || !address || is_early(address))
		return;
	look_up_all();
	next.free(address);
}

static void *first_calloc(size_t count, size_t size)
{
	size_t bytes;

	if (is_looking)
		return __builtin_mul_overflow(count, size, &bytes) ? no_memory()
								   : early_alloc(ALIGNMENT, bytes);
	look_up_all();
	return next.calloc(count, size);
}

static void *first_realloc(void *address, size_t size)
{
	size_t old = 0;
	void *fresh;

	if (!is_looking) {
		look_up_all();
		return next.realloc(address, size);
	}
	fresh = early_alloc(ALIGNMENT, size);
	if (fresh && address) {
		memcpy(&old, (char *)address - sizeof(old), sizeof(old));
		memcpy(fresh, address, old < size ? old : size);
	}
	return fresh;
}

static int first_posix_memalign(void **ret_address, size_t alignment, size_t size)
{
	void *address;

	if (!is_looking) {
		look_up_all();
		return next.posix_memalign(ret_address, alignment, size);
	}
	address = early_alloc(alignment, size);
	if (!address)
		return ENOMEM;
	*ret_address = address;
	return 0;
}

/* C libraries lack some of these. */
#define FIRST(name, parameters, ...)                                                               \
	static void *first_##name parameters                                                       \
	{                                                                                          \
		if (is_looking)                                                                    \
			return no_memory();                                                        \
		look_up_all();                                                                     \
		return next.name ? next.name(__VA_ARGS__) : no_memory();                           \
	}

FIRST(aligned_alloc, (size_t alignment, size_t size), alignment, size)
FIRST(memalign, (size_t alignment, size_t size), alignment, size)
FIRST(valloc, (size_t size), size)
FIRST(pvalloc, (size_t size), size)

/* Only called through `next`, never from within the family, so each call is counted once. */
#define CHOOSE(size, call)                                                                         \
	do {                                                                                       \
		uint64_t weight_ = sampler_choose(size);                                           \
		void *address_ = (call);                                                           \
		if (weight_ && address_)                                                           \
			sampler_allocated(address_, (size), weight_);                              \
		return address_;                                                                   \
	} while (0)

static __attribute__((noinline)) void *malloc_chosen(size_t size)
{
	CHOOSE(size, next.malloc(size));
}

EXPORT void *malloc(size_t size)
{
	return sampler_passes(size) ? next.malloc(size) : malloc_chosen(size);
}

static __attribute__((noinline)) void *calloc_chosen(size_t count, size_t size)
{
	CHOOSE(count * size, next.calloc(count, size));
}

EXPORT void *calloc(size_t count, size_t size)
{
	size_t bytes;

	/* A product that overflows makes the call fail. */
	if (UNLIKELY(__builtin_mul_overflow(count, size, &bytes)))
		return next.calloc(count, size);
	return sampler_passes(bytes) ? next.calloc(count, size) : calloc_chosen(count, size);
}

/* C23; not declared by older C libraries. */
EXPORT void free_sized(void *address, size_t size);
EXPORT void free_aligned_sized(void *address, size_t alignment, size_t size);

static __attribute__((noinline)) void free_chosen(void *address)
{
	sampler_freed(address);
	next.free(address);
}

EXPORT void free(void *address)
{
	if (UNLIKELY(live_may_have(address)))
		free_chosen(address);
	else
		next.free(address);
}

/* The C library's need not call free(). */
EXPORT void free_sized(void *address, size_t size)
{
	(void)size;
	free(address);
}

EXPORT void free_aligned_sized(void *address, size_t alignment, size_t size)
{
	(void)alignment;
	(void)size;
	free(address);
}

/* The old allocation ends before the call, since another thread may get its address. When the call
 * fails, which leaves it alive, its sample is missing: too little is reported, never too much. */
static __attribute__((noinline)) void *realloc_chosen(void *address, size_t size, bool passes)
{
	uint64_t weight = passes ? 0 : sampler_choose(size);
	void *fresh;

	if (address && live_may_have(address))
		sampler_freed(address);
	fresh = next.realloc(address, size);
	if (weight && fresh)
		sampler_allocated(fresh, size, weight);
	return fresh;
}

EXPORT void *realloc(void *address, size_t size)
{
	bool passes = sampler_passes(size);

	if (passes && !live_may_have(address))
		return next.realloc(address, size);
	return realloc_chosen(address, size, passes);
}

EXPORT void *reallocarray(void *address, size_t count, size_t size)
{
	size_t bytes;

	if (__builtin_mul_overflow(count, size, &bytes))
		return no_memory();
	return realloc(address, bytes);
}

/* Rarer calls do without a fast path of their own. */
static inline uint64_t weigh(size_t size)
{
	return sampler_passes(size) ? 0 : sampler_choose(size);
}

static inline void *note(void *address, size_t size, uint64_t weight)
{
	if (weight && address)
		sampler_allocated(address, size, weight);
	return address;
}

EXPORT int posix_memalign(void **ret_address, size_t alignment, size_t size)
{
	uint64_t weight = weigh(size);
	int err = next.posix_memalign(ret_address, alignment, size);

	if (!err)
		note(*ret_address, size, weight);
	return err;
}

EXPORT void *aligned_alloc(size_t alignment, size_t size)
{
	uint64_t weight = weigh(size);

	return note(next.aligned_alloc ? next.aligned_alloc(alignment, size) : no_memory(), size,
		    weight);
}

EXPORT void *memalign(size_t alignment, size_t size)
{
	uint64_t weight = weigh(size);

	return note(next.memalign ? next.memalign(alignment, size) : no_memory(), size, weight);
}

EXPORT void *valloc(size_t size)
{
	uint64_t weight = weigh(size);

	return note(next.valloc ? next.valloc(size) : no_memory(), size, weight);
}

EXPORT void *pvalloc(size_t size)
{
	uint64_t weight = weigh(size);

	return note(next.pvalloc ? next.pvalloc(size) : no_memory(), size, weight);
}

/* A program that defines some of the family itself would allocate here and free there, or the other
 * way round. */
static bool is_bypassed(void)
{
	/* Sanitizers keep books of their own. */
	return dlsym(RTLD_DEFAULT, "__asan_init") || dlsym(RTLD_DEFAULT, "__tsan_init") ||
	       dlsym(RTLD_DEFAULT, "malloc") != (void *)malloc ||
	       dlsym(RTLD_DEFAULT, "free") != (void *)free ||
	       dlsym(RTLD_DEFAULT, "realloc") != (void *)realloc ||
	       dlsym(RTLD_DEFAULT, "calloc") != (void *)calloc;
}

__attribute__((constructor)) static void begin(void)
{
	int kept = errno;

	if (next.malloc == first_malloc)
		look_up_all();
	sampler_begin(is_bypassed());
	errno = kept;
}
