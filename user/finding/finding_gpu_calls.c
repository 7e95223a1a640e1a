// SPDX-License-Identifier: BSD-2-Clause
/* The rules about calls of CUDA and HIP. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "finding/finding_gpu.h"
#include "rows/gpu_calls.h"
#include "rows/human.h"

#define SMALL_RATE	1000 /* copies a second, */
#define SMALL_BYTES	(16 << 10)
#define TIME_PERCENT	5      /* of the interval in them */
#define BLOCKING_NS	100000 /* a call that only queues a copy returns within some microseconds */
#define LAUNCH_RATE	5000
#define LAUNCH_NS	50000 /* of the GPU for each */
#define LAUNCH_BUSY	70    /* percent: a device that is busier has enough to do */
#define COMPUTE_PERCENT 50    /* of a CPU */
#define PLACE_FRAMES	16
#define PLACE_SHOWN	3

/* Copies of one process. */
struct copies {
	uint32_t process;
	uint64_t count, bytes, ns;		  /* between host and device, measured */
	uint64_t queued, queued_bytes, queued_ns; /* of them, by calls that need not wait */
};

static bool is_queued(const char *function)
{
	size_t length = strlen(function);

	return length > 5 && strcmp(function + length - 5, "Async") == 0;
}

static bool is_transfer(const struct gpu_call *call)
{
	return call->group == PKBPF_GPU_COPY &&
	       (call->detail == PKBPF_GPU_HOST_TO_DEVICE ||
		call->detail == PKBPF_GPU_DEVICE_TO_HOST || call->detail == PKBPF_GPU_ANY_WAY);
}

static struct copies copies_of(const struct profile *profile, const struct gpu_calls *calls,
			       uint32_t process)
{
	struct copies copies = {.process = process};

	for (size_t i = 0; i < calls->sum_count; i++) {
		const struct gpu_call *call = calls->sums[i];

		if (call->process != process || !is_transfer(call) || call->unmeasured)
			continue;
		copies.count += call->count;
		copies.bytes += call->bytes;
		copies.ns += call->ns;
		if (!is_queued(profile_string(profile, call->function)))
			continue;
		copies.queued += call->count;
		copies.queued_bytes += call->bytes;
		copies.queued_ns += call->ns;
	}
	return copies;
}

/* "train_step > main" of a stack, without the call itself. */
static void say_stack(struct finding *finding, const struct analysis *analysis, uint32_t stack)
{
	const struct resource_rows *rows = analysis->rows;
	uint32_t functions[PLACE_FRAMES];
	size_t count, shown = 0;

	if (stack == GPU_CALL_NO_STACK)
		return;
	count = function_table_stack(rows->functions, rows->profile, stack, functions,
				     PLACE_FRAMES);
	count = count < PLACE_FRAMES ? count : PLACE_FRAMES;
	for (size_t i = count; i-- > 0;) {
		const struct function *function = function_table_get(rows->functions, functions[i]);

		if (!function->named || i >= PLACE_SHOWN)
			continue;
		finding_say(finding->place, "%s%s", shown++ ? " > " : "", function->name);
	}
}

/* The stack of most calls of a group in a process: of so many stacks as were read. */
static void say_place(struct finding *finding, const struct analysis *analysis,
		      const struct gpu_calls *calls, uint32_t process, uint32_t group)
{
	const struct gpu_call *most = NULL;
	uint64_t all = 0;

	for (size_t i = 0; i < calls->stack_count; i++) {
		const struct gpu_call *call = calls->stacks[i];

		if (call->process != process || call->group != group)
			continue;
		all += call->samples;
		if (!most || call->samples > most->samples)
			most = call;
	}
	if (most && most->samples >= LEAST_COUNTED && 2 * most->samples >= all)
		say_stack(finding, analysis, most->stack);
}

static const struct activity *activity_of(const struct analysis *analysis, uint32_t process,
					  uint32_t *ret_pid)
{
	const struct process *found =
		process_table_by_id(profile_processes(analysis->rows->profile), process);

	if (!process_has_pid(found))
		return NULL;
	*ret_pid = found->pid;
	for (size_t i = 0; i < analysis->count; i++)
		if (activity_has_pid(&analysis->activities[i], found->pid))
			return &analysis->activities[i];
	return NULL;
}

static bool begin(struct finding *finding, const struct analysis *analysis, uint32_t process,
		  const struct activity **ret_activity)
{
	uint32_t pid = 0;
	const struct activity *activity = activity_of(analysis, process, &pid);

	*ret_activity = activity;
	if (!activity)
		return false;
	finding_say_who(finding, analysis, activity);
	return true;
}

static void find_small(const struct analysis *analysis, const struct gpu_calls *calls,
		       const struct copies *copies, struct findings *findings)
{
	struct finding finding = finding_new(FINDING_RULE_gpu_small_copies);
	const struct activity *activity;
	char a[HUMAN_SIZE], b[HUMAN_SIZE], c[HUMAN_SIZE];

	finding.severity = finding_cost(analysis->rows, copies->ns);
	if (!copies->count ||
	    (double)copies->count < SMALL_RATE * finding_seconds(analysis->rows) ||
	    copies->bytes / copies->count >= SMALL_BYTES || finding.severity < TIME_PERCENT ||
	    !begin(&finding, analysis, copies->process, &activity))
		return;
	finding.cost = finding.severity;
	finding_say(finding.cause, "copies little at a time to or from its GPU: %s on average",
		    human_bytes(a, copies->bytes / copies->count));
	say_place(&finding, analysis, calls, copies->process, PKBPF_GPU_COPY);
	finding_say(finding.evidence, "%s of %s took %s", human_counted(a, copies->count, "copies"),
		    human_bytes(b, copies->bytes), human_time(c, copies->ns));
	finding_say(finding.next, "copy many values at once; a large copy costs about as much as a "
				  "small one until some ten KiB");
	findings_offer(findings, &finding);
}

