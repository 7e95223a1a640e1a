/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Tables of locks that threads wait for. */
#ifndef PKBPF_OFFCPU_LOCK_TABLES_BPF_H
#define PKBPF_OFFCPU_LOCK_TABLES_BPF_H

#include "offcpu.bpf.h"

#include <pkbpf/lock.h>

struct lock_rows_map {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, PKBPF_LOCK_ROWS);
	__type(key, __u32);
	__type(value, struct pkbpf_lock_row);
};

struct lock_index_map {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, PKBPF_LOCK_ROWS);
	__type(key, struct pkbpf_lock_key);
	__type(value, __u32);
};

struct lock_parts_map {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, PKBPF_LOCK_PARTS);
	__type(key, __u32);
	__type(value, struct pkbpf_lock_part);
};

struct lock_part_index_map {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, PKBPF_LOCK_PARTS);
	__type(key, struct pkbpf_lock_part_key);
	__type(value, __u32);
};

struct lock_threads_map { /* as many as offcpu_threads */
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct pkbpf_lock_thread);
};

struct lock_tids_map { /* slots of threads in pid namespaces */
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1);
	__type(key, struct pkbpf_lock_tid);
	__type(value, __u32);
};

extern struct lock_rows_map lock_rows SEC(".maps");
extern struct lock_index_map lock_index SEC(".maps");
extern struct offcpu_free_map lock_free_rows SEC(".maps");
extern struct lock_parts_map lock_parts SEC(".maps");
extern struct lock_part_index_map lock_part_index SEC(".maps");
extern struct offcpu_free_map lock_free_parts SEC(".maps");
extern struct lock_threads_map lock_threads SEC(".maps");
extern struct lock_tids_map lock_tids SEC(".maps");

#endif
