// SPDX-License-Identifier: BSD-2-Clause
/* Counts of Python calls that a process has left: a head, functions, edges, lines, strings, each as
 * far as it goes. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "profile/python_call_file.h"
#include "profile/slice/slice.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* A copy of its own, so that a read beyond it is seen. */
static void *take(const uint8_t **data, size_t *left, size_t row, size_t *count)
{
	size_t bytes = *left / row < *count ? *left / row * row : *count * row;
	void *rows = malloc(bytes ? bytes : 1);

	if (!rows)
		abort();
	memcpy(rows, *data, bytes);
	*data += bytes;
	*left -= bytes;
	*count = bytes / row;
	return rows;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct python_call_parts parts = {.function_count = 0};
	void *functions, *edges, *lines, *strings;
	struct profile *profile;

	if (size < sizeof(parts.head))
		return 0;
	memcpy(&parts.head, data, sizeof(parts.head));
	data += sizeof(parts.head);
	size -= sizeof(parts.head);
	parts.head.magic = PKBPF_PYTHON_CALLS_MAGIC;
	if (python_call_parts_begin(&parts))
		return 0;
	parts.functions = functions =
		take(&data, &size, sizeof(*parts.functions), &parts.function_count);
	parts.edges = edges = take(&data, &size, sizeof(*parts.edges), &parts.edge_count);
	parts.lines = lines = take(&data, &size, sizeof(*parts.lines), &parts.line_count);
	parts.strings = strings = take(&data, &size, 1, &parts.string_bytes);
	profile = slice_new();
	if (python_call_parts_add(&parts, profile))
		abort();
	array_foreach(&profile_python_calls(profile)->items, call) {
		if (!call->what || call->what >= PYTHON_CALL_WHATS ||
		    call->primitive > call->count || call->first > call->count)
			abort();
		if (strlen(profile_string(profile, call->name)) > PKBPF_PYTHON_NAME_MAX ||
		    strlen(profile_string(profile, call->file)) > PKBPF_PYTHON_PATH_MAX)
			abort();
	}
	profile_free(profile);
	free(functions);
	free(edges);
	free(lines);
	free(strings);
	return 0;
}
