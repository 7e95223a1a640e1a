// SPDX-License-Identifier: BSD-2-Clause
/* Checks and builds the records of the account of resources. */
#include "event/resource_event.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

/* Of recordings without threads_ns. */
#define MACHINE_OLD_SIZE offsetof(struct pkbpf_event_machine, threads_ns)

static bool moment_is_known(uint16_t flags)
{
	return flags >= PKBPF_RESOURCE_START && flags <= PKBPF_RESOURCE_LEFT;
}

int resource_event_decode(const struct pkbpf_event_header *header, struct resource_view *ret_view)
{
	const struct pkbpf_event_resource *record = (const void *)header;

	if (header->kind != PKBPF_EVENT_RESOURCE || header->size < sizeof(*record) ||
	    !moment_is_known(header->flags))
		return -EBADMSG;
	*ret_view = (struct resource_view){
		.time_ns = header->time_ns,
		.moment = header->flags,
		.pid = record->pid,
		.tid = record->tid,
		.parent_pid = record->parent_pid,
		.process_start_ns = record->process_start_ns,
		.thread_start_ns = record->thread_start_ns,
		.cgroup_id = record->cgroup_id,
		.counters =
			{
				.user_ns = record->user_ns,
				.system_ns = record->system_ns,
				.run_ns = record->run_ns,
				.run_delay_ns = record->run_delay_ns,
				.voluntary_switches = record->voluntary_switches,
				.involuntary_switches = record->involuntary_switches,
				.minor_faults = record->minor_faults,
				.major_faults = record->major_faults,
				.read_bytes = record->read_bytes,
				.written_bytes = record->written_bytes,
			},
		.rss_bytes = record->rss_bytes,
		.anonymous_rss_bytes = (uint64_t)record->anonymous_rss_kib << 10,
		.peak_rss_bytes = record->peak_rss_bytes,
	};
	memcpy(ret_view->comm, record->comm, PKBPF_COMM_SIZE);
	return 0;
}

int machine_event_decode(const struct pkbpf_event_header *header, struct machine_view *ret_view)
{
	const struct pkbpf_event_machine *record = (const void *)header;

	if (header->kind != PKBPF_EVENT_MACHINE || header->size < MACHINE_OLD_SIZE ||
	    (header->flags != PKBPF_RESOURCE_START && header->flags != PKBPF_RESOURCE_END))
		return -EBADMSG;
	*ret_view = (struct machine_view){
		.time_ns = header->time_ns,
		.moment = header->flags,
		.busy_ns = record->user_ns + record->nice_ns + record->system_ns + record->irq_ns +
			   record->softirq_ns,
		.idle_ns = record->idle_ns + record->iowait_ns,
		.steal_ns = record->steal_ns,
		.iowait_ns = record->iowait_ns,
		.irq_ns = record->irq_ns + record->softirq_ns,
		.memory_bytes = record->memory_bytes,
		.memory_available_bytes = record->memory_available_bytes,
		.threads_ns = header->size >= sizeof(*record) ? record->threads_ns : 0,
	};
	return 0;
}

int cgroup_event_decode(const struct pkbpf_event_header *header, struct cgroup_view *ret_view)
{
	const struct pkbpf_event_cgroup *record = (const void *)header;
	bool is_container = header->kind == PKBPF_EVENT_CONTAINER;
	size_t room, length;

	if ((header->kind != PKBPF_EVENT_CGROUP && !is_container) ||
	    header->size <= sizeof(*record))
		return -EBADMSG;
	room = header->size - sizeof(*record);
	length = strnlen(record->path, room);
	if (length == 0 || length == room || length >= PATH_MAX ||
	    (!is_container && record->path[0] != '/'))
		return -EBADMSG;
	*ret_view = (struct cgroup_view){
		.cgroup_id = record->cgroup_id, .is_container = is_container, .text = record->path};
	return 0;
}

int resource_event_encode(struct event_buffer *buffer, const struct resource_view *view)
{
	struct pkbpf_event_resource *record = event_buffer_add(buffer, sizeof(*record), PKBPF_EVENT_RESOURCE,
						     (uint16_t)view->moment, view->time_ns);

	if (!record)
		return -ENOMEM;
	record->pid = view->pid;
	record->tid = view->tid;
	record->parent_pid = view->parent_pid;
	record->process_start_ns = view->process_start_ns;
	record->thread_start_ns = view->thread_start_ns;
	record->cgroup_id = view->cgroup_id;
	record->user_ns = view->counters.user_ns;
	record->system_ns = view->counters.system_ns;
	record->run_ns = view->counters.run_ns;
	record->run_delay_ns = view->counters.run_delay_ns;
	record->voluntary_switches = view->counters.voluntary_switches;
	record->involuntary_switches = view->counters.involuntary_switches;
	record->minor_faults = view->counters.minor_faults;
	record->major_faults = view->counters.major_faults;
	record->read_bytes = view->counters.read_bytes;
	record->written_bytes = view->counters.written_bytes;
	record->rss_bytes = view->rss_bytes;
	record->anonymous_rss_kib = view->anonymous_rss_bytes >> 10 < UINT32_MAX
					    ? (uint32_t)(view->anonymous_rss_bytes >> 10)
					    : UINT32_MAX;
	record->peak_rss_bytes = view->peak_rss_bytes;
	memcpy(record->comm, view->comm, strnlen(view->comm, PKBPF_COMM_SIZE));
	return 0;
}

int machine_event_encode(struct event_buffer *buffer, const struct pkbpf_event_machine *machine)
{
	struct pkbpf_event_machine *record =
		event_buffer_add(buffer, sizeof(*record), PKBPF_EVENT_MACHINE, 0, 0);

	if (!record)
		return -ENOMEM;
	*record = *machine;
	record->header.size = sizeof(*record);
	record->header.kind = PKBPF_EVENT_MACHINE;
	return 0;
}

static int encode_text(struct event_buffer *buffer, uint16_t kind, uint64_t time_ns,
		       uint64_t cgroup_id, const char *text)
{
	size_t length = strlen(text);
	struct pkbpf_event_cgroup *record;

	if (length == 0 || length >= PATH_MAX)
		return -EINVAL;
	record = event_buffer_add(buffer, sizeof(*record) + length + 1, kind, 0, time_ns);
	if (!record)
		return -ENOMEM;
	record->cgroup_id = cgroup_id;
	memcpy(record->path, text, length);
	return 0;
}

int cgroup_event_encode(struct event_buffer *buffer, uint64_t time_ns, uint64_t cgroup_id,
			const char *path)
{
	return path[0] == '/' ? encode_text(buffer, PKBPF_EVENT_CGROUP, time_ns, cgroup_id, path)
			      : -EINVAL;
}

int container_event_encode(struct event_buffer *buffer, uint64_t time_ns, uint64_t cgroup_id,
			   const char *name)
{
	return encode_text(buffer, PKBPF_EVENT_CONTAINER, time_ns, cgroup_id, name);
}
