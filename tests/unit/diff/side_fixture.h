/* SPDX-License-Identifier: BSD-2-Clause */
/* Two sides on paper: what each slice holds is said value by value. */
#ifndef PKBPF_TEST_SIDE_FIXTURE_H
#define PKBPF_TEST_SIDE_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/clock.h"
#include "diff/comparison.h"

#define MS 1e6

struct sides {
	struct diff_names names;
	struct measurement items[DIFF_SIDES];
	struct comparison comparison;
	bool is_compared;
};

static inline void sides_init(struct sides *sides, uint32_t kinds_mask)
{
	*sides = (struct sides){0};
	assert_true(diff_names_init(&sides->names));
	for (int i = 0; i < DIFF_SIDES; i++) {
		measurement_init(&sides->items[i], &sides->names);
		sides->items[i].kinds_mask = kinds_mask;
	}
}

static inline void sides_done(struct sides *sides)
{
	if (sides->is_compared)
		comparison_done(&sides->comparison);
	for (int i = 0; i < DIFF_SIDES; i++)
		measurement_done(&sides->items[i]);
	diff_names_done(&sides->names);
}

static inline void sides_slice(struct sides *sides, enum diff_side side, uint64_t length_ns,
			       uint32_t run)
{
	struct diff_slice slice = {.length_ns = length_ns, .run = run};

	assert_true(measurement_begin_slice(&sides->items[side], &slice));
}

/* To the last slice. */
static inline void sides_add(struct sides *sides, enum diff_side side, struct diff_key key,
			     double value, double count)
{
	assert_true(measurement_add(&sides->items[side], &key, value, count));
}

static inline struct diff_key sides_key(struct sides *sides, uint32_t kind, enum diff_level level,
					const char *name)
{
	return (struct diff_key){kind, level, string_pool_add(sides->names.texts, name)};
}

static inline int sides_compare(struct sides *sides, struct diff_work work)
{
	struct error error;
	int err;

	for (int i = 0; i < DIFF_SIDES; i++)
		measurement_finish(&sides->items[i]);
	err = comparison_init(&sides->comparison, &sides->items[DIFF_BASE], &sides->items[DIFF_NEW],
			      &work, &error);
	sides->is_compared = err == 0;
	return err;
}

static inline const struct diff_row *sides_row(struct sides *sides, uint32_t kind,
					       enum diff_level level, const char *name)
{
	struct diff_key key = sides_key(sides, kind, level, name);
	const struct diff_row *row = comparison_find(&sides->comparison, &key);

	assert_non_null(row);
	return row;
}

#endif
