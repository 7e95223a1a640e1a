// SPDX-License-Identifier: BSD-2-Clause
/* The profile kinds that pkbpf can capture, and the set of sources of one record. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/clock.h"
#include "source/source.h"
#include "source/source_options.h"
#include "source/source_table.h"
#include "source/stack_maps.h"

static const struct source_ops *const sources[] = {
#define X(constant, number, name) [number] = &source_##name,
	PKBPF_PROFILE_KIND_LIST(X)
#undef X
		/* Sources of no kind: behind those that source_at() gives. */
		[PKBPF_PROFILE_KINDS] = &source_regions,
	&source_gpu_calls,
	&source_contexts,
};

struct source_set {
	struct source *running[ARRAY_SIZE(sources)]; /* NULL: not requested */
	struct stack_maps *stacks;
};

const struct source_ops *source_by_name(const char *name)
{
	for (size_t i = 0; i < PKBPF_PROFILE_KINDS; i++) {
		if (strcmp(sources[i]->name, name) == 0)
			return sources[i];
	}
	return NULL;
}

const struct source_ops *source_at(size_t index)
{
	return index < PKBPF_PROFILE_KINDS ? sources[index] : NULL;
}

const struct option_row *source_option_rows_at(size_t index)
{
	for (size_t i = 0; i < ARRAY_SIZE(sources); i++) {
		if (sources[i]->options && index-- == 0)
			return sources[i]->options;
	}
	return NULL;
}

uint32_t source_kinds(const struct source_ops *source)
{
	return 1U << source->kind | source->included_kinds;
}

bool sources_can_wait(uint32_t kinds_mask)
{
	for (size_t i = 0; i < PKBPF_PROFILE_KINDS; i++) {
		if (kinds_mask & 1U << sources[i]->kind && !sources[i]->can_wait)
			return false;
	}
	return true;
}

void source_options_init(struct source_options *options)
{
	*options = (struct source_options){0};
	for (size_t i = 0; i < ARRAY_SIZE(sources); i++) {
		if (sources[i]->options_init)
			sources[i]->options_init(options);
	}
}

static bool is_wanted(const struct session *session, const struct source_options *options,
		      const struct source_ops *source)
{
	if (source->is_wanted)
		return source->is_wanted(options);
	return session_options(session)->kinds_mask & 1U << source->kind;
}

/* The largest size that any source needs. */
static uint32_t cached_stacks(const struct session *session, const struct source_options *options)
{
	uint32_t most = 0;

	for (size_t i = 0; i < ARRAY_SIZE(sources); i++) {
		uint32_t wanted =
			is_wanted(session, options, sources[i]) && sources[i]->cached_stacks
				? sources[i]->cached_stacks()
				: 0;

		most = wanted > most ? wanted : most;
	}
	return most;
}

int source_set_configure(struct session *session, const struct source_options *options,
			 struct source_set **ret_set, struct error *error)
{
	struct source_set *set = calloc(1, sizeof(*set));
	int err;

	if (!set)
		return error_set(error, ENOMEM, "cannot prepare the event sources: out of memory");
	err = stack_maps_configure(session, cached_stacks(session, options), &set->stacks, error);
	for (size_t i = 0; i < ARRAY_SIZE(sources) && !err; i++) {
		bool wanted = is_wanted(session, options, sources[i]);

		sources[i]->choose(session_skeleton(session), wanted);
		if (wanted)
			err = sources[i]->configure(session, options, &set->running[i], error);
	}
	if (err) {
		source_set_free(set);
		return err;
	}
	*ret_set = set;
	return 0;
}

int source_set_attach(struct source_set *set, struct error *error)
{
	int err = 0;

	for (size_t i = 0; i < ARRAY_SIZE(sources) && !err; i++)
		err = set->running[i] ? sources[i]->attach(set->running[i], error) : 0;
	return err;
}

void source_set_begin(struct source_set *set, uint64_t start_ns)
{
	for (size_t i = 0; i < ARRAY_SIZE(sources); i++) {
		if (set->running[i] && sources[i]->begin)
			sources[i]->begin(set->running[i], start_ns);
	}
}

void source_set_end(struct source_set *set, uint64_t end_ns)
{
	for (size_t i = 0; i < ARRAY_SIZE(sources); i++) {
		if (set->running[i] && sources[i]->end)
			sources[i]->end(set->running[i], end_ns);
	}
}

int source_set_cut(struct source_set *set)
{
	int err = 0;

	/* In reverse order: off-CPU comes close to the cut of the account that it is held against.
	 */
	for (size_t i = ARRAY_SIZE(sources); i-- > 0;) {
		int result = set->running[i] && sources[i]->cut
				     ? sources[i]->cut(set->running[i], clock_now_ns())
				     : 0;

		err = err ? err : result;
	}
	return err;
}

int source_set_look(struct source_set *set, enum source_edge edge, struct error *error)
{
	int err = 0;

	/* In reverse order: off-CPU takes longest, and a delay does it no harm. */
	for (size_t i = ARRAY_SIZE(sources); i-- > 0;) {
		struct error other;

		if (set->running[i] && sources[i]->look) {
			int result = sources[i]->look(set->running[i], edge, err ? &other : error);

			err = err ? err : result;
		}
	}
	return err;
}

int source_set_poll(struct source_set *set)
{
	for (size_t i = 0; i < ARRAY_SIZE(sources); i++) {
		int err =
			set->running[i] && sources[i]->poll ? sources[i]->poll(set->running[i]) : 0;

		if (err)
			return err;
	}
	return 0;
}

int source_set_rest_ms(const struct source_set *set, int most_ms)
{
	for (size_t i = 0; i < ARRAY_SIZE(sources); i++) {
		int rest_ms = set->running[i] && sources[i]->rest_ms
				      ? sources[i]->rest_ms(set->running[i])
				      : most_ms;

		most_ms = rest_ms < most_ms ? rest_ms : most_ms;
	}
	return most_ms;
}

void source_set_each_stack(const struct source_set *set, source_stack_fn *take, void *context)
{
	stack_maps_each_stack(set->stacks, take, context);
	for (size_t i = 0; i < ARRAY_SIZE(sources); i++) {
		if (set->running[i] && sources[i]->each_stack)
			sources[i]->each_stack(set->running[i], take, context);
	}
}

void source_set_detach(struct source_set *set)
{
	for (size_t i = 0; i < ARRAY_SIZE(sources); i++) {
		if (set->running[i])
			sources[i]->detach(set->running[i]);
	}
	stack_maps_log_hits(set->stacks);
}

void source_set_settle(struct source_set *set)
{
	for (size_t i = 0; i < ARRAY_SIZE(sources); i++) {
		if (set->running[i] && sources[i]->settle)
			sources[i]->settle(set->running[i]);
	}
}

void source_set_free(struct source_set *set)
{
	if (!set)
		return;
	for (size_t i = 0; i < ARRAY_SIZE(sources); i++) {
		if (set->running[i])
			sources[i]->free(set->running[i]);
	}
	stack_maps_free(set->stacks);
	free(set);
}

const char *source_set_event_name(const struct source_set *set, enum pkbpf_profile_kind kind)
{
	for (size_t i = 0; i < PKBPF_PROFILE_KINDS; i++) {
		if (sources[i]->kind == kind && set->running[i] && sources[i]->event_name)
			return sources[i]->event_name(set->running[i]);
	}
	return NULL;
}
