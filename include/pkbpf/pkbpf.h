/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Marks regions of a program, in C or C++, for `pkbpf --regions`:
 *
 *	#include <pkbpf/pkbpf.h>
 *
 *	void step(struct batch *batch)
 *	{
 *		PKBPF_REGION("step");			// to the end of this scope
 *		{
 *			PKBPF_REGION_ITEMS("load", batch->size);	// items per second, too
 *			load(batch);
 *		}
 *		pkbpf_enter("backward", 0);		// to pkbpf_leave()
 *		backward(batch);
 *		pkbpf_leave();
 *	}
 *
 *	pkbpf_begin("request", id, 0);			// may end in another thread:
 *	pkbpf_end(id);
 *
 * Nothing has to be linked. While nobody looks, a region costs one test of a variable, which the
 * kernel raises as long as a tracer is attached. Nothing is written, opened or logged, ever.
 *
 * Regions of a thread nest, up to 32 deep. Names are cut at 63 bytes. A region that a longjmp or
 * the end of its thread leaves counts as not left, and has no time. Coroutines that change places
 * inside a region need pkbpf_begin() and pkbpf_end().
 *
 * PKBPF_DISABLE removes all of it. Other systems and processors than Linux on x86-64 and arm64 have
 * empty functions.
 */
#ifndef PKBPF_PKBPF_H
#define PKBPF_PKBPF_H

#if defined(__linux__) && (defined(__x86_64__) || defined(__aarch64__)) && !defined(__ILP32__) &&  \
	!defined(PKBPF_DISABLE)
#define PKBPF_ENABLED_ 1
#else
#define PKBPF_ENABLED_ 0
#endif

#ifdef __cplusplus
extern "C" {
#endif

#if PKBPF_ENABLED_

/*
 * A stub is a function of two instructions, one of each kind in a file. It is called, never
 * inlined: arguments are in registers whatever the compiler does, and nothing lies below the stack
 * pointer where a function begins. The nop has one byte: kernels since 6.18 replace one of five
 * bytes by a call to memory that a forked child does not have, which kills the child. The note is
 * what every tracer of statically defined probes reads.
 */
#if defined(__x86_64__)
#define PKBPF_STUB_CODE_      ".byte 0x90\n\tret\n"
#define PKBPF_STUB_ARGUMENTS_ "8@%rdi 8@%rsi 8@%rdx"
#else
#define PKBPF_STUB_CODE_      "nop\n\tret\n"
#define PKBPF_STUB_ARGUMENTS_ "8@x0 8@x1 8@x2"
#endif

#define PKBPF_STUB_(name)                                                                          \
	__asm__(".ifndef pkbpf_v1_" name "\n"                                                      \
		"\t.pushsection .text.pkbpf_v1_" name ",\"axG\",%progbits,pkbpf_v1_" name          \
		",comdat\n"                                                                        \
		"\t.weak pkbpf_v1_" name "\n"                                                      \
		"\t.hidden pkbpf_v1_" name "\n"                                                    \
		"\t.type pkbpf_v1_" name ", %function\n"                                           \
		"\t.balign 16\n"                                                                   \
		"pkbpf_v1_" name ":\n"                                                             \
		"\t.cfi_startproc\n"                                                               \
		"\t" PKBPF_STUB_CODE_ "\t.cfi_endproc\n"                                           \
		"\t.size pkbpf_v1_" name ", . - pkbpf_v1_" name "\n"                               \
		"\t.pushsection .note.stapsdt,\"?\",%note\n"                                       \
		"\t.balign 4\n"                                                                    \
		"\t.4byte 992f-991f, 994f-993f, 3\n"                                               \
		"991:\t.asciz \"stapsdt\"\n"                                                       \
		"992:\t.balign 4\n"                                                                \
		"993:\t.8byte pkbpf_v1_" name "\n"                                                 \
		"\t.8byte _.stapsdt.base\n"                                                        \
		"\t.8byte pkbpf_v1_semaphore\n"                                                    \
		"\t.asciz \"pkbpf\"\n"                                                             \
		"\t.asciz \"v1_" name "\"\n"                                                       \
		"\t.asciz \"" PKBPF_STUB_ARGUMENTS_ "\"\n"                                         \
		"994:\t.balign 4\n"                                                                \
		"\t.popsection\n"                                                                  \
		"\t.popsection\n"                                                                  \
		".endif\n")

__asm__(".ifndef _.stapsdt.base\n"
	"\t.pushsection .stapsdt.base,\"aG\",%progbits,.stapsdt.base,comdat\n"
	"\t.weak _.stapsdt.base\n"
	"\t.hidden _.stapsdt.base\n"
	"_.stapsdt.base: .space 1\n"
	"\t.size _.stapsdt.base, 1\n"
	"\t.popsection\n"
	".endif\n"
	".ifndef pkbpf_v1_semaphore\n"
	"\t.pushsection .probes,\"awG\",%progbits,pkbpf_v1_semaphore,comdat\n"
	"\t.balign 2\n"
	"\t.weak pkbpf_v1_semaphore\n"
	"\t.hidden pkbpf_v1_semaphore\n"
	"\t.type pkbpf_v1_semaphore, %object\n"
	"pkbpf_v1_semaphore: .2byte 0\n"
	"\t.size pkbpf_v1_semaphore, 2\n"
	"\t.popsection\n"
	".endif\n");

PKBPF_STUB_("enter");
PKBPF_STUB_("leave");
PKBPF_STUB_("items");
PKBPF_STUB_("begin");
PKBPF_STUB_("end");

#define PKBPF_HIDDEN_ __attribute__((visibility("hidden")))
extern volatile unsigned short pkbpf_v1_semaphore PKBPF_HIDDEN_;
extern void pkbpf_v1_enter(const char *name, unsigned long items) PKBPF_HIDDEN_;
extern void pkbpf_v1_leave(const char *name) PKBPF_HIDDEN_;
extern void pkbpf_v1_items(unsigned long items) PKBPF_HIDDEN_;
extern void pkbpf_v1_begin(const char *name, unsigned long id, unsigned long items) PKBPF_HIDDEN_;
extern void pkbpf_v1_end(unsigned long id) PKBPF_HIDDEN_;

/* Is somebody looking? For work that is only done for a name or a number of items. */
static inline int pkbpf_is_watched(void)
{
	return __builtin_expect(pkbpf_v1_semaphore != 0, 0);
}

/* The kernel reads a name only from memory that is there: a name that the program itself has never
 * read may still be in its file. */
static inline void pkbpf_touch_(const char *name)
{
	const volatile char *at = name;
	unsigned int count = 0;

	while (count++ < 64 && *at)
		at++;
}

/* name: a string. items: what it works on, for items per second; 0: none. Both enter with the same
 * name; a leave without a name leaves the innermost region. */
static inline void pkbpf_enter(const char *name, unsigned long items)
{
	if (pkbpf_is_watched()) {
		pkbpf_touch_(name);
		pkbpf_v1_enter(name, items);
	}
}

static inline void pkbpf_leave(void)
{
#ifdef __cplusplus
	const char *innermost = nullptr;
#else
	const char *innermost = 0;
#endif

	if (pkbpf_is_watched())
		pkbpf_v1_leave(innermost);
}

/* More items of the innermost region: known only when they are there. */
static inline void pkbpf_items(unsigned long items)
{
	if (pkbpf_is_watched())
		pkbpf_v1_items(items);
}

/* A region with a number that is the program's own, unique among those that are open. It may end in
 * another thread, and has a wall time alone. */
static inline void pkbpf_begin(const char *name, unsigned long id, unsigned long items)
{
	if (pkbpf_is_watched()) {
		pkbpf_touch_(name);
		pkbpf_v1_begin(name, id, items);
	}
}

static inline void pkbpf_end(unsigned long id)
{
	if (pkbpf_is_watched())
		pkbpf_v1_end(id);
}

static inline const char *pkbpf_scope_enter_(const char *name, unsigned long items)
{
	pkbpf_enter(name, items);
	return name;
}

static inline void pkbpf_scope_leave_(const char *const *name)
{
	if (pkbpf_is_watched())
		pkbpf_v1_leave(*name);
}

#else /* !PKBPF_ENABLED_ */

static inline int pkbpf_is_watched(void)
{
	return 0;
}

static inline void pkbpf_enter(const char *name, unsigned long items)
{
	(void)name;
	(void)items;
}

static inline void pkbpf_leave(void)
{
}

static inline void pkbpf_items(unsigned long items)
{
	(void)items;
}

static inline void pkbpf_begin(const char *name, unsigned long id, unsigned long items)
{
	(void)name;
	(void)id;
	(void)items;
}

static inline void pkbpf_end(unsigned long id)
{
	(void)id;
}

#endif

#ifdef __cplusplus
} /* extern "C" */
#endif