static void find_blocking(const struct analysis *analysis, const struct gpu_calls *calls,
			  const struct copies *copies, struct findings *findings)
{
	struct finding finding = finding_new(FINDING_RULE_gpu_copies_block);
	const struct activity *activity;
	char a[HUMAN_SIZE], b[HUMAN_SIZE], c[HUMAN_SIZE];

	finding.severity = finding_cost(analysis->rows, copies->queued_ns);
	if (copies->queued < LEAST_COUNTED || copies->queued_ns / copies->queued < BLOCKING_NS ||
	    finding.severity < TIME_PERCENT ||
	    !begin(&finding, analysis, copies->process, &activity))
		return;
	finding.cost = finding.severity;
	finding_say(finding.cause, "is blocked by asynchronous copies: %s each",
		    human_time(a, copies->queued_ns / copies->queued));
	say_place(&finding, analysis, calls, copies->process, PKBPF_GPU_COPY);
	finding_say(finding.evidence, "%s of %s took %s", human_counted(a, copies->queued, "calls"),
		    human_bytes(b, copies->queued_bytes), human_time(c, copies->queued_ns));
	finding_say(finding.next, "from and to pageable memory they wait: pin it (cudaMallocHost, "
				  "pin_memory=True)");
	findings_offer(findings, &finding);
}

/* GPU time by its driver: of this process, which may not be known. */
static void find_launch_bound(const struct analysis *analysis, const struct gpu_calls *calls,
			      uint32_t process, uint64_t launches, struct findings *findings)
{
	struct finding finding = finding_new(FINDING_RULE_gpu_launch_bound);
	double seconds = finding_seconds(analysis->rows);
	const struct activity *activity;
	const struct resource_row *sum;
	char a[HUMAN_SIZE], b[HUMAN_SIZE], c[HUMAN_SIZE];

	if (seconds <= 0 || (double)launches < LAUNCH_RATE * seconds ||
	    !begin(&finding, analysis, process, &activity))
		return;
	sum = &activity->group->sum;
	if (!(sum->known & ROW_HAS_GPU_TIME) || activity->group->count != 1 ||
	    sum->gpu.share >= LAUNCH_BUSY || sum->gpu.time_ns / launches >= LAUNCH_NS ||
	    finding_cost(analysis->rows, activity->on_cpu_ns) < COMPUTE_PERCENT)
		return;
	finding.severity = 100 - sum->gpu.share;
	finding_say(finding.cause, "cannot launch fast enough for its GPU: %s a second",
		    human_counted(a, (uint64_t)((double)launches / seconds), "launches"));
	say_place(&finding, analysis, calls, process, PKBPF_GPU_LAUNCH);
	finding_say(finding.evidence, "%s of CPU time and %s of GPU time for each of %s",
		    human_time(a, activity->on_cpu_ns / launches),
		    human_time(b, sum->gpu.time_ns / launches),
		    human_counted(c, launches, "launches"));
	finding_say(finding.next, "larger or fused kernels, or graphs (CUDA graphs, "
				  "torch.compile)");
	findings_offer(findings, &finding);
}

/* Is it the first sum of its process? */
static bool is_first(const struct gpu_calls *calls, size_t at)
{
	for (size_t i = 0; i < at; i++)
		if (calls->sums[i]->process == calls->sums[at]->process)
			return false;
	return true;
}

void find_gpu_calls(const struct analysis *analysis, struct findings *findings)
{
	const struct profile *profile = analysis->rows->profile;
	struct gpu_calls calls;

	if (!profile_gpu_calls(profile)->items.count || gpu_calls_make(&calls, profile))
		return;
	for (size_t i = 0; i < calls.sum_count; i++) {
		uint32_t process = calls.sums[i]->process;
		struct copies copies;
		uint64_t launches = 0;

		if (!is_first(&calls, i))
			continue;
		for (size_t j = i; j < calls.sum_count; j++)
			if (calls.sums[j]->process == process &&
			    calls.sums[j]->group == PKBPF_GPU_LAUNCH)
				launches += calls.sums[j]->count;
		copies = copies_of(profile, &calls, process);
		find_small(analysis, &calls, &copies, findings);
		find_blocking(analysis, &calls, &copies, findings);
		find_launch_bound(analysis, &calls, process, launches, findings);
	}
	gpu_calls_done(&calls);
}

void finding_gpu_say_live(struct finding *finding, const struct analysis *analysis, uint32_t pid)
{
	const struct profile *profile = analysis->rows->profile;
	const struct gpu_call *most = NULL;
	struct gpu_calls calls;
	char a[HUMAN_SIZE];

	if (!profile_gpu_calls(profile)->items.count || gpu_calls_make(&calls, profile))
		return;
	for (size_t i = 0; i < calls.stack_count; i++) {
		const struct gpu_call *call = calls.stacks[i];
		const struct process *process =
			process_table_by_id(profile_processes(profile), call->process);

		if (call->group != PKBPF_GPU_ALLOC || !gpu_call_live_bytes(call) ||
		    (pid && (!process_has_pid(process) || process->pid != pid)))
			continue;
		if (!most || gpu_call_live_bytes(call) > gpu_call_live_bytes(most))
			most = call;
	}
	if (most) {
		say_stack(finding, analysis, most->stack);
		finding_say(finding->evidence, "%s alive are allocated there",
			    human_bytes(a, gpu_call_live_bytes(most)));
	}
	gpu_calls_done(&calls);
}
