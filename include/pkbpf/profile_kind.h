/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The kinds of events, one row each: X(CONSTANT, number, name). Everything particular to a kind is
 * in its own files. Tables made from these rows find them: kind_<name> in user/profile/kind/,
 * source_<name> in user/source/, text_kind_<name> and json_kind_<name> in the code that writes
 * reports.
 *
 * Numbers are part of the recording format: never reuse or renumber one.
 */
#ifndef PKBPF_PROFILE_KIND_H
#define PKBPF_PROFILE_KIND_H

/* A test with a kind of its own defines this macro. */
#ifndef PKBPF_PROFILE_KINDS_OF_TEST
#define PKBPF_PROFILE_KINDS_OF_TEST(X)
#endif

#define PKBPF_PROFILE_KIND_LIST(X)                                                                 \
	X(CPU, 0, cpu)                                                                             \
	X(OFFCPU, 1, offcpu)                                                                       \
	X(BLOCKIO, 2, blockio)                                                                     \
	X(FAULTS, 3, faults)                                                                       \
	X(NETWORK, 4, network)                                                                     \
	X(ALLOC, 5, alloc)                                                                         \
	X(LIVE, 6, live)                                                                           \
	X(MEMORY, 7, memory)                                                                       \
	X(CALLS, 8, calls)                                                                         \
	X(LOCKS, 9, locks)                                                                         \
	PKBPF_PROFILE_KINDS_OF_TEST(X)

/* The measured quantity of an event. */
enum pkbpf_profile_kind {
#define X(constant, number, name) PKBPF_PROFILE_##constant = (number),
	PKBPF_PROFILE_KIND_LIST(X)
#undef X
	/* size of arrays with one element per kind */
	PKBPF_PROFILE_KINDS,
};

#define X(constant, number, name) +1
_Static_assert(PKBPF_PROFILE_KINDS == 0 PKBPF_PROFILE_KIND_LIST(X), "ascending, without gaps");
#undef X
_Static_assert(PKBPF_PROFILE_KINDS <= 32, "a mask of kinds is 32 bits");

#endif
