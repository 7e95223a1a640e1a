// SPDX-License-Identifier: BSD-2-Clause
#include "bench/bench_read.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "base/cleanup.h"
#include "base/file_io.h"
#include "base/text_append.h"
#include "bench/bench_column.h"

#define SCHEMA_VERSION 1
#define TEXT_MAX       65536
#define FILE_SIZE_MAX  (64U << 20)
#define VALUE_MAX      1e18 /* of a figure: 30 years, or an exabyte */

static int damaged(struct error *error, const char *what)
{
	return error_set(error, EBADMSG, "is no benchmark: %s is missing or wrong", what);
}

static int no_memory(struct error *error)
{
	return error_set(error, ENOMEM, "cannot be read: out of memory");
}

/* A text of bounded length; NULL: none. */
static const char *text_of(const json_t *value, const char *key)
{
	const char *text = json_string_value(json_object_get(value, key));

	return text && strlen(text) <= TEXT_MAX ? text : NULL;
}

static bool whole_of(const json_t *value, const char *key, double most, double *ret_number)
{
	const json_t *number = json_object_get(value, key);

	*ret_number = json_number_value(number);
	return json_is_number(number) && *ret_number >= 0 && *ret_number <= most;
}

static int read_environment(struct environment *environment, const json_t *value,
			    struct error *error)
{
	const json_t *items = json_object_get(value, "items");

	for (size_t i = 0; i < json_array_size(items); i++) {
		const json_t *item = json_array_get(items, i);
		const char *name = text_of(item, "name"), *text = text_of(item, "value");

		if (!name || !text)
			return damaged(error, "an item of environment");
		if (!environment_add(environment, name, text,
				     json_is_true(json_object_get(item, "is_identity"))))
			return no_memory(error);
	}
	return 0;
}

static int read_variants(struct bench *bench, const json_t *values, struct error *error)
{
	for (size_t i = 0; i < json_array_size(values); i++) {
		const json_t *value = json_array_get(values, i);
		const char *label = text_of(value, "command");

		if (!label || bench->variants.count == BENCH_VARIANTS_MAX)
			return damaged(error, "a command");
		if (!bench_add_variant(bench, label))
			return no_memory(error);
	}
	return bench->variants.count ? 0 : damaged(error, "variants");
}

static int read_columns(struct bench *bench, const json_t *values, struct error *error)
{
	for (size_t i = 0; i < json_array_size(values); i++) {
		const char *name = text_of(json_array_get(values, i), "name");

		if (!name || !bench_column_is_name(name) || i == BENCH_COLUMNS_MAX)
			return damaged(error, "a column");
		if (!bench_add_column(bench, name, BENCH_BETTER_UNKNOWN))
			return no_memory(error);
	}
	return 0;
}

/* They may be below zero. */
static void read_column_values(const struct bench *bench, struct bench_run *run,
			       const json_t *value)
{
	for (size_t i = 0; i < bench->columns.count; i++) {
		const json_t *number = json_object_get(value, bench->columns.items[i].name);

		if (json_is_number(number) && fabs(json_number_value(number)) <= VALUE_MAX)
			bench_run_set(run, (enum bench_figure)(BENCH_COLUMN + i),
				      json_number_value(number));
	}
}

static void read_figures(struct bench_run *run, const json_t *value)
{
	for (int figure = 0; figure < BENCH_COLUMN; figure++) {
		char key[64];
		double number;

		snprintf(key, sizeof(key), "%s%s", bench_figures[figure].name,
			 bench_unit_suffix(bench_figures[figure].unit));
		if (whole_of(value, key, VALUE_MAX, &number))
			bench_run_set(run, (enum bench_figure)figure, number);
	}
}

