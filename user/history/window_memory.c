// SPDX-License-Identifier: BSD-2-Clause
#include "history/window_memory.h"

#include <errno.h>
#include <stdlib.h>

#include "diff/measure_profile.h"

struct kept_value {
	struct diff_key key;
	double value, count;
};

struct kept_window {
	struct store_window window;
	struct diff_slice slice;
	uint32_t kinds_mask, sampled_mask;
	uint64_t lost;
	ARRAY_OF(struct kept_value) values;
	bool is_used; /* since the last window_memory_forget() */
};

struct window_memory {
	struct slice_choice choice;
	uint32_t levels_mask;
	struct diff_names names;
	ARRAY_OF(struct kept_window) windows;
	size_t value_count; /* of all windows */
	uint64_t reads;
};

struct window_memory *window_memory_new(uint32_t kinds_mask, uint32_t levels_mask)
{
	struct window_memory *memory = calloc(1, sizeof(*memory));

	if (!memory)
		return NULL;
	memory->choice.kinds_mask = kinds_mask;
	memory->levels_mask = levels_mask;
	if (!diff_names_init(&memory->names)) {
		window_memory_free(memory);
		return NULL;
	}
	return memory;
}

static void forget_all(struct window_memory *memory)
{
	array_foreach(&memory->windows, kept)
		array_free(&kept->values);
	array_free(&memory->windows);
	memory->value_count = 0;
}

void window_memory_free(struct window_memory *memory)
{
	if (!memory)
		return;
	forget_all(memory);
	diff_names_done(&memory->names);
	free(memory);
}

struct diff_names *window_memory_names(struct window_memory *memory)
{
	return &memory->names;
}

void window_memory_begin_side(const struct window_memory *memory, struct measurement *side)
{
	side->levels_mask = memory->levels_mask;
}

uint64_t window_memory_reads(const struct window_memory *memory)
{
	return memory->reads;
}

/* ---- reading ---- */

static bool keep_values(struct window_memory *memory, const struct measurement *of,
			struct kept_window *kept)
{
	if (!array_reserve(&kept->values, of->series.count + 1))
		return false;
	array_foreach(&of->series, series)
		array_foreach(&series->values, value)
			*(struct kept_value *)array_add(&kept->values) =
				(struct kept_value){series->key, value->value, value->count};
	memory->value_count += kept->values.count;
	return true;
}

static int read_window(struct window_memory *memory, struct store *store,
		       const struct store_window *window, struct kept_window *ret_kept)
{
	struct measurement of;
	struct profile *profile;
	int err = store_read(store, window, &memory->choice, &profile);

	*ret_kept = (struct kept_window){.window = *window};
	if (err < 0)
		return err;
	memory->reads++;
	measurement_init(&of, &memory->names);
	of.levels_mask = memory->levels_mask;
	err = measure_profile(&of, profile, 0);
	profile_free(profile);
	if (err == 0) {
		ret_kept->slice = of.slices.items[0];
		ret_kept->kinds_mask = of.kinds_mask;
		ret_kept->sampled_mask = of.sampled_mask;
		ret_kept->lost = of.lost;
		if (!keep_values(memory, &of, ret_kept))
			err = -ENOMEM;
	}
	measurement_done(&of);
	return err;
}

static int add_to_side(const struct kept_window *kept, struct measurement *side)
{
	bool added = measurement_begin_slice(side, &kept->slice);

	side->kinds_mask |= kept->kinds_mask;
	side->sampled_mask |= kept->sampled_mask;
	side->lost += kept->lost;
	for (size_t i = 0; added && i < kept->values.count; i++) {
		const struct kept_value *value = &kept->values.items[i];

		added = measurement_put(side, &value->key, (uint32_t)side->slices.count - 1,
					value->value, value->count);
	}
	return added ? 0 : -ENOMEM;
}

static struct kept_window *find(struct window_memory *memory, const struct store_window *window)
{
	array_foreach(&memory->windows, kept)
		if (kept->window.level == window->level &&
		    kept->window.sequence == window->sequence &&
		    kept->window.offset == window->offset &&
		    kept->window.begin_unix_ns == window->begin_unix_ns)
			return kept;
	return NULL;
}

int window_memory_add(struct window_memory *memory, struct store *store,
		      const struct store_window *window, struct measurement *side)
{
	struct kept_window *known = find(memory, window), *kept, fresh;
	int err;

	if (known) {
		known->is_used = true;
		return add_to_side(known, side);
	}
	err = read_window(memory, store, window, &fresh);
	err = err < 0 ? err : add_to_side(&fresh, side);
	kept = err < 0 || memory->value_count > WINDOW_MEMORY_VALUES_MAX
		       ? NULL
		       : array_add(&memory->windows);
	if (kept) {
		fresh.is_used = true;
		*kept = fresh;
		return 0;
	}
	memory->value_count -= fresh.values.count;
	array_free(&fresh.values);
	return err;
}

/* ---- forgetting ---- */

int window_memory_forget(struct window_memory *memory)
{
	size_t count = 0;

	array_foreach(&memory->windows, kept) {
		if (!kept->is_used) {
			memory->value_count -= kept->values.count;
			array_free(&kept->values);
			continue;
		}
		kept->is_used = false;
		memory->windows.items[count++] = *kept;
	}
	memory->windows.count = count;
	if (memory->names.texts &&
	    string_pool_count(memory->names.texts) <= WINDOW_MEMORY_NAMES_MAX)
		return 0;
	forget_all(memory);
	diff_names_done(&memory->names);
	if (diff_names_init(&memory->names))
		return 0;
	diff_names_done(&memory->names);
	return -ENOMEM;
}
