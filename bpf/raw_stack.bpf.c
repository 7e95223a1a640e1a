// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Sends a sample with registers and stack memory where the unwind tables are not ready. */
#include "python.bpf.h"
#include "shared.bpf.h"

/* The red zone below the stack pointer. A leaf function may save registers there, and registers
 * just restored still lie there: unwind info of epilogues still refers to their slots. (System V
 * ABI for AMD64, 3.2.2.) */
#define RED_ZONE_BYTES 128
/* Large local variables that were never touched leave holes in a stack. A copy skips holes up to
 * this size: OpenBLAS has 33 KB of them in one function. Memory farther away may not be stack,
 * except on the stack of a program's first thread, whose end is known. */
#define MOST_MISSING_PAGES 10
/* A CPU that copies deep stacks fills the ring between two polls. */
#define RAW_RING_WAKEUP_BYTES (512 << 10)
/* Once a quarter of the ring is full, one stack takes at most this part of the remaining room. Most
 * stacks are small, and still find room when the reader is late. */
#define RAW_ROOM_PART 32

/* Returns how many pages beyond the first a copy may have now. */
static __always_inline __u32 pages_allowed(void)
{
	__u64 size = bpf_ringbuf_query(&raw_ring, BPF_RB_RING_SIZE);
	__u64 used = bpf_ringbuf_query(&raw_ring, BPF_RB_AVAIL_DATA);
	__u64 pages;

	if (used > size || used < size / 4)
		return RAW_STACK_PAGES - 1;
	pages = (size - used) / RAW_ROOM_PART / PKBPF_RAW_PAGE_BYTES;
	return pages < RAW_STACK_PAGES - 1 ? pages : RAW_STACK_PAGES - 1;
}

/* Returns the number of pages from an address to the end of the program's initial stack; 0: the
 * address is on another stack. */
static __always_inline __u32 pages_of_first_stack(__u64 start)
{
	struct task_struct *task = (void *)bpf_get_current_task();
	__u64 pages = BPF_CORE_READ(task, mm, start_stack) / PKBPF_RAW_PAGE_BYTES -
		      start / PKBPF_RAW_PAGE_BYTES + 1;

	return pages <= PKBPF_RAW_SPAN_PAGES ? pages : 0;
}

/* Copies page `number` of the stack behind the pages already in the CPU's record; 0: the copy ends
 * here. A separate function, so that the verifier does not follow each number of pages to the
 * end. */
__attribute__((noinline)) int copy_page(__u32 cpu, __u32 number)
{
	struct raw_scratch *raw = bpf_map_lookup_elem(&raw_scratch, &cpu);
	__u64 address;
	__u32 copied;
	__u8 *into;

	if (!raw || raw->word >= RAW_PREFIX_WORDS)
		return 0;
	/* Beyond are arguments and environment of the program, but no frames. */
	if (number == raw->known) {
		raw->cut = 0;
		return 0;
	}
	copied = raw->copied;
	if (raw->pages >= raw->allowed || copied > (RAW_STACK_PAGES - 1) * PKBPF_RAW_PAGE_BYTES)
		return 0;
	into = (__u8 *)&raw->record[raw->word];
	address = (raw->start / PKBPF_RAW_PAGE_BYTES + number) * PKBPF_RAW_PAGE_BYTES;
	if (!bpf_probe_read_user(into + copied, PKBPF_RAW_PAGE_BYTES, (void *)address)) {
		raw->missing = 0;
		raw->pages++;
		raw->copied = copied + PKBPF_RAW_PAGE_BYTES;
	} else if (raw->missing++ < MOST_MISSING_PAGES || raw->known) {
		raw->holes |= 1ULL << (number & 63);
	} else {
		raw->cut = 0;
		return 0;
	}
	return 1;
}

int copy_python_words(__u32 cpu, __u32 slot, __u32 n_kernel);

/* Copies the stack from `start` upwards to a word of the CPU's record, page by page, because a copy
 * across the end of the stack fails as a whole. Returns the bytes copied; pages that do not exist
 * take none. */
