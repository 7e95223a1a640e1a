// SPDX-License-Identifier: BSD-2-Clause
/* The rules about GPUs: devices, and processes that use them. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "finding/finding_gpu.h"
#include "rows/gpu_call.h"
#include "rows/human.h"

#define SPIN_PERCENT	 20 /* of one CPU */
#define IDLE_PERCENT	 50 /* a device that is less busy than that */
#define FULL_PERCENT	 95 /* of the memory of a device */
#define HEAT_PERCENT	 5
#define POWER_PERCENT	 20
#define BUSY_PERCENT	 50 /* one of several, while */
#define UNUSED_PERCENT	 5  /* another one does nothing */
#define EXPLAINS_PERCENT 20 /* of the interval: what a process did meanwhile */

static enum finding_tier tier_of_machine(const struct analysis *analysis)
{
	return analysis->has_targets ? FINDING_OF_HOST : FINDING_OF_TARGET;
}

/* "GPU 0000:03:00.0" */
static void say_device(struct finding *finding, const struct gpu_device *device)
{
	finding_say(finding->who, "GPU %s", device->id);
}

static double busy_percent(const struct gpu_device *device)
{
	return finding_percent((double)device->busy_ns, (double)device->busy_of_ns);
}

/* ---- processes ---- */

bool finding_stack_has(const struct resource_rows *rows, const struct row_weight *weight,
		       bool (*is_it)(const struct function *function))
{
	size_t count;
	const uint32_t *functions = resource_rows_stack(rows, weight->stack.stack, &count);

	for (size_t i = 0; i < count; i++)
		if (is_it(function_table_get(rows->functions, functions[i])))
			return true;
	return false;
}

static bool spins(void *context, const struct row_weight *weight)
{
	return finding_stack_has(context, weight, gpu_call_spins);
}

static bool computes(void *context, const struct row_weight *weight)
{
	return !spins(context, weight);
}

struct wait_choice finding_computes(const struct analysis *analysis)
{
	return (struct wait_choice){
		.programs_only = true, .takes = computes, .context = (void *)analysis->rows};
}

static void find_spinning(const struct analysis *analysis, const struct activity *activity,
			  struct findings *findings)
{
	const struct resource_row *sum = &activity->group->sum;
	struct finding finding = finding_new(FINDING_RULE_gpu_spinning);
	const struct wait_choice waits = {
		.programs_only = true, .takes = spins, .context = (void *)analysis->rows};
	struct finding_stacks stacks = {.kind = PKBPF_PROFILE_CPU, .choice = &waits};
	char buffer[HUMAN_SIZE];

	finding.severity = finding_cost(analysis->rows, sum->gpu.spin_ns);
	if (finding.severity < SPIN_PERCENT)
		return;
	finding.cost = finding.severity;
	finding.severity = finding.severity < 100 ? finding.severity : 100;
	finding_say_who(&finding, analysis, activity);
	finding_say(finding.cause, "spins for its GPU: %.0f %% of one CPU", finding.cost);
	finding_set_place(&finding, "of it", analysis, activity, &stacks);
	finding_say(finding.evidence, "%s of its CPU time are in calls that only wait for the GPU",
		    human_time(buffer, sum->gpu.spin_ns));
	finding_say(finding.next, "wait less often, or asleep: cudaDeviceScheduleBlockingSync, "
				  "hipDeviceScheduleBlockingSync");
	findings_offer(findings, &finding);
}

/* What took most of a process's time that is not waiting for the GPU: a class of waits, or
 * WAIT_CLASS_COUNT for computing. 0: too little to explain anything. */
static uint64_t most_time(const struct activity *activity, enum wait_class *ret_class)
{
	uint64_t most_ns = activity->on_cpu_ns;

	*ret_class = WAIT_CLASS_COUNT;
	for (unsigned int class = 0; class < WAIT_CLASS_COUNT; class ++) {
		if (!wait_class_row(class)->rule || activity->waits[class].time_ns <= most_ns)
			continue;
		most_ns = activity->waits[class].time_ns;
		*ret_class = class;
	}
	return most_ns;
}

