// SPDX-License-Identifier: BSD-2-Clause
/* Divides waits at the end of a slice. The programs add a wait to the sums when it ends. At a
 * cut, its time so far is sent ahead and subtracted when the wait ends. The run-queue part of a
 * wait is known only at its end; between wake-up and cut it counts as the earlier state. */
#include <stdlib.h>
#include <string.h>

#include "source/offcpu/offcpu_tables_private.h"

/* After this many attempts, a thread that switches constantly is read without its current state. */
#define READ_ATTEMPTS 3

/* The current state of a thread and its duration. The last wait is not split into its parts
 * until the next switch of the thread. */
struct lasting {
	uint64_t on_cpu_ns, waited_ns;
	uint8_t state; /* state of the wait in waited_ns */
};

static struct lasting read_lasting(const volatile struct pkbpf_thread *thread, uint64_t until_ns)
{
	uint64_t since_ns = thread->since_ns,
		 passed_ns = until_ns > since_ns && since_ns ? until_ns - since_ns : 0;
	struct lasting lasting = {.state = thread->state};

	if (thread->place == PKBPF_THREAD_ON_CPU) {
		lasting.on_cpu_ns = passed_ns;
		lasting.waited_ns = thread->pending_ns;
	} else if (thread->place == PKBPF_THREAD_OFF_CPU) {
		lasting.waited_ns = passed_ns;
	}
	if (lasting.state >= PKBPF_WAIT_STATES)
		lasting.waited_ns = lasting.state = 0;
	return lasting;
}

static void copy_times(const volatile struct pkbpf_thread *thread, struct thread_times *times)
{
	for (int state = 0; state < PKBPF_WAIT_STATES; state++) {
		times->time_ns[state] = thread->time_ns[state];
		times->count[state] = thread->count[state];
	}
}

void offcpu_read_times(const volatile struct pkbpf_thread *thread, uint64_t until_ns,
		       struct thread_times *ret_times)
{
	for (int i = 0; until_ns && i < READ_ATTEMPTS; i++) {
		uint64_t since_ns = __atomic_load_n(&thread->since_ns, __ATOMIC_ACQUIRE);
		struct lasting lasting = read_lasting(thread, until_ns);

		copy_times(thread, ret_times);
		if (__atomic_load_n(&thread->since_ns, __ATOMIC_ACQUIRE) != since_ns)
			continue;
		ret_times->time_ns[PKBPF_WAIT_NONE] += lasting.on_cpu_ns;
		ret_times->time_ns[lasting.state] += lasting.waited_ns;
		return;
	}
	copy_times(thread, ret_times);
}

void offcpu_sum_ahead(struct offcpu_tables *tables)
{
	const volatile struct pkbpf_thread *threads = tables->threads.items;

	if (!tables->ahead_ns)
		tables->ahead_ns = calloc(tables->rows.count, sizeof(*tables->ahead_ns));
	if (!tables->ahead_ns)
		return;
	memset(tables->ahead_ns, 0, tables->rows.count * sizeof(*tables->ahead_ns));
	/* With sampling, a wait represents others or has no row; its time comes from the thread. */
	for (uint32_t i = 0; i < tables->threads.count && !tables->sampled; i++) {
		uint32_t row = threads[i].row;

		if (threads[i].tid && threads[i].tid != PKBPF_THREAD_TOMBSTONE &&
		    row < tables->rows.count)
			tables->ahead_ns[row] +=
				read_lasting(&threads[i], tables->until_ns).waited_ns;
	}
}

void offcpu_settle(uint64_t now_ns, uint64_t *sent_ns, uint64_t now_queue_ns,
		   uint64_t *sent_queue_ns)
{
	uint64_t over_ns = *sent_ns > now_ns ? *sent_ns - now_ns : 0,
		 queue_ns = now_queue_ns > *sent_queue_ns ? now_queue_ns - *sent_queue_ns : 0;

	if (over_ns > queue_ns)
		over_ns = queue_ns;
	*sent_ns -= over_ns;
	*sent_queue_ns += over_ns;
}