__attribute__((noinline)) int copy_stack(__u32 cpu, __u32 word, __u64 start)
{
	struct raw_scratch *raw = bpf_map_lookup_elem(&raw_scratch, &cpu);
	__u32 size = PKBPF_RAW_PAGE_BYTES - (start & (PKBPF_RAW_PAGE_BYTES - 1));

	if (!raw || word >= RAW_PREFIX_WORDS)
		return 0;
	if (bpf_probe_read_user(&raw->record[word], size, (void *)start))
		return 0;
	raw->cut = 1;
	raw->holes = 0;
	raw->missing = 0;
	raw->pages = 0;
	raw->allowed = pages_allowed();
	raw->copied = size;
	raw->word = word;
	raw->start = start;
	raw->known = pages_of_first_stack(start);
	for (__u32 i = 1; i < PKBPF_RAW_SPAN_PAGES; i++)
		if (!copy_page(cpu, i))
			break;
	return raw->copied;
}

/* Returns the start of a copy. The page below may not exist. */
static __always_inline __u64 copy_start(__u64 sp)
{
	__u64 in_page = sp & (PKBPF_RAW_PAGE_BYTES - 1);

	return (sp - (in_page < RED_ZONE_BYTES ? in_page : RED_ZONE_BYTES)) & ~7ULL;
}

/* Each kind of event has its own limit: page faults of starting programs outnumber all others. */
static __always_inline bool raw_record_allowed(struct raw_scratch *raw, __u32 slot, __u64 time_ns)
{
	__u64 second = time_ns >> 30;

	if (slot >= SCRATCH_SLOTS)
		return false;
	if (raw->second[slot] != second) {
		raw->second[slot] = second;
		raw->sent[slot] = 0;
	}
	return raw->sent[slot]++ < config.raw_stacks_per_second;
}

/* Copies the Python part of the stack behind the kernel frames; returns its words. A separate
 * function: see copy_page(). */
__attribute__((noinline)) int copy_python_words(__u32 cpu, __u32 slot, __u32 n_kernel)
{
	struct raw_scratch *raw = bpf_map_lookup_elem(&raw_scratch, &cpu);
	struct python_scratch *python = python_scratch_get(slot);
	__u64 count;

	if (!raw || !python || n_kernel > PKBPF_MAX_KERNEL_FRAMES)
		return 0;
	count = python->count;
	barrier_var(count);
	if (count > PKBPF_MAX_CHECK_FRAMES) {
		counter_add(PKBPF_COUNTER_PYTHON_TOO_DEEP, 1);
		count = PKBPF_MAX_CHECK_FRAMES;
	}
	if (bpf_probe_read_kernel(&raw->record[sizeof(struct pkbpf_event_sample) / 8 + n_kernel],
				  count * 8, python->words))
		return 0;
	if (python->count > PKBPF_MAX_CHECK_FRAMES)
		raw->record[sizeof(struct pkbpf_event_sample) / 8 + n_kernel +
			    PKBPF_MAX_CHECK_FRAMES - 1] =
			PKBPF_PYTHON_CUT_WORD | PKBPF_END_MAX_DEPTH;
	return count;
}

/* Makes a record of a sample and its stack memory, and returns its size. raw_filled says whether
 * there is a record. */
static __always_inline __u32 fill_raw_record(struct sample_scratch *scratch,
					     struct raw_scratch *raw, __u32 cpu, __u32 slot)
{
	struct pkbpf_event_sample *sample = (void *)raw->record;
	__u32 n_kernel = scratch->sample.n_kernel, n_user = 0, size;
	__u64 *from = scratch->unwind.first_regs;
	__u64 *words, start;
	__u32 first_word, head = PKBPF_RAW_HEAD_WORDS;
	__u32 n_python = config.want_python ? scratch->unwind.python_count : 0;

