// SPDX-License-Identifier: BSD-2-Clause
/* Checks and builds the records of resource accounting. */
#include "event/resource_event.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

/* Size of the record in streams without threads_ns. */
#define MACHINE_OLD_SIZE offsetof(struct pkbpf_event_machine, threads_ns)

static bool moment_is_known(uint16_t moment)
{
	return moment >= PKBPF_RESOURCE_START && moment <= PKBPF_RESOURCE_CUT;
}

/* True at the edge of an interval or of a slice. */
static bool moment_is_edge(uint16_t moment)
{
	return moment == PKBPF_RESOURCE_START || moment == PKBPF_RESOURCE_END ||
	       moment == PKBPF_RESOURCE_CUT;
}

int resource_event_decode(const struct pkbpf_event_header *header, struct resource_view *ret_view)
{
	const struct pkbpf_event_resource *record = (const void *)header;
	bool oom_killed = header->flags & PKBPF_RESOURCE_OOM_KILLED;
	uint16_t moment = header->flags & (uint16_t)~PKBPF_RESOURCE_OOM_KILLED;

	if (header->kind != PKBPF_EVENT_RESOURCE || header->size < sizeof(*record) ||
	    !moment_is_known(moment) || (oom_killed && moment != PKBPF_RESOURCE_EXIT))
		return -EBADMSG;
	*ret_view = (struct resource_view){
		.time_ns = header->time_ns,
		.moment = moment,
		.oom_killed = oom_killed,
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
	    !moment_is_edge(header->flags))
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
		.threads_ns = header->size >= offsetof(struct pkbpf_event_machine, cpu_count)
				      ? record->threads_ns
				      : 0,
		.cpu_count = header->size >= sizeof(*record) ? record->cpu_count : 0,
	};
	return 0;
}

/* True when the text at the end of a record has its NUL. */
static bool text_is_complete(const struct pkbpf_event_header *header, const char *text)
{
	size_t room = header->size - (size_t)(text - (const char *)header),
	       length = strnlen(text, room);

	return length > 0 && length < room && length < PATH_MAX;
}

int cgroup_event_decode(const struct pkbpf_event_header *header, struct cgroup_view *ret_view)
{
	const struct pkbpf_event_cgroup *record = (const void *)header;
	bool is_container = header->kind == PKBPF_EVENT_CONTAINER;

	if ((header->kind != PKBPF_EVENT_CGROUP && !is_container) ||
	    header->size <= sizeof(*record) || !text_is_complete(header, record->path) ||
	    (!is_container && record->path[0] != '/'))
		return -EBADMSG;
	*ret_view = (struct cgroup_view){
		.cgroup_id = record->cgroup_id, .is_container = is_container, .text = record->path};
	return 0;
}

/* The innermost name comes first, so the path is written from its end. */
int cgroup_names_event_decode(const struct pkbpf_event_header *header, uint64_t *ret_cgroup_id,
			      char *ret_path, size_t size)
{
	const struct pkbpf_event_cgroup *record = (const void *)header;
	const char *name = record->path, *end = (const char *)header + header->size;
	size_t at = size - 1, length;

	if (header->kind != PKBPF_EVENT_CGROUP_NAMES || header->size <= sizeof(*record))
		return -EBADMSG;
	ret_path[at] = '\0';
	for (; name < end && *name; name += length + 1) {
		length = strnlen(name, (size_t)(end - name));
		if (name + length == end || memchr(name, '/', length) || at < length + 1)
			return -EBADMSG;
		at -= length;
		memcpy(ret_path + at, name, length);
		ret_path[--at] = '/';
	}
	if (!ret_path[at])
		return -EBADMSG;
	memmove(ret_path, ret_path + at, size - at);
	*ret_cgroup_id = record->cgroup_id;
	return 0;
}

#define COPY_MEMBER(name) .name = record->name,
#define SET_MEMBER(name)  record->name = limit->name;

int cgroup_limit_event_decode(const struct pkbpf_event_header *header,
			      struct cgroup_limit_view *ret_view)
{
	const struct pkbpf_event_cgroup_limit *record = (const void *)header;

	if (header->kind != PKBPF_EVENT_CGROUP_LIMIT || header->size <= sizeof(*record) ||
	    !moment_is_edge(header->flags) || !record->quota_ns != !record->period_ns ||
	    !text_is_complete(header, record->path) || record->path[0] != '/')
		return -EBADMSG;
	*ret_view = (struct cgroup_limit_view){
		.time_ns = header->time_ns,
		.moment = header->flags,
		.cgroup_id = record->cgroup_id,
		PKBPF_CGROUP_LIMIT_FIGURES(COPY_MEMBER, COPY_MEMBER).path = record->path,
	};
	return 0;
}

