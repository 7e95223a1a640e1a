/* SPDX-License-Identifier: BSD-2-Clause */
/* Relations that a reader has written, for tests. */
#ifndef PKBPF_TEST_RELATION_READING_H
#define PKBPF_TEST_RELATION_READING_H

#include <stdio.h>
#include <string.h>

#include "process/relation/relation_writer.h"

struct read_relation {
	struct relation_view view;
	char text[256];
};

/* The relations of this kind in the order they were written, at most max; returns how many. */
static inline size_t read_relations(const struct event_buffer *buffer, enum pkbpf_relation kind,
				    struct read_relation *ret, size_t max)
{
	size_t count = 0;

	for (size_t at = 0; at < buffer->size && count < max;) {
		const struct pkbpf_event_header *header = (const void *)(buffer->data + at);
		struct relation_view view;

		assert_int_equal(relation_event_decode(header, &view), 0);
		at += header->size;
		if (view.relation != kind)
			continue;
		ret[count].view = view;
		snprintf(ret[count++].text, sizeof(ret->text), "%s", view.text);
	}
	return count;
}

#endif
