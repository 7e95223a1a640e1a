/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Statically defined tracepoints (USDT), described by ELF notes of the type that systemtap's
 * <sys/sdt.h> writes, so that any tracer finds them. A site is the first instruction of a function
 * of its own: the caller's registers are all there. It is a nop of one byte, which kernels emulate.
 * A nop of five bytes becomes a call of a trampoline (since 6.18), which a forked child lacks: it
 * crashes at its first call. (Also, that call uses the red zone; there is none in this library.)
 */
#ifndef PKBPF_PRELOAD_PROBE_H
#define PKBPF_PRELOAD_PROBE_H

#if defined(__x86_64__)
#define PROBE_ARG0 "8@%%rdi"
#define PROBE_ARG1 "8@%%rsi"
#define PROBE_ARG2 "8@%%rdx"
#elif defined(__aarch64__)
#define PROBE_ARG0 "8@x0"
#define PROBE_ARG1 "8@x1"
#define PROBE_ARG2 "8@x2"
#else
#error "no probes for this processor"
#endif

/* A function whose first instruction is a site: callers pass all arguments that it uses. */
#if __has_attribute(noclone)
#define PROBE_FUNCTION __attribute__((noinline, noclone))
#else
#define PROBE_FUNCTION __attribute__((noinline))
#endif
#define PROBE_USES(argument) __asm__ volatile("" ::"r"(argument))

/* The kernel adds the number of tracers to the semaphore. */
#define PROBE_SEMAPHORE(provider, name)                                                            \
	__attribute__((                                                                            \
		section(".probes"), used,                                                          \
		visibility("hidden"))) volatile unsigned short provider##_##name##_semaphore

#define PROBE_SITE(provider, name, arguments)                                                      \
	__asm__ volatile("990: nop\n"                                                              \
			 ".pushsection .note.stapsdt, \"\", \"note\"\n"                            \
			 ".balign 4\n"                                                             \
			 ".4byte 992f-991f, 994f-993f, 3\n"                                        \
			 "991: .asciz \"stapsdt\"\n"                                               \
			 "992: .balign 4\n"                                                        \
			 "993: .8byte 990b\n"                                                      \
			 ".8byte _.stapsdt.base\n"                                                 \
			 ".8byte " #provider "_" #name "_semaphore\n"                              \
			 ".asciz \"" #provider "\"\n"                                              \
			 ".asciz \"" #name "\"\n"                                                  \
			 ".asciz \"" arguments "\"\n"                                              \
			 "994: .balign 4\n"                                                        \
			 ".popsection\n"                                                           \
			 ".ifndef _.stapsdt.base\n"                                                \
			 ".pushsection .stapsdt.base, \"aG\", \"progbits\", "                      \
			 ".stapsdt.base, comdat\n"                                                 \
			 ".weak _.stapsdt.base\n"                                                  \
			 ".hidden _.stapsdt.base\n"                                                \
			 "_.stapsdt.base: .space 1\n"                                              \
			 ".size _.stapsdt.base, 1\n"                                               \
			 ".popsection\n"                                                           \
			 ".endif\n" ::                                                             \
				 : "memory")

#endif
