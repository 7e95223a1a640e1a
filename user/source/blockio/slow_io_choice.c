// SPDX-License-Identifier: BSD-2-Clause
/* Passes on the records of the slowest block requests. */
#include "source/blockio/slow_io_choice.h"

#include <errno.h>
#include <string.h>

uint64_t slow_io_choice_bound_ns(const struct slow_io_choice *choice)
{
	uint64_t bound_ns = largest_bound(&choice->slowest);

	if (bound_ns < choice->min_ns)
		bound_ns = choice->min_ns;
	return choice->trace_ns && choice->trace_ns < bound_ns ? choice->trace_ns : bound_ns;
}

/* Returns 1: among the slowest; 0: not; -ENOMEM. */
static int choose(struct slow_io_choice *choice, uint64_t total_ns)
{
	size_t slot;

	int chosen = total_ns < choice->min_ns ? 0 : largest_add(&choice->slowest, total_ns, &slot);

	return chosen == 0 && choice->trace_ns && total_ns >= choice->trace_ns ? 1 : chosen;
}

int slow_io_choice_add(struct slow_io_choice *choice, const void *record, size_t size,
		       struct event_buffer *buffer)
{
	const struct pkbpf_event_slow_io *slow_io = record;
	struct pkbpf_event_slow_io *copy;
	int chosen;

	if (size != sizeof(*slow_io) || slow_io->header.kind != PKBPF_EVENT_SLOW_IO)
		return -EBADMSG;
	chosen = choose(choice, slow_io->header.time_ns - slow_io->insert_ns);
	if (chosen <= 0)
		return chosen;
	copy = event_buffer_add(buffer, sizeof(*copy), PKBPF_EVENT_SLOW_IO, 0, 0);
	if (!copy)
		return -ENOMEM;
	*copy = *slow_io;
	return 0;
}

int slow_io_choice_add_open(struct slow_io_choice *choice,
			    const volatile struct pkbpf_blockio_row *row,
			    const struct pkbpf_blockio_request *request, uint64_t time_ns,
			    struct event_buffer *buffer)
{
	/* Start of the current phase: in the queue (perhaps requeued) or in service. Earlier
	 * queue time is in queue_ns. */
	uint64_t since_ns = request->issue_ns ? request->issue_ns : request->insert_ns;
	struct slow_io_view view = {
		.time_ns = time_ns,
		.insert_ns = since_ns - request->queue_ns,
		.issue_ns = request->issue_ns,
		.stack_id = row->key.stack_id,
		.cgroup_id = row->cgroup_id,
		.sector = PKBPF_NO_SECTOR,
		.pid = row->key.pid,
		.tid = request->tid,
		.device = row->key.device,
		.bytes = request->length,
		.state = row->key.state,
		.open = true,
	};
	int chosen;

	if (row->key.lower || since_ns > time_ns ||
	    time_ns - view.insert_ns < slow_io_choice_bound_ns(choice))
		return 0;
	chosen = choose(choice, time_ns - view.insert_ns);
	if (chosen <= 0)
		return chosen;
	memcpy(view.comm, (const void *)row->comm, PKBPF_COMM_SIZE);
	return event_encode_slow_io(buffer, &view);
}

void slow_io_choice_done(struct slow_io_choice *choice)
{
	largest_done(&choice->slowest);
}
