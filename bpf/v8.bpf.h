/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * JavaScript functions in the frames of V8 (Node). V8 moves and frees what describes them, so names
 * are read here when a function is first seen: later, another one may have the memory.
 */
#ifndef PKBPF_V8_BPF_H
#define PKBPF_V8_BPF_H

#include "shared.bpf.h"

#include <pkbpf/v8.h>

#define V8_FUNCTION_SET_BITS 14

/* Functions with a record. Entry: upper half: hash of thread and address; lower half: hash of the
 * identity; bit 0: has a script. A lost entry only means that the record is sent again. */
struct v8_function_set {
	__u64 first, second;
};

struct v8_functions_map {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1 << V8_FUNCTION_SET_BITS);
	__type(key, __u32);
	__type(value, struct v8_function_set);
};

struct v8_scratch {
	struct pkbpf_event_v8_function record;
	struct pkbpf_v8_process v8;
	__u64 shared; /* reference, of the function that is looked at */
	__u64 identity, place, entry;
};

struct v8_scratch_map {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, SCRATCH_SLOTS);
	__type(key, __u32);
	__type(value, struct v8_scratch);
};

extern struct v8_functions_map v8_functions SEC(".maps");
extern struct v8_scratch_map v8_scratch SEC(".maps");

/* References are odd; without the tag they are addresses. */
static __always_inline bool v8_is_object(__u64 reference)
{
	return (reference & 3) == 1;
}

static __always_inline bool v8_read_word(__u64 object, __u64 offset, __u64 *value)
{
	return v8_is_object(object) &&
	       !bpf_probe_read_user(value, sizeof(*value), (void *)(object - 1 + offset));
}

enum v8_function {
	V8_NO_FUNCTION = 0,
	V8_KNOWN_FUNCTION = 1,
	V8_BUILTIN = 2, /* without a script: its native frame has its name */
	V8_NEW_FUNCTION = 3,
};
/* The lowest bits of an entry of v8_functions. */
#define V8_FUNCTION_MASK 3U

/* Parts of one piece of work, not nested: 5.10 has no stack for that. v8_find_function() looks for
 * the function of the frame that the last step of the unwinding left by its frame pointer, if V8's
 * own structures are there. v8_send_function() names a new one. Both return enum v8_function.
 * v8_push_function() adds a known one to the stack. */
int v8_find_function(__u32 slot);
int v8_send_function(__u32 slot);
int v8_push_function(__u32 slot);

#endif
