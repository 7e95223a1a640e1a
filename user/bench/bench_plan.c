// SPDX-License-Identifier: BSD-2-Clause
#include "bench/bench_plan.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/bench_column.h"
#include "bench/bench_series.h"
#include "bench/command_words.h"

#define NAME_MAX_LENGTH 63
#define NAME_CHARACTERS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-."
#define VALUE_LENGTH	1024

/* A value of each parameter. */
struct choice {
	char names[BENCH_PARAMETERS_MAX][NAME_MAX_LENGTH + 1];
	char values[BENCH_PARAMETERS_MAX][VALUE_LENGTH + 1];
	size_t count;
};

/* ---- parameters ---- */

int bench_matrix_check(const char *text, struct error *error)
{
	size_t length = strcspn(text, "=");

	if (!length || length > NAME_MAX_LENGTH || !text[length] || !text[length + 1] ||
	    strspn(text, NAME_CHARACTERS) != length)
		return error_set(error, EINVAL,
				 "invalid value '%s' for --matrix: expected NAME=VALUE,VALUE,..., "
				 "with {NAME} in the command",
				 text);
	return 0;
}

static size_t count_values(const char *text)
{
	size_t count = 1;

	for (; *text; text++)
		count += *text == ',';
	return count;
}

static bool take_value(const char *text, size_t index, char *ret_value)
{
	size_t length;

	for (; index; index--)
		text = strchr(text, ',') + 1;
	length = strcspn(text, ",");
	if (length > VALUE_LENGTH)
		return false;
	memcpy(ret_value, text, length);
	ret_value[length] = '\0';
	return true;
}

/* The last parameter changes first. */
static bool choose(const struct bench_matrix *matrix, size_t number, struct choice *ret_choice)
{
	ret_choice->count = matrix->count;
	for (size_t i = matrix->count; i-- > 0;) {
		const char *values = strchr(matrix->items[i], '=') + 1;
		size_t count = count_values(values);

		snprintf(ret_choice->names[i], sizeof(ret_choice->names[i]), "%.*s",
			 (int)(values - 1 - matrix->items[i]), matrix->items[i]);
		if (!take_value(values, number % count, ret_choice->values[i]))
			return false;
		number /= count;
	}
	return true;
}

/* text with all parameters; NULL: out of memory. */
static char *fill_in(const char *text, const struct choice *choice)
{
	struct word_parameter parameters[BENCH_PARAMETERS_MAX];

	for (size_t i = 0; i < choice->count; i++)
		parameters[i] = (struct word_parameter){choice->names[i], choice->values[i]};
	return command_words_fill(text, parameters, choice->count);
}

/* ---- commands ---- */

struct planning {
	const struct bench_request *request;
	struct bench *bench;
	struct bench_plan *plan;
	struct error *error;
};

static int no_memory(struct planning *planning)
{
	return error_set(planning->error, ENOMEM, "cannot plan the runs: out of memory");
}

/* Takes words over. */
static int add_command(struct planning *planning, char **words)
{
	char ***slot = words ? array_add(&planning->plan->commands) : NULL;

	if (!slot) {
		command_words_free(words);
		return no_memory(planning);
	}
	*slot = words;
	return 0;
}

static int add_variant(struct planning *planning, char **words, const char *label,
		       const struct choice *choice)
{
	struct bench_variant *variant;
	int err = add_command(planning, words);

	if (err < 0)
		return err;
	if (planning->bench->variants.count == BENCH_VARIANTS_MAX)
		return error_set(planning->error, EINVAL, "more than %d commands to compare",
				 BENCH_VARIANTS_MAX);
	variant = bench_add_variant(planning->bench, label);
	for (size_t i = 0; variant && i < choice->count; i++)
		if (!bench_add_parameter(variant, choice->names[i], choice->values[i]))
			return no_memory(planning);
	return variant ? 0 : no_memory(planning);
}

static int add_text(struct planning *planning, const char *text, const struct choice *choice)
{
	char *filled = fill_in(text, choice), **words;
	bool by_shell;
	int err;

	if (!filled)
		return no_memory(planning);
	words = command_words_split(filled, &by_shell, planning->error);
	planning->plan->uses_shell |= by_shell;
	err = words ? add_variant(planning, words, filled, choice) : -EINVAL;
	free(filled);
	return err;
}