#define PKBPF_JOIN_(a, b) a##b
#define PKBPF_NAME_(a, b) PKBPF_JOIN_(a, b)

/* A region from here to the end of the scope, however that is left: by return, break, goto or an
 * exception. */
#define PKBPF_REGION(name) PKBPF_REGION_ITEMS(name, 0)

#ifdef __cplusplus
namespace pkbpf
{
class region
{
#if PKBPF_ENABLED_
	const char *name_;

      public:
	explicit region(const char *name, unsigned long items = 0) : name_(name)
	{
		pkbpf_enter(name, items);
	}
	~region()
	{
		pkbpf_scope_leave_(&name_);
	}
#else
      public:
	explicit region(const char *, unsigned long = 0)
	{
	}
	/* As a variable that does nothing it would be one that is not used. */
	~region()
	{
	}
#endif
	region(const region &) = delete;
	region &operator=(const region &) = delete;
};
} // namespace pkbpf
#endif

#if !PKBPF_ENABLED_
#define PKBPF_REGION_ITEMS(name, items) ((void)(name), (void)(items))
#elif defined(__cplusplus)
#define PKBPF_REGION_ITEMS(name, items)                                                            \
	::pkbpf::region PKBPF_NAME_(pkbpf_region_, __COUNTER__)((name),                            \
								static_cast<unsigned long>(items))
#else
#define PKBPF_REGION_ITEMS(name, items)                                                            \
	const char *const PKBPF_NAME_(pkbpf_region_, __COUNTER__)                                  \
		__attribute__((cleanup(pkbpf_scope_leave_), unused)) =                             \
			pkbpf_scope_enter_((name), (unsigned long)(items))
#endif

#endif
