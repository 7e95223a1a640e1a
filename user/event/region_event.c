// SPDX-License-Identifier: BSD-2-Clause
/* Checks records of regions before they are read. */
#include "event/region_event.h"

#include <errno.h>
#include <string.h>

int region_event_decode(const struct pkbpf_event_header *header, struct region_view *ret_view)
{
	const struct pkbpf_event_region *record = (const void *)header;
	struct region_view view = {.record = record};
	size_t rest;

	if (header->size < sizeof(*record) || record->n_buckets > PKBPF_HISTOGRAM_BUCKETS ||
	    !record->depth || record->depth > PKBPF_SPAN_DEPTH)
		return -EBADMSG;
	rest = header->size - sizeof(*record);
	if (rest < record->n_buckets * sizeof(record->buckets[0]) +
			   (size_t)record->depth * PKBPF_SPAN_NAME)
		return -EBADMSG;
	view.buckets = record->buckets;
	view.bucket_count = record->n_buckets;
	view.path = (const char *)&record->buckets[record->n_buckets];
	view.depth = record->depth;
	for (size_t i = 0; i < view.bucket_count; i++)
		if (view.buckets[i].index >= PKBPF_HISTOGRAM_BUCKETS ||
		    (i && view.buckets[i].index <= view.buckets[i - 1].index))
			return -EBADMSG;
	for (size_t i = 0; i < view.depth; i++)
		if (!memchr(region_view_name(&view, i), '\0', PKBPF_SPAN_NAME))
			return -EBADMSG;
	*ret_view = view;
	return 0;
}

int region_name_check(const struct pkbpf_event_header *header)
{
	const struct pkbpf_event_region_name *record = (const void *)header;

	if (header->size < sizeof(*record) || record->number >= PKBPF_REGIONS_MAX ||
	    (record->parent >= PKBPF_REGIONS_MAX && record->parent != PKBPF_NO_ROW) ||
	    !memchr(record->name, '\0', sizeof(record->name)))
		return -EBADMSG;
	return 0;
}

int region_gap_check(const struct pkbpf_event_header *header)
{
	const struct pkbpf_event_region_gap *record = (const void *)header;

	return header->size < sizeof(*record) || !memchr(record->name, '\0', sizeof(record->name))
		       ? -EBADMSG
		       : 0;
}

int slow_region_check(const struct pkbpf_event_header *header)
{
	const struct pkbpf_event_slow_region *record = (const void *)header;
	uint64_t rest_ns;

	if (header->size < sizeof(*record) || record->start_ns > header->time_ns ||
	    record->wall_ns > header->time_ns - record->start_ns ||
	    !memchr(record->name, '\0', sizeof(record->name)) ||
	    !memchr(record->comm, '\0', sizeof(record->comm)))
		return -EBADMSG;
	rest_ns = record->wall_ns;
	for (int i = 0; i < PKBPF_WAIT_STATES; i++) {
		if (record->part_ns[i] > rest_ns)
			return -EBADMSG;
		rest_ns -= record->part_ns[i];
	}
	return 0;
}
