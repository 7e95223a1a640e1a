// SPDX-License-Identifier: BSD-2-Clause
/* Attaches the program that samples wakers, and detaches it when wake-ups are too frequent. */
#include "source/offcpu/offcpu_wakers.h"

#include <bpf/libbpf.h>

#include "base/clock.h"
#include "capture/session/session.h"
#include "capture/tracing_program.h"

#include "pkbpf.skel.h"

/* 0.2 ms of CPU time per second. */
#define WAKEUPS_PER_SECOND 2000
/* A stack takes about 5 us: 0.5 ms of CPU time per second. */
#define STACKS_PER_SECOND  100
#define STACKS_INTERVAL_NS (NS_PER_SECOND / 5)
/* Attaching changes code of the kernel on all CPUs, which takes milliseconds in some virtual
 * machines: a burst is followed by so many times what its change took, without one. */
#define REST_TIMES    500
#define LEAST_REST_NS NS_PER_SECOND
#define MOST_REST_NS  (10 * NS_PER_SECOND)

/* Total number of wake-ups allowed so far. */
static uint64_t offcpu_wakers_allowed(uint64_t passed_ns)
{
	/* One second's worth in advance, so that short records have wakers, too. */
	return WAKEUPS_PER_SECOND * (NS_PER_SECOND + passed_ns) / NS_PER_SECOND;
}

static void attach(struct offcpu_wakers *wakers)
{
	uint64_t begin_ns = clock_now_ns();
	struct error error;

	/* Findings work without wakers. */
	wakers->failed =
		tracing_program_attach(wakers->skeleton->progs.offcpu_waker, &wakers->link, &error);
	wakers->attach_took_ns = clock_now_ns() - begin_ns;
}

static uint64_t rest_after(uint64_t took_ns)
{
	uint64_t rest_ns = took_ns * REST_TIMES;

	if (rest_ns > MOST_REST_NS)
		return MOST_REST_NS;
	return rest_ns > LEAST_REST_NS ? rest_ns : LEAST_REST_NS;
}

void offcpu_wakers_begin(struct offcpu_wakers *wakers, struct pkbpf_bpf *skeleton,
			 uint64_t start_ns)
{
	*wakers = (struct offcpu_wakers){.skeleton = skeleton, .start_ns = start_ns};
	offcpu_wakers_look(wakers, start_ns);
}

void offcpu_wakers_look(struct offcpu_wakers *wakers, uint64_t now_ns)
{
	struct pkbpf_offcpu_control *control;
	bool wanted;

	if (!wakers->skeleton || wakers->failed || now_ns < wakers->start_ns)
		return;
	control = &wakers->skeleton->bss->offcpu_control;
	wanted = __atomic_load_n(&control->wakeups, __ATOMIC_RELAXED) <
		 offcpu_wakers_allowed(now_ns - wakers->start_ns);
	if (now_ns >= wakers->next_stacks_ns) {
		wakers->next_stacks_ns = now_ns + STACKS_INTERVAL_NS;
		__atomic_store_n(&control->waker_stacks,
				 (uint32_t)(STACKS_PER_SECOND * STACKS_INTERVAL_NS / NS_PER_SECOND),
				 __ATOMIC_RELAXED);
	}
	if (wanted && !wakers->link && now_ns >= wakers->next_attach_ns) {
		attach(wakers);
	} else if (!wanted && wakers->link) {
		bpf_link__destroy(wakers->link);
		wakers->link = NULL;
		wakers->next_attach_ns = now_ns + rest_after(2 * wakers->attach_took_ns);
	}
}

void offcpu_wakers_end(struct offcpu_wakers *wakers)
{
	bpf_link__destroy(wakers->link);
	*wakers = (struct offcpu_wakers){.skeleton = NULL};
}
