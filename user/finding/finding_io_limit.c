// SPDX-License-Identifier: BSD-2-Clause
/* Whether a limit of a cgroup holds block I/O back. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "finding/finding_rules.h"

/* Of a wait, in service at the device: less, and something else holds it up. */
#define DEVICE_PART_PERCENT 50
/* Of the limit, used by the groups that it throttled: with less in use, it is not the cause. Not
 * all of a cgroup need be targets, and a limit of 20 requests a second was seen to throttle at
 * half. */
#define USED_PERCENT 30

static bool is_near(double rate, double limit)
{
	return limit > 0 && finding_percent(rate, limit) >= USED_PERCENT;
}

/* "rbps=1048576 wiops=30 in /a", or "30 writes/s in /a". */
static bool is_reached(const char *text, const struct row_blockio *sum, double seconds)
{
	static const char *const of_requests[] = {"reads/s", "writes/s", "riops=", "wiops="};
	static const char *const of_bytes[] = {"bytes read/s", "bytes written/s", "rbps=", "wbps="};
	double requests[2] = {(double)sum->reads, (double)sum->writes},
	       bytes[2] = {(double)sum->read_bytes, (double)sum->written_bytes};

	for (size_t i = 0; i < 4; i++) {
		const char *at = strstr(text, of_requests[i]);
		bool is_assigned = i >= 2;
		double limit = 0;

		if (at &&
		    sscanf(is_assigned ? at + strlen(of_requests[i]) : text, "%lf", &limit) == 1 &&
		    is_near(requests[i % 2] / seconds, limit))
			return true;
		at = strstr(text, of_bytes[i]);
		if (at &&
		    sscanf(is_assigned ? at + strlen(of_bytes[i]) : text, "%lf", &limit) == 1 &&
		    is_near(bytes[i % 2] / seconds, limit))
			return true;
	}
	return false;
}

static bool has_limit(const struct analysis *analysis, const struct activity *activity,
		      const char *text)
{
	const struct relation_list *list = profile_relations(analysis->rows->profile);

	for (size_t i = 0; i < relation_list_count(list); i++) {
		const struct relation *relation = relation_list_at(list, i);

		if (relation->kind == PKBPF_RELATION_IO_LIMIT && !strcmp(relation->text, text) &&
		    activity_has_pid(activity, relation->pid))
			return true;
	}
	return false;
}

/* Of all groups in the cgroup. */
static struct row_blockio used_of(const struct analysis *analysis, const char *text)
{
	struct row_blockio used = {0};

	for (size_t i = 0; i < analysis->count; i++) {
		const struct row_blockio *sum = &analysis->activities[i].group->sum.blockio;

		if (!has_limit(analysis, &analysis->activities[i], text))
			continue;
		used.reads += sum->reads;
		used.writes += sum->writes;
		used.read_bytes += sum->read_bytes;
		used.written_bytes += sum->written_bytes;
	}
	return used;
}

const struct relation *finding_io_limit(const struct analysis *analysis,
					const struct activity *activity, uint64_t wait_ns)
{
	const struct relation_list *list = profile_relations(analysis->rows->profile);
	const struct resource_row *sum = &activity->group->sum;
	double seconds = finding_seconds(analysis->rows);

	if (seconds <= 0 ||
	    finding_percent((double)sum->blockio.device_ns, (double)wait_ns) >= DEVICE_PART_PERCENT)
		return NULL;
	for (size_t i = 0; i < relation_list_count(list); i++) {
		const struct relation *relation = relation_list_at(list, i);
		struct row_blockio used;

		if (relation->kind != PKBPF_RELATION_IO_LIMIT ||
		    !activity_has_pid(activity, relation->pid))
			continue;
		used = used_of(analysis, relation->text);
		if (is_reached(relation->text, &used, seconds))
			return relation;
	}
	return NULL;
}

void finding_say_io_limit(struct finding *finding, const struct relation *limit)
{
	finding_say(finding->cause,
		    "waits for block I/O that a limit of its cgroup holds back (%s)", limit->text);
	finding_say(finding->next, "raise the limit (io.max, blkio.throttle), or read and write "
				   "less");
}
