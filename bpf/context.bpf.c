// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Reads the context of the current thread. The thread is interrupted, or in the kernel, so its
 * record does not change meanwhile. Other threads must not write to it.
 */
#include "context.bpf.h"
#include "slot.bpf.h"

/* No program takes as long. */
#define NAME_AHEAD_NS 1000000

struct context_processes_map context_processes SEC(".maps");
struct context_sets_map context_sets SEC(".maps");
struct context_set_index_map context_set_index SEC(".maps");
struct context_threads_map context_threads SEC(".maps");
struct context_readings_map context_readings SEC(".maps");

struct context_free_map { /* of processes that have ended; user space fills it */
	__uint(type, BPF_MAP_TYPE_QUEUE);
	__uint(max_entries, PKBPF_CONTEXT_SETS);
	__type(value, __u32);
} context_free_sets SEC(".maps");

const volatile struct pkbpf_context_config context_config = {};
/* Number 0 stands for the sets that found no room. */
__u32 context_next_set = 1;

int context_hash_label(__u32 at, __u32 label);
int context_read_attribute(__u32 at);
int context_read_labels(__u32 at);
__u32 context_set_new(__u32 at);

static __always_inline bool read_user(void *into, __u32 size, __u64 address)
{
	return bpf_probe_read_user(into, size, (void *)address) == 0;
}

static __always_inline __u64 thread_pointer(void)
{
	struct task_struct *task = (void *)bpf_get_current_task();

#if PKBPF_UNWIND_ARM64
	return BPF_CORE_READ(task, thread.uw.tp_value);
#else
	return BPF_CORE_READ(task, thread.fsbase);
#endif
}

#define UNREADABLE (~0ULL)

/* Where the thread's pointer to its record is; 0: it has none. A thread that has not used a
 * module's variables yet has no block for it. */
static __always_inline __u64 find_variable(const struct pkbpf_context_process *process)
{
	__u64 thread = thread_pointer(), vector, block;

	if (!thread)
		return 0;
	if (process->form == PKBPF_CONTEXT_STATIC)
		return thread + process->offset;
	if (!read_user(&vector, sizeof(vector), thread + process->vector) ||
	    !read_user(&block, sizeof(block), vector + process->entry))
		return UNREADABLE;
	return block && block + 1 ? block + process->offset : 0;
}

__attribute__((noinline)) int context_find(__u32 at)
{
	__u32 pid = bpf_get_current_pid_tgid() >> 32;
	struct pkbpf_context_process *process;
	struct context_reading *reading;
	__u64 variable;

	if (!contexts_are_wanted())
		return 0;
	process = bpf_map_lookup_elem(&context_processes, &pid);
	reading = context_reading_at(at);
	if (!process || !reading)
		return 0;
	variable = find_variable(process);
	if (!variable) {
		counter_add(PKBPF_COUNTER_CONTEXT_NONE, 1);
		return 0;
	}
	if (variable == UNREADABLE ||
	    !read_user(&reading->pointer, sizeof(reading->pointer), variable)) {
		counter_add(PKBPF_COUNTER_CONTEXT_UNREADABLE, 1);
		return -1;
	}
	if (!reading->pointer) {
		counter_add(PKBPF_COUNTER_CONTEXT_NONE, 1);
		return 0;
	}
	if (!read_user(&reading->record, PKBPF_CONTEXT_HEAD, reading->pointer)) {
		counter_add(PKBPF_COUNTER_CONTEXT_UNREADABLE, 1);
		return -1;
	}
	if (reading->record.valid != 1) {
		counter_add(PKBPF_COUNTER_CONTEXT_CHANGING, 1);
		return -1;
	}
	reading->pid = pid;
	counter_add(PKBPF_COUNTER_CONTEXT_READ, 1);
	return 1;
}

/* ---- labels ---- */

static __always_inline __u64 rotate(__u64 word, int bits)
{
	return word << bits | word >> (64 - bits);
}

#define SIP_ROUND(a, b, c, d)                                                                      \
	do {                                                                                       \
		a += b;                                                                            \
		c += d;                                                                            \
		b = rotate(b, 13) ^ a;                                                             \
		d = rotate(d, 16) ^ c;                                                             \
		a = rotate(a, 32);                                                                 \
		c += b;                                                                            \
		a += d;                                                                            \
		b = rotate(b, 17) ^ c;                                                             \
		d = rotate(d, 21) ^ a;                                                             \
		c = rotate(c, 32);                                                                 \
	} while (0)

