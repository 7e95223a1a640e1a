/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Compiles headers of bpf/ for user space: included before them, it takes the place of libbpf's
 * helpers. Kernel memory is ordinary memory, maps are what a test registers, time and the current
 * task are variables. It is included by one file of a program.
 */
#ifndef PKBPF_TEST_BPF_STAND_IN_H
#define PKBPF_TEST_BPF_STAND_IN_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

/* Names that the C library has, too */
#define dev_t kernel_dev_t
#define gfp_t kernel_gfp_t
#define false kernel_false
#define true kernel_true
#undef NULL
#include "vmlinux.h"
#undef dev_t
#undef gfp_t
#undef false
#undef true
#include <stdbool.h>

#define __BPF_HELPERS__
#define __BPF_TRACING_H__
#define SEC(name)
#define __uint(name, value)  int(*name)[value]
#define __type(name, value)  __typeof__(value) *name
#define __array(name, value) __typeof__(value) *name[]
#undef __always_inline
#define __always_inline inline __attribute__((always_inline, unused))
#undef __noinline
#define __noinline __attribute__((noinline, unused))

/* What <bpf/bpf_core_read.h> makes of clang's relocations: this "kernel" is vmlinux.h. */
#define __builtin_preserve_access_index(x)     (x)
#define __builtin_preserve_field_info(x, kind) stand_in_has_field(#x)
#define __builtin_preserve_type_info(x, kind)  sizeof(x)
#define __builtin_preserve_enum_value(x, kind) stand_in_has_helpers

static bool stand_in_has_helpers = true;
static const char *stand_in_missing_field; /* the name of one that this kernel has not */

static inline bool stand_in_has_field(const char *access)
{
	return !strstr(access, "___") &&
	       (!stand_in_missing_field || !strstr(access, stand_in_missing_field));
}

/* ---- maps ---- */

enum { STAND_IN_MAPS = 16, STAND_IN_ENTRIES = 64 };

struct stand_in_map {
	const void *map;
	size_t key_size, value_size;
	size_t array_entries; /* 0: a hash, or a queue, of entries that were put there */
	size_t count;
	unsigned char keys[STAND_IN_ENTRIES][32];
	unsigned char *values;
};
static struct stand_in_map stand_in_maps[STAND_IN_MAPS];

/* array_entries: 0 for a hash or, with key_size 0, a queue. */
static inline void stand_in_register(const void *map, size_t key_size, size_t value_size,
				     size_t array_entries)
{
	for (size_t i = 0; i < STAND_IN_MAPS; i++) {
		struct stand_in_map *stand_in = &stand_in_maps[i];

		if (stand_in->map)
			continue;
		stand_in->map = map;
		stand_in->key_size = key_size;
		stand_in->value_size = value_size;
		stand_in->array_entries = array_entries;
		stand_in->values =
			calloc(array_entries ? array_entries : STAND_IN_ENTRIES, value_size);
		return;
	}
	fail_msg("too many maps");
}

static inline void stand_in_forget_maps(void)
{
	for (size_t i = 0; i < STAND_IN_MAPS; i++)
		free(stand_in_maps[i].values);
	memset(stand_in_maps, 0, sizeof(stand_in_maps));
	stand_in_missing_field = NULL;
	stand_in_has_helpers = true;
}

static inline struct stand_in_map *stand_in_of(const void *map)
{
	for (size_t i = 0; i < STAND_IN_MAPS; i++)
		if (stand_in_maps[i].map == map)
			return &stand_in_maps[i];
	fail_msg("a map that the test has not registered");
	return NULL;
}

static inline void *bpf_map_lookup_elem(void *map, const void *key)
{
	struct stand_in_map *stand_in = stand_in_of(map);

	if (stand_in->array_entries) {
		uint32_t index = *(const uint32_t *)key;

		return index < stand_in->array_entries
			       ? stand_in->values + index * stand_in->value_size
			       : NULL;
	}
	for (size_t i = 0; i < stand_in->count; i++)
		if (memcmp(stand_in->keys[i], key, stand_in->key_size) == 0)
			return stand_in->values + i * stand_in->value_size;
	return NULL;
}

static inline long bpf_map_update_elem(void *map, const void *key, const void *value, __u64 flags)
{
	struct stand_in_map *stand_in = stand_in_of(map);
	void *there = bpf_map_lookup_elem(map, key);

	(void)flags;
	if (!there) {
		if (stand_in->array_entries || stand_in->count == STAND_IN_ENTRIES)
			return -1;
		memcpy(stand_in->keys[stand_in->count], key, stand_in->key_size);
		there = stand_in->values + stand_in->count++ * stand_in->value_size;
	}
	memcpy(there, value, stand_in->value_size);
	return 0;
}