static int read_runs(struct bench *bench, const json_t *values, struct error *error)
{
	for (size_t i = 0; i < json_array_size(values); i++) {
		const json_t *value = json_array_get(values, i);
		double variant, number, status = 0;
		struct bench_run *run;

		if (!whole_of(value, "variant", (double)bench->variants.count - 1, &variant) ||
		    !whole_of(value, "number", BENCH_RUNS_MAX, &number) ||
		    !whole_of(value, "status", 255, &status) ||
		    bench->runs.count >= (size_t)BENCH_RUNS_MAX * 2 * bench->variants.count)
			return damaged(error, "a run");
		run = array_add(&bench->runs);
		if (!run)
			return no_memory(error);
		run->variant = (uint32_t)variant;
		run->number = (uint32_t)number;
		run->status = (int)status;
		run->is_warmup = json_is_true(json_object_get(value, "is_warmup"));
		run->has_failed = json_is_true(json_object_get(value, "has_failed"));
		run->timed_out = json_is_true(json_object_get(value, "timed_out"));
		read_figures(run, json_object_get(value, "figures"));
		read_column_values(bench, run, json_object_get(value, "figures"));
		if (!bench_run_knows(run, BENCH_WALL))
			return damaged(error, "wall_ns of a run");
	}
	return 0;
}

/* A text where it is more than JSON readers take for a number. */
static uint64_t seed_of(const json_t *value)
{
	return json_is_string(value) ? strtoull(json_string_value(value), NULL, 10)
				     : (uint64_t)json_integer_value(value);
}

static int read_tree(struct bench *bench, const json_t *root, struct error *error)
{
	const char *kind = json_string_value(json_object_get(root, "kind"));
	int err;

	if (!kind || strcmp(kind, "bench") != 0)
		return damaged(error, "\"kind\": \"bench\"");
	if (json_integer_value(json_object_get(root, "schema_version")) != SCHEMA_VERSION)
		return error_set(error, EBADMSG,
				 "has a schema_version that this pkbpf cannot read");
	bench->seed = seed_of(json_object_get(root, "seed"));
	bench->has_account = json_is_true(json_object_get(root, "has_account"));
	bench->interrupted = json_is_true(json_object_get(root, "interrupted"));
	if (text_of(root, "unit_region")) {
		bench->unit = strdup(text_of(root, "unit_region"));
		if (!bench->unit)
			return no_memory(error);
	}
	err = read_environment(&bench->environment, json_object_get(root, "environment"), error);
	if (err == 0)
		err = read_variants(bench, json_object_get(root, "variants"), error);
	if (err == 0)
		err = read_columns(bench, json_object_get(root, "columns"), error);
	return err < 0 ? err : read_runs(bench, json_object_get(root, "runs"), error);
}

int bench_read_text(struct bench *bench, const char *text, size_t size, struct error *error)
{
	json_error_t reason;
	json_t *root = json_loadb(text, size, 0, &reason);
	int err;

	if (!root)
		return error_set(error, EBADMSG, "is no JSON: %s in line %d", reason.text,
				 reason.line);
	err = read_tree(bench, root, error);
	json_decref(root);
	return err;
}

int bench_read(struct bench *bench, const char *path, struct error *error)
{
	_cleanup_free_ char *text = NULL;
	struct error reason;
	size_t size;
	int err = file_read_all(AT_FDCWD, path, FILE_SIZE_MAX, &text, &size);

	if (err < 0)
		return error_set(error, -err, "cannot read %s: %s", path, strerror(-err));
	err = bench_read_text(bench, text, size, &reason);
	return err < 0 ? error_set(error, -err, "%s %s", path, reason.text) : 0;
}

void bench_differences(const struct bench *base, const struct bench *new, char *ret_text,
		       size_t size, bool *ret_other_machine)
{
	ret_text[0] = '\0';
	*ret_other_machine = false;
	array_foreach(&base->environment.items, item) {
		const char *now = environment_find(&new->environment, item->name);

		if (!now || strcmp(now, item->value) == 0)
			continue;
		*ret_other_machine |= item->is_identity;
		text_append(ret_text, size, "%s%s: %s, now %s", ret_text[0] ? "; " : "", item->name,
			    item->value, now);
	}
}
