// SPDX-License-Identifier: BSD-2-Clause
/* Keeps copies of removed blobs. `user` of a blob: time of the last look without it. */
#include "symbol/jit/hotspot_code.h"

#include <string.h>

void hotspot_code_done(struct hotspot_code *code)
{
	array_foreach(&code->past, each)
		hotspot_blob_free(each->blob);
	array_free(&code->past);
	hotspot_process_free(code->process);
	*code = (struct hotspot_code){0};
}

static uint64_t born_of(const struct hotspot_blob *blob)
{
	return (uint64_t)(uintptr_t)blob->user;
}

static void note_new(void *context, struct hotspot_blob *blob)
{
	const struct hotspot_code *code = context;

	blob->user = (void *)(uintptr_t)code->looked_ns;
}

static void note_gone(void *context, struct hotspot_blob *blob)
{
	struct hotspot_code *code = context;
	struct hotspot_past *past =
		code->past.count < HOTSPOT_CODE_MAX_PAST ? array_add(&code->past) : NULL;

	if (!past) {
		code->dropped++;
		return;
	}
	*past = (struct hotspot_past){hotspot_blob_copy(blob), born_of(blob), code->looking_ns};
	if (!past->blob)
		code->past.count--;
}

static void forget_past(struct hotspot_code *code, uint64_t now_ns)
{
	size_t count = 0;

	while (count < code->past.count &&
	       code->past.items[count].gone_ns + HOTSPOT_CODE_KEPT_NS < now_ns)
		hotspot_blob_free(code->past.items[count++].blob);
	code->past.count -= count;
	if (count && code->past.count)
		memmove(code->past.items, code->past.items + count,
			code->past.count * sizeof(*code->past.items));
}

int hotspot_code_look(struct hotspot_code *code, uint64_t now_ns)
{
	const struct hotspot_process_ops ops = {note_new, note_gone, code};
	int result;

	forget_past(code, now_ns);
	code->looking_ns = now_ns;
	result = hotspot_process_look(code->process, &ops, now_ns);
	if (result >= 0)
		code->looked_ns = hotspot_process_looked_ns(code->process);
	return result;
}

const struct hotspot_blob *hotspot_code_at(const struct hotspot_code *code, uint64_t address,
					   uint64_t time_ns)
{
	const struct hotspot_blob *blob = hotspot_process_find(code->process, address);

	if (blob && born_of(blob) <= time_ns)
		return blob;
	for (size_t i = code->past.count; i-- > 0;) {
		const struct hotspot_past *past = &code->past.items[i];

		if (address >= past->blob->start && address < past->blob->end &&
		    past->born_ns <= time_ns && time_ns <= past->gone_ns)
			return past->blob;
	}
	return NULL;
}