	scratch->unwind.raw_filled = 0;
	if (scratch->unwind.want_raw == UNWIND_RAW_CHECK) {
		n_user = scratch->sample.n_user;
		n_python = 0;
	}
	if (n_kernel > PKBPF_MAX_KERNEL_FRAMES || n_user > PKBPF_MAX_CHECK_FRAMES)
		return 0;
	__builtin_memcpy(sample, &scratch->sample, sizeof(*sample));
	sample->header.kind = PKBPF_EVENT_RAW_STACK;
	if (scratch->unwind.want_raw == UNWIND_RAW_CHECK)
		sample->header.flags |= PKBPF_RAW_CHECK;
	else
		sample->n_guessed = 0;
	sample->n_user = n_user;
	n_kernel += n_user;
	if (bpf_probe_read_kernel(sample + 1, n_kernel * 8, scratch->ips))
		return 0;
	if (n_python) {
		/* The mask shows the bound to the verifier. */
		n_python = copy_python_words(cpu, slot, n_kernel) & PKBPF_MAX_CHECK_FRAMES;
		sample->n_user = n_python;
		sample->header.flags |= PKBPF_RAW_PYTHON;
		n_kernel += n_python;
	}
	first_word = sizeof(*sample) / 8 + n_kernel;
	words = raw->record + first_word;
#if PKBPF_UNWIND_ARM64
	for (int i = 0; i < PKBPF_SIGNAL_REGS; i++)
		words[i] = from[i];
#else
#pragma unroll
	for (int i = 0; i < 16; i++)
		words[i] = from[PKBPF_SIGNAL_INDEX(i)];
	words[PKBPF_REG_IP] = from[PKBPF_SIGNAL_IP];
#pragma unroll
	for (int i = PKBPF_REG_IP + 1; i < PKBPF_REGS; i++)
		words[i] = 0;
#endif
	if (scratch->unwind.raw_stack_id) {
		sample->header.flags |= PKBPF_RAW_NUMBERED;
		sample->count = 0;
		sample->weight = 0;
		words[PKBPF_RAW_HEAD_WORDS] = scratch->unwind.raw_stack_id;
		head++;
	}
	start = copy_start(from[PKBPF_SIGNAL_SP]);
	size = copy_stack(cpu, first_word + head, start);
	if (!size) {
		/* The stack has just grown, and the kernel is about to make its first page. */
		start = (start | (PKBPF_RAW_PAGE_BYTES - 1)) + 1;
		size = copy_stack(cpu, first_word + head, start);
	}
	if (!size || size > RAW_STACK_BYTES)
		return 0;
	uprobe_mend_copy(cpu);
	if (raw->cut)
		sample->header.flags |= PKBPF_RAW_CUT;
	words[PKBPF_REGS] = start;
	words[PKBPF_REGS + 1] = size;
	words[PKBPF_REGS + 2] = raw->holes;
	size += sizeof(*sample) + n_kernel * 8 + head * 8;
	sample->header.size = size;
	scratch->unwind.raw_filled = 1;
	return size;
}

/* Sends the sample with registers and stack memory. User space unwinds it later, when the tables
 * are ready; or unwinds it a second time, as a check. Returns 1 if sent. */
__attribute__((noinline)) int emit_raw_stack(__u32 slot)
{
	struct sample_scratch *scratch = scratch_get(slot);
	__u32 cpu = bpf_get_smp_processor_id(), size;
	struct raw_scratch *raw = bpf_map_lookup_elem(&raw_scratch, &cpu);
	int sent = 0;

	if (!scratch || !raw || raw->busy)
		return 0;
	if (!raw_record_allowed(raw, slot, scratch->sample.header.time_ns)) {
		if (scratch->unwind.want_raw != UNWIND_RAW_CHECK)
			counter_add(PKBPF_COUNTER_RAW_STACK_LIMITED, 1);
		return 0;
	}
	raw->busy = 1;
	size = fill_raw_record(scratch, raw, cpu, slot);
	/* A single comparison of the register that is passed: older verifiers learn nothing from
	 * size - 1 < limit. */
	barrier_var(size);
	if (size <= sizeof(raw->record) && scratch->unwind.raw_filled) {
		sent = bpf_ringbuf_output(&raw_ring, raw->record, size,
					  ring_wakeup(&raw_ring, RAW_RING_WAKEUP_BYTES)) == 0;
		if (scratch->unwind.want_raw != UNWIND_RAW_CHECK)
			counter_add(sent ? PKBPF_COUNTER_RAW_STACKS
					 : PKBPF_COUNTER_RAW_STACK_RING_FULL,
				    1);
	}
	raw->busy = 0;
	return sent;
}