int resource_event_encode(struct event_buffer *buffer, const struct resource_view *view)
{
	struct pkbpf_event_resource *record = event_buffer_add(
		buffer, sizeof(*record), PKBPF_EVENT_RESOURCE,
		(uint16_t)(view->moment | (view->oom_killed ? PKBPF_RESOURCE_OOM_KILLED : 0)),
		view->time_ns);

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

/* Adds a record that ends in a text. `header` gives kind, flags, time, and the size of the part
 * before the text. */
static int add_with_text(struct event_buffer *buffer, const struct pkbpf_event_header *header,
			 const char *text, void **ret_record)
{
	size_t length = strlen(text);
	uint8_t *record;

	if (length == 0 || length >= PATH_MAX)
		return -EINVAL;
	record = event_buffer_add(buffer, header->size + length + 1, header->kind, header->flags,
				  header->time_ns);
	if (!record)
		return -ENOMEM;
	memcpy(record + header->size, text, length + 1);
	*ret_record = record;
	return 0;
}

static int encode_text(struct event_buffer *buffer, uint16_t kind, uint64_t time_ns,
		       uint64_t cgroup_id, const char *text)
{
	struct pkbpf_event_cgroup *record;
	const struct pkbpf_event_header header = {
		.size = sizeof(*record),
		.kind = kind,
		.time_ns = time_ns,
	};
	void *added;
	int err = add_with_text(buffer, &header, text, &added);

	if (err)
		return err;
	record = added;
	record->cgroup_id = cgroup_id;
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

int cgroup_limit_event_encode(struct event_buffer *buffer, const struct cgroup_limit_view *limit)
{
	struct pkbpf_event_cgroup_limit *record;
	const struct pkbpf_event_header header = {
		.size = sizeof(*record),
		.kind = PKBPF_EVENT_CGROUP_LIMIT,
		.flags = (uint16_t)limit->moment,
		.time_ns = limit->time_ns,
	};
	void *added;
	int err;

	if (limit->path[0] != '/' || !limit->quota_ns != !limit->period_ns)
		return -EINVAL;
	err = add_with_text(buffer, &header, limit->path, &added);
	if (err)
		return err;
	record = added;
	record->cgroup_id = limit->cgroup_id;
	PKBPF_CGROUP_LIMIT_FIGURES(SET_MEMBER, SET_MEMBER)
	return 0;
}

#define RELATION_TEXT_MAX 512

int relation_event_decode(const struct pkbpf_event_header *header, struct relation_view *ret_view)
{
	const struct pkbpf_event_relation *record = (const void *)header;

	if (header->kind != PKBPF_EVENT_RELATION || header->size < sizeof(*record) ||
	    record->relation < PKBPF_RELATION_WAKER || record->relation > PKBPF_RELATION_DEVICE)
		return -EBADMSG;
	if (header->size > sizeof(*record) &&
	    strnlen(record->text, header->size - sizeof(*record)) == header->size - sizeof(*record))
		return -EBADMSG;
	*ret_view = (struct relation_view){
		.time_ns = header->time_ns,
		.relation = record->relation,
		.pid = record->pid,
		.other_pid = record->other_pid,
		.stack_id = record->stack_id,
		.other_stack_id = record->other_stack_id,
		.count = record->count,
		.value = record->value,
		.text = header->size > sizeof(*record) ? record->text : "",
	};
	memcpy(ret_view->other_comm, record->other_comm, PKBPF_COMM_SIZE);
	return 0;
}

int relation_event_encode(struct event_buffer *buffer, const struct relation_view *view)
{
	size_t length = strnlen(view->text, RELATION_TEXT_MAX);
	struct pkbpf_event_relation *record = event_buffer_add(
		buffer, sizeof(*record) + length + 1, PKBPF_EVENT_RELATION, 0, view->time_ns);

	if (!record)
		return -ENOMEM;
	record->relation = view->relation;
	record->pid = view->pid;
	record->other_pid = view->other_pid;
	record->stack_id = view->stack_id;
	record->other_stack_id = view->other_stack_id;
	record->count = view->count;
	record->value = view->value;
	memcpy(record->other_comm, view->other_comm, PKBPF_COMM_SIZE);
	memcpy(record->text, view->text, length);
	return 0;
}