/* Replaces a value by eight digits of its SipHash-2-4 with the key of this record, so that the
 * value stays in its program. Always returns 0. */
__attribute__((noinline)) int context_hash_label(__u32 at, __u32 label)
{
	struct context_reading *reading;
	__u64 a = context_config.secret[0] ^ 0x736f6d6570736575ULL,
	      b = context_config.secret[1] ^ 0x646f72616e646f6dULL,
	      c = context_config.secret[0] ^ 0x6c7967656e657261ULL,
	      d = context_config.secret[1] ^ 0x7465646279746573ULL;
	const __u64 *words;
	char *text;

	if (!contexts_are_wanted())
		return 0;
	reading = context_reading_at(at);
	if (!reading)
		return 0;
	text = reading->labels[label & (PKBPF_CONTEXT_LABELS - 1)];
	words = (const __u64 *)text;
#pragma unroll
	for (int i = 0; i < PKBPF_CONTEXT_VALUE / 8; i++) {
		d ^= words[i];
		SIP_ROUND(a, b, c, d);
		SIP_ROUND(a, b, c, d);
		a ^= words[i];
	}
	d ^= (__u64)PKBPF_CONTEXT_VALUE << 56;
	SIP_ROUND(a, b, c, d);
	SIP_ROUND(a, b, c, d);
	a ^= (__u64)PKBPF_CONTEXT_VALUE << 56;
	c ^= 0xff;
	SIP_ROUND(a, b, c, d);
	SIP_ROUND(a, b, c, d);
	SIP_ROUND(a, b, c, d);
	SIP_ROUND(a, b, c, d);
	a ^= b ^ c ^ d;
	__builtin_memset(text, 0, PKBPF_CONTEXT_VALUE);
	text[0] = '#';
#pragma unroll
	for (int i = 0; i < 8; i++) {
		__u32 digit = a >> (60 - 4 * i) & 15;

		text[1 + i] = digit < 10 ? '0' + digit : 'a' - 10 + digit;
	}
	return 0;
}

/* Reads the next attribute of a record: its value if it is a label that is wanted. All others are
 * skipped by their length. 0: there are no more. A global function, so that the verifier follows it
 * once. */
__attribute__((noinline)) int context_read_attribute(__u32 at)
{
	__u32 pid = bpf_get_current_pid_tgid() >> 32, size, length, label;
	struct pkbpf_context_process *process;
	struct context_reading *reading;
	__u8 head[2];

	if (!contexts_are_wanted())
		return 0;
	process = bpf_map_lookup_elem(&context_processes, &pid);
	reading = context_reading_at(at);
	if (!process || !reading || reading->left < 2 ||
	    !read_user(head, sizeof(head), reading->address))
		return 0;
	length = head[1];
	if (length + 2 > reading->left)
		return 0;
	label = process->labels[head[0]];
	if (label && label <= PKBPF_CONTEXT_LABELS) {
		/* The last one of a key counts. */
		char *text = reading->labels[(label - 1) & (PKBPF_CONTEXT_LABELS - 1)];

		size = length < PKBPF_CONTEXT_VALUE ? length : PKBPF_CONTEXT_VALUE - 1;
		size &= PKBPF_CONTEXT_VALUE - 1;
		__builtin_memset(text, 0, PKBPF_CONTEXT_VALUE);
		bpf_probe_read_user(text, size, (void *)(reading->address + 2));
	}
	reading->address += 2 + length;
	reading->left -= 2 + length;
	return 1;
}

/* Reads all labels of a record. Always returns 0. */
__attribute__((noinline)) int context_read_labels(__u32 at)
{
	struct context_reading *reading;

	if (!contexts_are_wanted())
		return 0;
	reading = context_reading_at(at);
	if (!reading)
		return 0;
	__builtin_memset(reading->labels, 0, sizeof(reading->labels));
	reading->address = reading->pointer + PKBPF_CONTEXT_HEAD;
	reading->left = reading->record.attribute_bytes;
	for (int i = 0; i < PKBPF_CONTEXT_ATTRIBUTES; i++)
		if (!context_read_attribute(at))
			return 0;
	if (reading->left >= 2)
		counter_add(PKBPF_COUNTER_CONTEXT_LONG, 1);
	return 0;
}

static __always_inline __u64 hash_labels(const struct context_reading *reading)
{
	const __u64 *words = (const __u64 *)reading->labels;
	__u64 hash = 0;

#pragma unroll
	for (int i = 0; i < PKBPF_CONTEXT_LABELS * PKBPF_CONTEXT_VALUE / 8; i++) {
		hash = (hash ^ words[i]) * 0x9E3779B97F4A7C15ULL;
		hash ^= hash >> 29;
	}
	return hash ? hash : 1;
}

