// SPDX-License-Identifier: BSD-2-Clause
/* Writes the single events of a trace: the waits of a thread on its own track, and its CPU samples
 * on a track beside it. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "base/escape.h"
#include "export/timeline/chrome_private.h"
#include "profile/account/wait_state.h"

static int write_wait(struct chrome *chrome, const struct timeline_slice *slice,
		      const struct moment *moment, uint32_t pid)
{
	if (chrome_name_track(chrome, pid, moment->tid,
			      profile_string(slice->profile, moment->comm)))
		return -ENOMEM;
	chrome_begin_event(chrome, 'X', pid, moment->tid, (double)moment->begin_ns);
	escape_json(chrome->out, wait_state_name(moment->state));
	fprintf(chrome->out, ",\"cat\":\"wait\",\"dur\":%.3f,\"args\":{\"runqueue_us\":%.3f,",
		((double)moment->length_ns + (double)moment->queue_ns) / 1000,
		(double)moment->queue_ns / 1000);
	if (moment->owner)
		fprintf(chrome->out, "\"lock_holder\":%" PRIu32 ",", moment->owner);
	chrome_write_stack(chrome, slice, moment->stack);
	fputs("}}", chrome->out);
	return 0;
}

/* By thread, in order of time. */
static int compare_by_thread(const void *left, const void *right)
{
	const struct moment *a = *(const struct moment *const *)left;
	const struct moment *b = *(const struct moment *const *)right;

	if (a->process != b->process)
		return a->process < b->process ? -1 : 1;
	if (a->tid != b->tid)
		return a->tid < b->tid ? -1 : 1;
	if (a->begin_ns != b->begin_ns)
		return a->begin_ns < b->begin_ns ? -1 : 1;
	return a < b ? -1 : a > b;
}

static bool is_same_thread(const struct moment *a, const struct moment *b)
{
	return a->process == b->process && a->tid == b->tid;
}

static int name_samples(struct chrome *chrome, const struct timeline_slice *slice,
			const struct moment *moment, const struct timeline_stack *stack,
			uint32_t tid)
{
	char name[64];

	snprintf(name, sizeof(name), "%s: CPU samples",
		 profile_string(slice->profile, moment->comm));
	if (chrome_name_track(chrome, stack->pid, 0, stack->comm) ||
	    chrome_name_track(chrome, stack->pid, tid, name))
		return -ENOMEM;
	return 0;
}

/* next: of the same thread and slice; NULL: none. */
static int write_sample(struct chrome *chrome, struct timeline_slice *slice,
			const struct moment *moment, const struct moment *next)
{
	double period_ns = timeline_weight_ns(slice, PKBPF_PROFILE_CPU, 1);
	uint64_t end_ns = moment->begin_ns + (uint64_t)(period_ns * moment->weight);
	uint32_t tid = TRACK_SAMPLES + moment->tid;
	struct timeline_stack stack;
	uint64_t begin_ns, *until_ns;
	bool is_first;
	int err = timeline_moment_stack(slice, moment, &stack);

	err = err ? err : name_samples(chrome, slice, moment, &stack, tid);
	if (err)
		return err;
	until_ns = hash_map_get(&chrome->sampled, (uint64_t)stack.pid << 32 | tid, 0, &is_first);
	if (!until_ns)
		return -ENOMEM;
	/* The last one of the slice before may reach into this one. */
	begin_ns = moment->begin_ns;
	if (!chrome->frames.count && *until_ns > begin_ns)
		begin_ns = *until_ns;
	if (chrome->frames.count && (uint64_t)chrome->frames.items[0].begin_ns > begin_ns)
		begin_ns = (uint64_t)chrome->frames.items[0].begin_ns;
	end_ns = end_ns > begin_ns ? end_ns : begin_ns;
	err = chrome_go_to_stack(chrome, slice, tid, &stack, (double)begin_ns);
	if (!next || next->begin_ns > end_ns + (uint64_t)(period_ns / 2))
		chrome_close_frames(chrome, slice, stack.pid, tid, 0, (double)end_ns);
	*until_ns = end_ns;
	return err;
}

/* A sample stands for a period, or for the time up to the next one when that comes earlier; frames
 * that are in both go on. */
static int write_samples(struct chrome *chrome, struct timeline_slice *slice,
			 const struct moment **samples, size_t count)
{
	int err = 0;

	for (size_t i = 0; i < count && !err; i++) {
		bool goes_on = i + 1 < count && is_same_thread(samples[i], samples[i + 1]);

		err = write_sample(chrome, slice, samples[i], goes_on ? samples[i + 1] : NULL);
	}
	return err;
}

int chrome_write_moments(struct chrome *chrome, struct timeline_slice *slice)
{
	const struct moment **samples = calloc(slice->moment_count + 1, sizeof(*samples));
	size_t count = 0;
	int err = samples ? 0 : -ENOMEM;

	for (size_t i = 0; i < slice->moment_count && !err; i++) {
		const struct moment *moment = slice->moments[i];
		struct timeline_stack stack;

		if (moment->kind == PKBPF_PROFILE_CPU && slice->has_samples)
			samples[count++] = moment;
		if (moment->kind != PKBPF_PROFILE_OFFCPU)
			continue;
		err = timeline_moment_stack(slice, moment, &stack);
		err = err ? err : chrome_name_track(chrome, stack.pid, 0, stack.comm);
		err = err ? err : write_wait(chrome, slice, moment, stack.pid);
	}
	if (!err) {
		qsort(samples, count, sizeof(*samples), compare_by_thread);
		err = write_samples(chrome, slice, samples, count);
	}
	free(samples);
	return err;
}
