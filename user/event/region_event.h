/* SPDX-License-Identifier: BSD-2-Clause */
/* Checks records of regions. */
#ifndef PKBPF_EVENT_REGION_EVENT_H
#define PKBPF_EVENT_REGION_EVENT_H

#include <stddef.h>
#include <stdint.h>

#include <pkbpf/span.h>

struct region_view {
	const struct pkbpf_event_region *record;
	const struct pkbpf_histogram_bucket *buckets; /* ascending, indexes checked */
	size_t bucket_count;
	/* depth names of PKBPF_SPAN_NAME bytes each, NUL-terminated, outermost first */
	const char *path;
	size_t depth;
};

/* -EBADMSG: sizes, indexes or names that cannot be. */
int region_event_decode(const struct pkbpf_event_header *header, struct region_view *ret_view);

/* -EBADMSG. Name and comm are NUL-terminated then, the parts no more than the time. */
int slow_region_check(const struct pkbpf_event_header *header);

/* -EBADMSG. The name is NUL-terminated then. */
int region_name_check(const struct pkbpf_event_header *header);
int region_gap_check(const struct pkbpf_event_header *header);

static inline const char *region_view_name(const struct region_view *view, size_t at)
{
	return view->path + at * PKBPF_SPAN_NAME;
}

#endif
