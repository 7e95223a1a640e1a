/* SPDX-License-Identifier: BSD-2-Clause */
/* BPF programs of BTF tracepoints ("tp_btf/…"), iterators ("iter/…") and functions that return
 * ("fexit/…"). Their attach points are
 * looked up in capture/kernel/kernel_types.h: libbpf would read the kernel's whole BTF for each
 * object with such a program. */
#ifndef PKBPF_CAPTURE_TRACING_PROGRAM_H
#define PKBPF_CAPTURE_TRACING_PROGRAM_H

#include <stdbool.h>

#include "base/error.h"

struct bpf_link;
struct bpf_map;
struct bpf_object;
struct bpf_program;
struct kernel_types;

/* Call before the first object is opened; once is enough. Not thread-safe: libbpf's list of
 * handlers is global. Negative errno. */
int tracing_programs_register(void);
/* Adds the kernel types that an opened object needs: types of its relocations and of its attach
 * points. -ENOMEM. */
int tracing_programs_want(const struct bpf_object *object, struct kernel_types *types);
/* Sets the kernel types for objects that this thread loads; NULL: none. Borrowed. on_maps is
 * called once, when the object's maps exist and before the first of these programs is loaded. */
void tracing_programs_use(const struct kernel_types *types, void (*on_maps)(void *context),
			  void *context);
/* The type by which programs may read kernel words in place, see call_rdonly_cast() in bpf/; 0:
 * not supported (before 6.2). */
unsigned int tracing_programs_word(const struct kernel_types *types);
/* May programs run over the elements of maps? Some kernels refuse that to everybody. */
bool tracing_programs_iterate_maps(const struct kernel_types *types);
/* Does the kernel load a program for the return of a function? Its name is a wanted one. Some
 * kernels refuse that to everybody; others refuse only to attach it. */
bool tracing_programs_trace(const struct kernel_types *types, const char *function);
/* Advice for errors of a missing resource or privilege; NULL: the error has another reason. */
const char *tracing_shortage_advice(int errnum);
/* The caller destroys *ret_link. */
int tracing_program_attach(const struct bpf_program *program, struct bpf_link **ret_link,
			   struct error *error);
/* The same for an iterator over the elements of a map. */
int tracing_program_attach_map(const struct bpf_program *program, const struct bpf_map *map,
			       struct bpf_link **ret_link, struct error *error);
/* Runs an iterator that prints nothing. Negative errno. */
int tracing_iterator_run(const struct bpf_link *iterator);

#endif