/* False: nothing explains why it gives the device no work. */
static bool say_meanwhile(struct finding *finding, const struct analysis *analysis,
			  const struct activity *activity)
{
	enum wait_class class;
	uint64_t time_ns = most_time(activity, &class);
	const struct wait_choice computing = finding_computes(analysis);
	struct finding_stacks on_cpu = {.kind = PKBPF_PROFILE_CPU, .choice = &computing};
	struct class_choice choice;
	char buffer[HUMAN_SIZE];

	if (finding_cost(analysis->rows, time_ns) < EXPLAINS_PERCENT)
		return false;
	finding_say(finding->by, "meanwhile it %s: %s of all its threads",
		    class == WAIT_CLASS_COUNT ? "computes" : wait_class_row(class)->cause,
		    human_time(buffer, time_ns));
	if (class == WAIT_CLASS_COUNT) {
		finding_set_place(finding, "of that", analysis, activity, &on_cpu);
	} else {
		struct finding_stacks stacks = class_stacks(&choice, analysis, 1ULL << class);

		finding_set_place(finding, "of that", analysis, activity, &stacks);
	}
	return true;
}

/* A thread that is outside of calls that wait for the GPU may still have queued work: the device
 * says that it has none. */
static void find_idle(const struct analysis *analysis, const struct gpu_device *device,
		      const struct activity *activity, struct findings *findings)
{
	const unsigned int needed = ROW_HAS_WAITS | ROW_HAS_SAMPLES;
	const struct resource_row *sum = &activity->group->sum;
	struct finding finding = finding_new(FINDING_RULE_gpu_idle);
	double busy = busy_percent(device);
	char buffer[HUMAN_SIZE];

	if (!device->busy_of_ns || busy >= IDLE_PERCENT || activity->group->count != 1 ||
	    (sum->known & needed) != needed || !sum->gpu.state_ns ||
	    finding_cost(analysis->rows, sum->gpu.state_ns) >= IDLE_PERCENT)
		return;
	finding.severity = 100 - busy;
	finding_say_who(&finding, analysis, activity);
	finding_say(finding.cause, "leaves GPU %s idle for %.0f %% of the time", device->id,
		    100 - busy);
	if (!say_meanwhile(&finding, analysis, activity))
		return;
	finding_say(finding.evidence, "all its threads wait for a GPU for %s",
		    human_time(buffer, sum->gpu.state_ns));
	finding_say(finding.next, "prepare the next batch while the GPU works: more loaders, "
				  "larger batches, pinned memory");
	findings_offer(findings, &finding);
}

/* Processes of which the driver says that they use this device alone. */
static void find_idle_users(const struct analysis *analysis, struct findings *findings)
{
	const struct gpu_list *list = profile_gpus(analysis->rows->profile);

	array_foreach(&list->processes, process) {
		size_t devices = 0, users = 0;

		array_foreach(&list->processes, other) {
			devices += other->pid == process->pid;
			users += other->device == process->device;
		}
		if (devices != 1 || users != 1 || process->device >= list->devices.count)
			continue;
		for (size_t i = 0; i < analysis->count; i++)
			if (activity_has_pid(&analysis->activities[i], process->pid))
				find_idle(analysis, &list->devices.items[process->device],
					  &analysis->activities[i], findings);
	}
}

/* ---- devices ---- */

/* Calls do not say of which device they are: of one that is the only one it is known. */
static size_t devices_of(const struct gpu_list *list, uint32_t pid)
{
	size_t devices = 0;

	array_foreach(&list->processes, process)
		devices += process->pid == pid;
	return devices;
}

static void find_full(const struct analysis *analysis, const struct gpu_device *device,
		      uint32_t number, struct findings *findings)
{
	const struct gpu_list *list = profile_gpus(analysis->rows->profile);
	struct finding finding = finding_new(FINDING_RULE_gpu_memory_low);
	const struct gpu_process *most = NULL;
	char a[HUMAN_SIZE], b[HUMAN_SIZE];

	if (!device->memory_total)
		return;
	finding.severity =
		finding_percent((double)device->memory_peak, (double)device->memory_total);
	if (finding.severity < FULL_PERCENT)
		return;
	array_foreach(&list->processes, process)
		if (process->device == number && process->memory_peak &&
		    (!most || process->memory_peak > most->memory_peak))
			most = process;
	say_device(&finding, device);
	finding.tier = tier_of_machine(analysis);
	finding_say(finding.cause, "has little memory left: %s of %s in use",
		    human_bytes(a, device->memory_peak), human_bytes(b, device->memory_total));
	if (most)
		finding_say(finding.by, "most of it by %s %" PRIu32 " (%s)", most->comm, most->pid,
			    human_bytes(a, most->memory_peak));
	if (most ? devices_of(list, most->pid) == 1 : list->devices.count == 1)
		finding_gpu_say_live(&finding, analysis, most ? most->pid : 0);
	finding_say(finding.next, "smaller batches, or free what is not needed; a caching "
				  "allocator keeps what a program has freed");
	findings_offer(findings, &finding);
}

