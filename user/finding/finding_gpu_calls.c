// SPDX-License-Identifier: BSD-2-Clause
/* The rules about calls of CUDA and HIP. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "finding/finding_gpu.h"
#include "rows/gpu_call.h"
#include "rows/gpu_calls.h"
#include "rows/human.h"

#define SMALL_RATE	1000 /* copies a second, */
#define SMALL_BYTES	(16 << 10)
#define TIME_PERCENT	5      /* of the interval in them */
#define BLOCKING_NS	100000 /* a call that only queues a copy returns within some microseconds */
#define LAUNCH_RATE	5000
#define LAUNCH_NS	50000 /* of the GPU for each */
#define LAUNCH_BUSY	70    /* percent: a device that is busier has enough to do */
#define COMPUTE_PERCENT 50    /* of a CPU in launches */
#define WAITS_PERCENT                                                                              \
	20 /* of the interval: a thread that waits for the GPU has launched enough                 \
	    */
#define PLACE_FRAMES 16
#define PLACE_SHOWN  3

/* Calls of one process. The slowest of each sum, which may have made the context, has no time
 * here. */
struct calls_of_process {
	uint32_t process;
	uint64_t launches;
	uint64_t copies, bytes, ns;		  /* between host and device, measured */
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

static void add_call(struct calls_of_process *sums, const struct profile *profile,
		     const struct gpu_call *call)
{
	uint64_t ns = call->ns > call->max_ns ? call->ns - call->max_ns : 0;

	sums->launches += call->group == PKBPF_GPU_LAUNCH ? call->count : 0;
	if (!is_transfer(call) || call->unmeasured)
		return;
	sums->copies += call->count;
	sums->bytes += call->bytes;
	sums->ns += ns;
	if (!is_queued(profile_string(profile, call->function)))
		return;
	sums->queued += call->count;
	sums->queued_bytes += call->bytes;
	sums->queued_ns += ns;
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
		       const struct calls_of_process *copies, struct findings *findings)
{
	struct finding finding = finding_new(FINDING_RULE_gpu_small_copies);
	const struct activity *activity;
	char a[HUMAN_SIZE], b[HUMAN_SIZE], c[HUMAN_SIZE];

	finding.severity = finding_cost(analysis->rows, copies->ns);
	if (!copies->copies ||
	    (double)copies->copies < SMALL_RATE * finding_seconds(analysis->rows) ||
	    copies->bytes / copies->copies >= SMALL_BYTES || finding.severity < TIME_PERCENT ||
	    !begin(&finding, analysis, copies->process, &activity))
		return;
	finding.cost = finding.severity;
	finding_say(finding.cause, "copies little at a time to or from its GPU: %s on average",
		    human_bytes(a, copies->bytes / copies->copies));
	say_place(&finding, analysis, calls, copies->process, PKBPF_GPU_COPY);
	finding_say(finding.evidence, "%s of %s took %s but for the slowest",
		    human_counted(a, copies->copies, "copies"), human_bytes(b, copies->bytes),
		    human_time(c, copies->ns));
	finding_say(finding.next, "copy many values at once; a large copy costs about as much as a "
				  "small one until some ten KiB");
	findings_offer(findings, &finding);
}

static void find_blocking(const struct analysis *analysis, const struct gpu_calls *calls,
			  const struct calls_of_process *copies, struct findings *findings)
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
	finding_say(finding.evidence, "%s of %s took %s but for the slowest",
		    human_counted(a, copies->queued, "calls"), human_bytes(b, copies->queued_bytes),
		    human_time(c, copies->queued_ns));
	finding_say(finding.next, "from and to pageable memory they wait: pin it (cudaMallocHost, "
				  "pin_memory=True)");
	findings_offer(findings, &finding);
}

struct launch_time {
	const struct resource_rows *rows;
	uint64_t periods;
};

static void add_launch(void *context, const struct row_weight *weight)
{
	struct launch_time *time = context;

	if (finding_stack_has(time->rows, weight, gpu_call_launches))
		time->periods += weight->stack.weight;
}

