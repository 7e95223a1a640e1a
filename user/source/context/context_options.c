// SPDX-License-Identifier: BSD-2-Clause
/* The options of the source of thread contexts. */
#include "source/context/context_options.h"

#include <errno.h>
#include <string.h>

#include "base/parse_value.h"
#include "source/source_options.h"

static int add_key(const char **keys, size_t *count, const char *key, const char *option,
		   struct error *error)
{
	if (!*key)
		return error_set(error, EINVAL, "invalid value '' for --%s: expected a key",
				 option);
	if (*count == PKBPF_CONTEXT_LABELS)
		return error_set(error, EINVAL, "more than %d times --%s", PKBPF_CONTEXT_LABELS,
				 option);
	keys[(*count)++] = key;
	return 0;
}

static int parse_label(void *options, const char *value, struct error *error)
{
	struct context_options *context = &((struct source_options *)options)->context;

	return add_key(context->keys, &context->key_count, value, "label", error);
}

static int parse_hash_label(void *options, const char *value, struct error *error)
{
	struct context_options *context = &((struct source_options *)options)->context;

	return add_key(context->hashed, &context->hashed_count, value, "hash-label", error);
}

static int parse_slow_request(void *options, const char *value, struct error *error)
{
	struct context_options *context = &((struct source_options *)options)->context;

	return parse_duration_ns(value, "--slow-request", &context->slow_ns, error);
}

void context_options_init(struct source_options *options)
{
	options->context = (struct context_options){.slow_ns = UINT64_MAX};
}

bool context_options_want(const struct context_options *options)
{
	return options->by_key || options->key_count || options->hashed_count ||
	       options->slow_ns != UINT64_MAX;
}

/* Its place; -ERANGE. */
static int add_label(struct context_labels *labels, const char *key)
{
	for (size_t i = 0; i < labels->count; i++)
		if (strcmp(labels->keys[i], key) == 0)
			return (int)i;
	if (labels->count == PKBPF_CONTEXT_LABELS)
		return -ERANGE;
	labels->keys[labels->count] = key;
	return (int)labels->count++;
}

int context_labels_choose(const struct context_options *options, struct context_labels *ret_labels,
			  struct error *error)
{
	int place = 0;

	*ret_labels = (struct context_labels){0};
	if (options->by_key)
		add_label(ret_labels, options->by_key);
	for (size_t i = 0; i < options->key_count && place >= 0; i++)
		place = add_label(ret_labels, options->keys[i]);
	for (size_t i = 0; i < options->hashed_count && place >= 0; i++) {
		place = add_label(ret_labels, options->hashed[i]);
		if (place >= 0)
			ret_labels->hashed |= 1U << place;
	}
	return place < 0
		       ? error_set(error, ERANGE,
				   "more than %d labels: --by label:KEY, --label and --hash-label "
				   "together can name as many",
				   PKBPF_CONTEXT_LABELS)
		       : 0;
}

const struct option_row context_option_rows[] = {
	{0, "label", "KEY",
	 "read this label of thread contexts (OpenTelemetry), such as http.route; repeatable",
	 .group = OPTION_GROUP_EVENTS, .repeatable = true, .form = OPTION_PARSED,
	 .parse = parse_label,
	 .text = "Requests by label are listed as regions are, with the events of offcpu. No other "
		 "label leaves its program. Values are truncated to 63 bytes; a process has 256 "
		 "sets of values, all processes together 4,096, and the rest counts as "
		 "\"[other]\"."},
	{0, "hash-label", "KEY",
	 "as --label; eight digits of a keyed hash stand for each value; repeatable",
	 .group = OPTION_GROUP_EVENTS, .repeatable = true, .form = OPTION_PARSED,
	 .parse = parse_hash_label,
	 .text = "Values can be distinguished within one recording; the key of the hash is random "
		 "and is not kept."},
	{0, "slow-request", "TIME",
	 "list the slowest requests by thread contexts (OpenTelemetry) one by one, if they take at "
	 "least TIME",
	 .group = OPTION_GROUP_EVENTS, .form = OPTION_PARSED, .parse = parse_slow_request,
	 .text = "Each with the ids of its trace and span, its time on the CPU, in the run queue, "
		 "asleep and in disk waits, which add up to its wall time, and the stacks of its "
		 "longest waits; --top limits their number. A request lasts from the first look at "
		 "which its thread's context has the id of a trace to the first at which it has "
		 "not. Threads are looked at when they leave a CPU, and at CPU samples. Requires "
		 "the events of offcpu."},
	{.name = NULL},
};
