/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Statically defined tracepoints (USDT), described by ELF notes of the type that systemtap's
 * <sys/sdt.h> writes, so that any tracer finds them. A site is the only code of a function of its
 * own. It is a five-byte nop, which recent kernels turn into a call: the function must not use the
 * red zone, which is why this library is compiled without one.
 */
#ifndef PKBPF_PRELOAD_PROBE_H
#define PKBPF_PRELOAD_PROBE_H

#if defined(__x86_64__)
#define PROBE_NOP  ".byte 0x0f, 0x1f, 0x44, 0x00, 0x00"
#define PROBE_ARG0 "8@%%rdi"
#define PROBE_ARG1 "8@%%rsi"
#define PROBE_ARG2 "8@%%rdx"
#elif defined(__aarch64__)
#define PROBE_NOP  "nop"
#define PROBE_ARG0 "8@x0"
#define PROBE_ARG1 "8@x1"
#define PROBE_ARG2 "8@x2"
#else
#error "no probes for this processor"
#endif

/* The kernel adds the number of tracers to the semaphore. */
#define PROBE_SEMAPHORE(provider, name)                                                            \
	__attribute__((                                                                            \
		section(".probes"), used,                                                          \
		visibility("hidden"))) volatile unsigned short provider##_##name##_semaphore

#define PROBE_SITE(provider, name, arguments)                                                      \
	__asm__ volatile("990: " PROBE_NOP "\n"                                                    \
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