static int add_words(struct planning *planning, const struct choice *choice)
{
	char **words = command_words_copy(planning->request->words), *label;
	int err;

	for (size_t i = 0; words && words[i]; i++) {
		char *filled = fill_in(words[i], choice);

		if (!filled) {
			command_words_free(words);
			return no_memory(planning);
		}
		free(words[i]);
		words[i] = filled;
	}
	label = words ? command_words_join(words) : NULL;
	if (!label) {
		command_words_free(words);
		return no_memory(planning);
	}
	err = add_variant(planning, words, label, choice);
	free(label);
	return err;
}

static int add_variants(struct planning *planning, const struct choice *choice)
{
	const struct bench_request *request = planning->request;
	int err = 0;

	if (request->words)
		return add_words(planning, choice);
	for (size_t i = 0; i < request->text_count && err == 0; i++)
		err = add_text(planning, request->texts[i], choice);
	return err;
}

/* One for each variant. */
static int add_beside(struct planning *planning, const char *text, uint32_t *ret_first)
{
	int err = 0;

	*ret_first = BENCH_NO_COMMAND;
	if (!text)
		return 0;
	*ret_first = (uint32_t)planning->plan->commands.count;
	array_foreach(&planning->bench->variants, variant) {
		struct choice choice = {0};
		char *filled;

		array_foreach(&variant->parameters, parameter) {
			snprintf(choice.names[choice.count], sizeof(choice.names[0]), "%s",
				 parameter->name);
			snprintf(choice.values[choice.count++], sizeof(choice.values[0]), "%s",
				 parameter->value);
		}
		filled = fill_in(text, &choice);
		if (!filled)
			return no_memory(planning);
		err = add_command(planning, command_words_shell(filled));
		free(filled);
		if (err < 0)
			return err;
	}
	return 0;
}

static int add_columns(struct planning *planning)
{
	const struct bench_request *request = planning->request;
	struct bench_plan *plan = planning->plan;
	uint32_t first;
	int err = 0;

	plan->columns = request->column_count ? (uint32_t)plan->commands.count : BENCH_NO_COMMAND;
	for (size_t i = 0; i < request->column_count && err == 0; i++) {
		struct bench_column_spec spec;

		err = bench_column_parse(request->columns[i], &spec, planning->error);
		for (size_t j = 0; j < i && err == 0; j++)
			if (strcmp(planning->bench->columns.items[j].name, spec.name) == 0)
				err = error_set(planning->error, EINVAL, "two times --column %s",
						spec.name);
		if (err == 0 && !bench_add_column(planning->bench, spec.name, spec.better))
			err = no_memory(planning);
		if (err == 0)
			err = add_beside(planning, spec.command, &first);
	}
	return err;
}

static int check_places(const struct planning *planning)
{
	const struct bench_request *request = planning->request;

	for (size_t i = 0; i < request->matrix.count; i++) {
		const char *item = request->matrix.items[i];
		char name[NAME_MAX_LENGTH + 1];
		bool has = false;

		snprintf(name, sizeof(name), "%.*s", (int)strcspn(item, "="), item);
		for (size_t j = 0; j < request->text_count; j++)
			has |= command_words_has(request->texts[j], name);
		for (size_t j = 0; request->words && request->words[j]; j++)
			has |= command_words_has(request->words[j], name);
		if (!has)
			return error_set(planning->error, EINVAL,
					 "--matrix %s: no command has {%s}", item, name);
	}
	return 0;
}

int bench_plan_make(const struct bench_request *request, struct bench *bench,
		    struct bench_plan *ret_plan, struct error *error)
{
	struct planning planning = {request, bench, ret_plan, error};
	size_t combinations = 1;
	int err = check_places(&planning);

	*ret_plan = (struct bench_plan){0};
	for (size_t i = 0; i < request->matrix.count && combinations <= BENCH_VARIANTS_MAX; i++)
		combinations *= count_values(request->matrix.items[i]);
	for (size_t i = 0; i < combinations && err == 0; i++) {
		struct choice choice;

		if (!choose(&request->matrix, i, &choice))
			err = error_set(error, EINVAL,
					"a value of --matrix is longer than %d bytes",
					VALUE_LENGTH);
		else
			err = add_variants(&planning, &choice);
	}
	if (err == 0)
		err = add_beside(&planning, request->setup, &ret_plan->setup);
	if (err == 0)
		err = add_beside(&planning, request->prepare, &ret_plan->prepare);
	if (err == 0)
		err = add_beside(&planning, request->conclude, &ret_plan->conclude);
	if (err == 0)
		err = add_columns(&planning);
	return err;
}

void bench_plan_done(struct bench_plan *plan)
{
	array_foreach(&plan->commands, words)
		command_words_free(*words);
	array_free(&plan->commands);
}