static void find_throttled(const struct analysis *analysis, const struct gpu_device *device,
			   struct findings *findings)
{
	struct finding finding = finding_new(FINDING_RULE_gpu_throttled);
	double heat = finding_percent((double)device->throttled_heat_ms,
				      (double)device->throttle_of_ms),
	       power = finding_percent((double)device->throttled_power_ms,
				       (double)device->throttle_of_ms);

	if (heat < HEAT_PERCENT && power < POWER_PERCENT)
		return;
	say_device(&finding, device);
	finding.tier = tier_of_machine(analysis);
	finding.is_alarm = heat >= HEAT_PERCENT;
	finding.severity = finding.is_alarm ? heat : LEAST_SEVERITY;
	finding_say(finding.cause, "is throttled by %s %.0f %% of the time",
		    finding.is_alarm ? "heat" : "its power limit", finding.is_alarm ? heat : power);
	if (device->temperature_readings)
		finding_say(finding.evidence, "at most %.0f C",
			    (double)device->millicelsius / 1000);
	if (device->energy_ns)
		finding_say(finding.evidence, "%s%.0f W", finding.evidence[0] ? ", " : "",
			    gpu_device_watts(device));
	finding_say(finding.next, "%s; compare no times with those of other runs",
		    finding.is_alarm ? "look at cooling" : "nvidia-smi -q -d POWER says the limit");
	findings_offer(findings, &finding);
}

static void find_uneven(const struct analysis *analysis, struct findings *findings)
{
	const struct gpu_list *list = profile_gpus(analysis->rows->profile);
	struct finding finding = finding_new(FINDING_RULE_gpu_unused);
	const struct gpu_device *most = NULL;
	size_t unused = 0;

	array_foreach(&list->devices, device)
		if (device->busy_of_ns && (!most || busy_percent(device) > busy_percent(most)))
			most = device;
	/* Without a name and memory nothing shows that others are equal. */
	if (!most || busy_percent(most) < BUSY_PERCENT || !most->name[0] || !most->memory_total)
		return;
	array_foreach(&list->devices, device)
		unused += device->busy_of_ns && !strcmp(device->driver, most->driver) &&
			  !strcmp(device->name, most->name) &&
			  device->memory_total == most->memory_total &&
			  busy_percent(device) < UNUSED_PERCENT;
	if (!unused)
		return;
	say_device(&finding, most);
	finding.tier = tier_of_machine(analysis);
	finding.is_alarm = false;
	finding.severity = busy_percent(most);
	finding_say(finding.cause, "is %.0f %% busy while %zu like it %s less than %d %% busy",
		    busy_percent(most), unused, unused == 1 ? "is" : "are", UNUSED_PERCENT);
	finding_say(finding.next, "check that the program sees and uses all of them "
				  "(CUDA_VISIBLE_DEVICES, HIP_VISIBLE_DEVICES)");
	findings_offer(findings, &finding);
}

void find_gpu(const struct analysis *analysis, struct findings *findings)
{
	const struct gpu_list *list = profile_gpus(analysis->rows->profile);

	for (size_t i = 0; i < list->devices.count; i++) {
		find_full(analysis, &list->devices.items[i], (uint32_t)i, findings);
		find_throttled(analysis, &list->devices.items[i], findings);
	}
	find_uneven(analysis, findings);
	for (size_t i = 0; i < analysis->count; i++)
		find_spinning(analysis, &analysis->activities[i], findings);
	find_idle_users(analysis, findings);
	find_gpu_calls(analysis, findings);
}