/* Samples and stacks refer to a set by its number; its name is that of its first label. */
static __always_inline void send_name(struct context_reading *reading, __u32 number)
{
	struct pkbpf_event_region_name *name = &reading->name;

	if (!context_config.by_label || !reading->labels[0][0])
		return;
	__builtin_memset(name, 0, sizeof(*name));
	name->header.size = sizeof(*name);
	name->header.kind = PKBPF_EVENT_REGION_NAME;
	/* Before the sample that is being made. */
	name->header.time_ns = bpf_ktime_get_ns() - NAME_AHEAD_NS;
	name->number = number;
	name->parent = PKBPF_NO_ROW;
	__builtin_memcpy(name->name, reading->labels[0], sizeof(name->name));
	/* Without a name its samples have no label. User space sends it again. */
	if (bpf_ringbuf_output(&sample_ring, name, sizeof(*name), BPF_RB_NO_WAKEUP))
		counter_add(PKBPF_COUNTER_CONTEXT_NAMES_LOST, 1);
}

/* A set that is seen for the first time. */
__attribute__((noinline)) __u32 context_set_new(__u32 at)
{
	struct context_reading *reading;
	struct pkbpf_context_set *set;
	__u32 *known, index = 0;

	if (!contexts_are_wanted())
		return 0;
	reading = context_reading_at(at);
	if (!reading)
		return 0;
	if (!slot_take(&context_sets, offsetof(struct pkbpf_context_set, claims), &context_next_set,
		       &context_free_sets, &index)) {
		counter_add(PKBPF_COUNTER_CONTEXT_OTHER, 1);
		return 1;
	}
	set = bpf_map_lookup_elem(&context_sets, &index);
	if (!set)
		return 0;
	if (bpf_map_update_elem(&context_set_index, &reading->key, &index, BPF_NOEXIST)) {
		/* Another CPU was faster. */
		bpf_map_push_elem(&context_free_sets, &index, 0);
		known = bpf_map_lookup_elem(&context_set_index, &reading->key);
		return known ? *known + 1 : 0;
	}
	__builtin_memcpy(set->labels, reading->labels, sizeof(set->labels));
	set->hash = reading->key.hash;
	send_name(reading, index);
	barrier();
	set->pid = reading->key.pid; /* last: user space reads only sets with a pid */
	return index + 1;
}

/* The set of the sets that a process has no number left for. */
static __always_inline bool choose_other(struct context_reading *reading)
{
	static const char other[] = PKBPF_CONTEXT_OTHER;
	struct pkbpf_context_process *process =
		bpf_map_lookup_elem(&context_processes, &reading->key.pid);

	if (!process)
		return false;
	if (process->sets < PKBPF_CONTEXT_PROCESS_SETS) {
		__sync_fetch_and_add(&process->sets, 1);
		return false;
	}
	counter_add(PKBPF_COUNTER_CONTEXT_OTHER, 1);
	reading->key.hash = 0;
	__builtin_memset(reading->labels, 0, sizeof(reading->labels));
#pragma unroll
	for (int i = 0; i < PKBPF_CONTEXT_LABELS; i++)
		__builtin_memcpy(reading->labels[i], other, sizeof(other));
	return true;
}

__attribute__((noinline)) __u32 context_set(__u32 at)
{
	struct context_reading *reading;
	__u32 *known;

	if (!contexts_are_wanted())
		return 0;
	reading = context_reading_at(at);
	if (!reading)
		return 0;
	context_read_labels(at);
	for (__u32 i = 0; i < PKBPF_CONTEXT_LABELS; i++)
		if (context_config.hashed & 1U << i && reading->labels[i][0])
			context_hash_label(at, i);
	reading->key.hash = hash_labels(reading);
	reading->key.pid = reading->pid;
	reading->key.reserved = 0;
	known = bpf_map_lookup_elem(&context_set_index, &reading->key);
	if (known)
		return *known + 1;
	if (choose_other(reading)) {
		known = bpf_map_lookup_elem(&context_set_index, &reading->key);
		if (known)
			return *known + 1;
	}
	return context_set_new(at);
}

__attribute__((noinline)) __u32 context_label(void)
{
	__u32 at, set = 0;

	if (!contexts_are_wanted())
		return 0;
	at = context_enter();
	if (at >= CONTEXT_READINGS)
		return 0;
	if (context_find(at) > 0)
		set = context_set(at);
	context_leave(at);
	return set;
}