static inline long bpf_map_delete_elem(void *map, const void *key)
{
	struct stand_in_map *stand_in = stand_in_of(map);
	unsigned char *there = bpf_map_lookup_elem(map, key);
	size_t index, last = stand_in->count - 1;

	if (!there || stand_in->array_entries)
		return -1;
	index = (size_t)(there - stand_in->values) / stand_in->value_size;
	memcpy(stand_in->keys[index], stand_in->keys[last], sizeof(stand_in->keys[0]));
	memcpy(there, stand_in->values + last * stand_in->value_size, stand_in->value_size);
	stand_in->count--;
	return 0;
}

/* Puts a value into a queue. */
static inline void stand_in_push(const void *map, const void *value)
{
	struct stand_in_map *stand_in = stand_in_of(map);

	assert_true(stand_in->count < STAND_IN_ENTRIES);
	memcpy(stand_in->values + stand_in->count++ * stand_in->value_size, value,
	       stand_in->value_size);
}

static inline long bpf_map_push_elem(void *map, const void *value, __u64 flags)
{
	(void)flags;
	stand_in_push(map, value);
	return 0;
}

static inline long bpf_map_pop_elem(void *map, void *value)
{
	struct stand_in_map *stand_in = stand_in_of(map);

	if (!stand_in->count)
		return -1;
	memcpy(value, stand_in->values, stand_in->value_size);
	stand_in->count--;
	memmove(stand_in->values, stand_in->values + stand_in->value_size,
		stand_in->count * stand_in->value_size);
	return 0;
}

/* ---- the current task, its memory, time ---- */

static __u64 stand_in_now_ns;
static struct task_struct *stand_in_current;
static bool stand_in_under_cgroup; /* the current task is below the target */

static inline __u64 bpf_ktime_get_ns(void)
{
	return stand_in_now_ns;
}

static inline long bpf_probe_read_kernel(void *to, __u32 size, const void *from)
{
	if (!from) {
		memset(to, 0, size);
		return -14; /* EFAULT */
	}
	memcpy(to, from, size);
	return 0;
}

static inline long bpf_probe_read_user(void *to, __u32 size, const void *from)
{
	return bpf_probe_read_kernel(to, size, from);
}

static inline long bpf_probe_read_kernel_str(void *to, __u32 size, const void *from)
{
	size_t length;

	if (!from || !size)
		return -14;
	length = strnlen(from, size - 1);
	memcpy(to, from, length);
	((char *)to)[length] = 0;
	return (long)length + 1;
}

static inline __u64 bpf_get_current_task(void)
{
	return (uintptr_t)stand_in_current;
}

static inline struct task_struct *bpf_get_current_task_btf(void)
{
	return stand_in_current;
}

static inline __u64 bpf_get_current_pid_tgid(void)
{
	return (__u64)stand_in_current->tgid << 32 | (__u32)stand_in_current->pid;
}

static inline long bpf_get_current_comm(void *to, __u32 size)
{
	return bpf_probe_read_kernel(to, size, stand_in_current->comm);
}

static inline long bpf_current_task_under_cgroup(void *map, __u32 index)
{
	(void)map;
	(void)index;
	return stand_in_under_cgroup;
}

static inline __u64 bpf_get_current_cgroup_id(void)
{
	return stand_in_current->cgroups->dfl_cgrp->kn->id;
}

static inline __u32 bpf_get_smp_processor_id(void)
{
	return 0;
}

static struct pt_regs stand_in_user_registers;
static inline long bpf_task_pt_regs(struct task_struct *task)
{
	(void)task;
	return (long)&stand_in_user_registers;
}

#define barrier_var(variable) ((void)(variable))
static inline long bpf_get_stack(void *context, void *to, __u32 size, __u64 flags)
{
	(void)context;
	(void)to;
	(void)size;
	(void)flags;
	return -1;
}

/* Nothing is sent: what sends is no business of the headers that are tested. */
static inline long bpf_ringbuf_output(void *ring, void *data, __u64 size, __u64 flags)
{
	(void)ring;
	(void)data;
	(void)size;
	(void)flags;
	fail_msg("sent");
	return -1;
}

static inline __u64 bpf_ringbuf_query(void *ring, __u64 flags)
{
	(void)ring;
	(void)flags;
	return 0;
}

#define bpf_probe_read_user_str bpf_probe_read_kernel_str
#include <bpf/bpf_core_read.h>
#undef BPF_CORE_READ_BITFIELD
#define BPF_CORE_READ_BITFIELD(s, field) ((s)->field)

#endif
