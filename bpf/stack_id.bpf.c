// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Gives stacks ids and sends the frames of each stack once. */
#include "stack_id.bpf.h"
#include "ring_share.bpf.h"

#define MAX_WORDS  (PKBPF_MAX_KERNEL_FRAMES + PKBPF_MAX_USER_FRAMES)
#define PART_WORDS 32

__u64 stack_hash_part(__u32 slot, __u32 first, __u64 hash);

/* Multiply and fold, as in the FNV and murmur families: every input bit reaches every output bit
 * after two words. */
static __always_inline __u64 mix(__u64 hash, __u64 word)
{
	hash = (hash ^ word) * 0x9E3779B97F4A7C15ULL;
	return hash ^ (hash >> 29);
}

/* Returns the number of frames in the scratch memory. */
static __always_inline __u32 scratch_words(const struct sample_scratch *scratch)
{
	__u32 words = (__u32) * (const volatile __u16 *)&scratch->sample.n_kernel +
		      *(const volatile __u16 *)&scratch->sample.n_user;

	return words > MAX_WORDS ? MAX_WORDS : words;
}

static __always_inline bool send_frames(struct sample_scratch *scratch, __u64 id, __u32 words)
{
	/* The record's header lies right before the frames, over the end of the sample. The sample
	 * is restored afterwards. */
	struct pkbpf_event_stack *stack =
		(void *)((char *)scratch->ips - sizeof(struct pkbpf_event_stack));
	struct pkbpf_event_stack head = {};
	char kept[sizeof(struct pkbpf_event_stack)];
	long err;

	head.header.kind = PKBPF_EVENT_STACK;
	head.header.flags = scratch->sample.header.flags;
	head.header.time_ns = scratch->sample.header.time_ns;
	head.header.size = sizeof(head) + words * 8;
	head.stack_id = id;
	head.pid = scratch->sample.pid;
	head.user_end = scratch->sample.user_end;
	head.n_guessed = scratch->sample.n_guessed;
	head.n_kernel = scratch->sample.n_kernel;
	head.n_user = scratch->sample.n_user;
	head.region = scratch->sample.region;
	__builtin_memcpy(kept, stack, sizeof(kept));
	__builtin_memcpy(stack, &head, sizeof(head));
	err = bpf_ringbuf_output(&sample_ring, stack, sizeof(head) + words * 8ULL,
				 ring_wakeup(&sample_ring, config.ring_wakeup_bytes));
	__builtin_memcpy(stack, kept, sizeof(kept));
	return err == 0;
}

/* Hashes up to PART_WORDS words from `first` on. The verifier follows the loop for one part
 * only. */
__attribute__((noinline)) __u64 stack_hash_part(__u32 slot, __u32 first, __u64 hash)
{
	struct sample_scratch *scratch = slot < SCRATCH_SLOTS ? scratch_get(slot) : NULL;
	__u32 words;

	if (!scratch)
		return hash;
	words = scratch_words(scratch);
	for (__u32 i = 0; i < PART_WORDS; i++) {
		__u32 at = first + i;

		if (at >= words)
			break;
		/* The compiler knows that `at` is in bounds; the verifier has to see it. */
		barrier_var(at);
		if (at >= MAX_WORDS)
			break;
		hash = mix(hash, scratch->ips[at]);
	}
	return hash;
}

/* Identity of a process: a process that reuses a pid may also have equal stacks, address by
 * address. */
static __always_inline __u64 process_identity(void)
{
	struct task_struct *task = (void *)bpf_get_current_task();

	return BPF_CORE_READ(task, group_leader, start_time) ^ (__u64)BPF_CORE_READ(task, mm);
}

__u64 stack_intern(__u32 slot)
{
	struct sample_scratch *scratch;
	__u32 words, one = 1;
	__u64 hash;

	if (slot >= SCRATCH_SLOTS)
		return 0;
	scratch = scratch_get(slot);
	if (!scratch)
		return 0;
	words = scratch_words(scratch);
	hash = mix(scratch->sample.pid, process_identity());
	hash = mix(hash, ((__u64)scratch->sample.n_kernel << 32) |
				 ((__u64)scratch->sample.header.flags << 24) |
				 ((__u64)scratch->sample.user_end << 16) | scratch->sample.n_user);
	/* Another function may be at the address of a former one. */
	hash = mix(hash, scratch->unwind.python_names);
	hash ^= region_hash(scratch->sample.region);
	for (__u32 first = 0; first < MAX_WORDS; first += PART_WORDS) {
		if (first >= words)
			break;
		hash = stack_hash_part(slot, first, hash);
	}
	/* Read again: otherwise the verifier follows what each round of the loop implies about the
	 * old value. */
	words = scratch_words(scratch);
	hash = mix(hash, words);
	hash = hash ? hash : 1;
	if (bpf_map_lookup_elem(&stacks_sent, &hash))
		return hash;
	if (!ring_share_admits(sizeof(struct pkbpf_event_stack) + words * 8)) {
		counter_add(PKBPF_COUNTER_STACK_RING_SHARE, 1);
		return 0;
	}
	if (!send_frames(scratch, hash, words)) {
		counter_add(PKBPF_COUNTER_STACK_RING_FULL, 1);
		return 0;
	}
	/* The kernel may fail to make room; the stack is then sent again next time. */
	if (bpf_map_update_elem(&stacks_sent, &hash, &one, BPF_ANY))
		counter_add(PKBPF_COUNTER_STACK_TABLE_FULL, 1);
	return hash;
}