/* CPU time below calls that launch, by samples. */
static uint64_t launch_cpu_ns(const struct analysis *analysis, const struct activity *activity)
{
	uint32_t frequency_hz = profile_info_read(analysis->rows->profile)->frequency_hz;
	struct launch_time time = {.rows = analysis->rows};

	if (!frequency_hz)
		return 0;
	activity_each_stack(analysis, activity, PKBPF_PROFILE_CPU, add_launch, &time);
	return human_whole((double)time.periods * 1e9 / frequency_hz);
}

/* A GPU that is waited for has enough to do, however many launches there are. GPU time by its
 * driver: of this process, which may not be known. */
static bool may_be_launch_bound(const struct analysis *analysis, const struct activity *activity,
				uint64_t launches)
{
	const unsigned int needed = ROW_HAS_GPU_TIME | ROW_HAS_WAITS | ROW_HAS_SAMPLES;
	const struct resource_row *sum = &activity->group->sum;

	return (sum->known & needed) == needed && activity->group->count == 1 &&
	       sum->gpu.share < LAUNCH_BUSY && sum->gpu.time_ns / launches < LAUNCH_NS &&
	       finding_cost(analysis->rows, sum->gpu.state_ns) < WAITS_PERCENT;
}

static void find_launch_bound(const struct analysis *analysis, const struct gpu_calls *calls,
			      const struct calls_of_process *sums, struct findings *findings)
{
	struct finding finding = finding_new(FINDING_RULE_gpu_launch_bound);
	double seconds = finding_seconds(analysis->rows), launching;
	const struct activity *activity;
	uint64_t cpu_ns;
	char a[HUMAN_SIZE], b[HUMAN_SIZE], c[HUMAN_SIZE];

	if (seconds <= 0 || (double)sums->launches < LAUNCH_RATE * seconds ||
	    !begin(&finding, analysis, sums->process, &activity) ||
	    !may_be_launch_bound(analysis, activity, sums->launches))
		return;
	cpu_ns = launch_cpu_ns(analysis, activity);
	launching = finding_cost(analysis->rows, cpu_ns);
	if (launching < COMPUTE_PERCENT)
		return;
	finding.severity = 100 - activity->group->sum.gpu.share;
	finding_say(finding.cause, "cannot launch fast enough for its GPU: %s a second",
		    human_counted(a, (uint64_t)((double)sums->launches / seconds), "launches"));
	say_place(&finding, analysis, calls, sums->process, PKBPF_GPU_LAUNCH);
	finding_say(finding.evidence,
		    "launches take %.0f %% of one CPU: %s of CPU time and %s of GPU time for each "
		    "of %s",
		    launching, human_time(a, cpu_ns / sums->launches),
		    human_time(b, activity->group->sum.gpu.time_ns / sums->launches),
		    human_counted(c, sums->launches, "launches"));
	finding_say(finding.next, "larger or fused kernels, or graphs (CUDA graphs, "
				  "torch.compile)");
	findings_offer(findings, &finding);
}

static int by_process(const void *left, const void *right)
{
	const struct gpu_call *a = *(const struct gpu_call *const *)left,
			      *b = *(const struct gpu_call *const *)right;

	return (a->process > b->process) - (a->process < b->process);
}

void find_gpu_calls(const struct analysis *analysis, struct findings *findings)
{
	const struct profile *profile = analysis->rows->profile;
	struct gpu_calls calls;

	if (!profile_gpu_calls(profile)->items.count || gpu_calls_make(&calls, profile))
		return;
	/* The order by time is of no use here. */
	qsort(calls.sums, calls.sum_count, sizeof(*calls.sums), by_process);
	for (size_t i = 0; i < calls.sum_count;) {
		struct calls_of_process sums = {.process = calls.sums[i]->process};

		for (; i < calls.sum_count && calls.sums[i]->process == sums.process; i++)
			add_call(&sums, profile, calls.sums[i]);
		find_small(analysis, &calls, &sums, findings);
		find_blocking(analysis, &calls, &sums, findings);
		find_launch_bound(analysis, &calls, &sums, findings);
	}
	gpu_calls_done(&calls);
}

/* Host memory that a GPU can reach ("cudaMallocHost", "hipHostMalloc") is not the device's. */
static bool is_of_host(const struct profile *profile, const struct gpu_call *call)
{
	return strstr(profile_string(profile, call->function), "Host") != NULL;
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
		    is_of_host(profile, call) ||
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
