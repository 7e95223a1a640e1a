/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * BPF programs of BTF tracepoints ("tp_btf/…") and of iterators ("iter/…"): what they attach to is
 * looked up in capture/kernel/kernel_types.h. libbpf would read all of the kernel's BTF for each
 * object that has one.
 */
#ifndef PKBPF_CAPTURE_TRACING_PROGRAM_H
#define PKBPF_CAPTURE_TRACING_PROGRAM_H

#include "base/error.h"

struct bpf_link;
struct bpf_map;
struct bpf_object;
struct bpf_program;
struct kernel_types;

/* Before the first object is opened; once is enough. Not thread-safe, as libbpf's list of handlers
 * is not. Negative errno. */
int tracing_programs_register(void);
/* Adds what an opened object needs to know of the kernel: types of its relocations, and where its
 * programs attach. -ENOMEM. */
int tracing_programs_want(const struct bpf_object *object, struct kernel_types *types);
/* Where objects that this thread loads find it; NULL: nowhere. Borrowed. on_maps: called once, when
 * the object's maps exist and the first of these programs is about to be loaded. */
void tracing_programs_use(const struct kernel_types *types, void (*on_maps)(void *context),
			  void *context);
/* The type as which words of the kernel may be read in place, see call_rdonly_cast() in bpf/; 0:
 * they cannot be (before 6.2). */
unsigned int tracing_programs_word(const struct kernel_types *types);
/* What to do when the kernel refuses a program for want of this; NULL: it is for another reason. */
const char *tracing_shortage_advice(int errnum);
/* *ret_link is to be destroyed by the caller. */
int tracing_program_attach(const struct bpf_program *program, struct bpf_link **ret_link,
			   struct error *error);
/* The same for an iterator over the elements of a map. */
int tracing_program_attach_map(const struct bpf_program *program, const struct bpf_map *map,
			       struct bpf_link **ret_link, struct error *error);
/* Runs an iterator that prints nothing. Negative errno. */
int tracing_iterator_run(const struct bpf_link *iterator);

#endif
