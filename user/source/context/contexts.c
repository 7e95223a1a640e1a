// SPDX-License-Identifier: BSD-2-Clause
/* The source of thread contexts: finds programs that publish them, and drains sums of requests. */
#include <bpf/bpf.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include <pkbpf/span.h>

#include "base/array.h"
#include "base/clock.h"
#include "capture/session/session.h"
#include "source/context/context_finder.h"
#include "source/context/context_sets.h"
#include "source/mapped_table.h"
#include "source/source.h"
#include "source/source_options.h"
#include "source/source_table.h"

#include "pkbpf.skel.h"

#define LOOK_INTERVAL_MS  100
#define DRAIN_INTERVAL_NS NS_PER_SECOND

struct source {
	struct session *session;
	struct context_labels labels;
	struct context_finder *finder;
	struct mapped_table set_table, thread_table;
	struct context_sets sets;
	struct event_buffer buffer;
	uint64_t last_look_ns, last_drain_ns;
	bool measures, by_label, is_attached;
};

static void contexts_free(struct source *source)
{
	context_finder_free(source->finder);
	mapped_table_close(&source->set_table);
	mapped_table_close(&source->thread_table);
	event_buffer_done(&source->buffer);
	free(source->sets.sent);
	free(source);
}

static bool contexts_are_wanted(const struct source_options *options)
{
	return context_options_want(&options->context);
}

static void contexts_choose(struct pkbpf_bpf *skeleton, bool wanted)
{
	struct bpf_map *const maps[] = {
		skeleton->maps.context_processes, skeleton->maps.context_sets,
		skeleton->maps.context_set_index, skeleton->maps.context_threads,
		skeleton->maps.context_readings,  skeleton->maps.context_free_sets,
	};

	for (size_t i = 0; i < ARRAY_SIZE(maps); i++)
		bpf_map__set_autocreate(maps[i], wanted);
}

static int configure_maps(struct source *source, struct pkbpf_bpf *skeleton)
{
	uint32_t threads = source->measures ? skeleton->rodata->offcpu_config.thread_mask + 1 : 1;
	int err = mapped_table_configure(&source->set_table, skeleton->maps.context_sets,
					 PKBPF_CONTEXT_SETS);

	return err ? err
		   : mapped_table_configure(&source->thread_table, skeleton->maps.context_threads,
					    threads);
}

static int configure_programs(const struct source *source, struct pkbpf_bpf *skeleton,
			      const struct context_options *options)
{
	struct pkbpf_context_config *config =
		(struct pkbpf_context_config *)&skeleton->rodata->context_config;

	config->by_label = source->by_label;
	config->requests = source->measures;
	config->hashed = (__u8)source->labels.hashed;
	config->slow_ns = options->slow_ns;
	return getrandom(config->secret, sizeof(config->secret), 0) == sizeof(config->secret)
		       ? 0
		       : -EIO;
}

static int drain(struct source *source)
{
	int err = context_sets_drain(&source->sets, clock_now_ns(), &source->buffer);

	session_add_records(source->session, &source->buffer);
	return err;
}

/* Gives the numbers of its sets back: others may use them. Ids of stacks, which refer to them,
 * differ by process. */
static void take_ended(void *context, uint32_t pid)
{
	struct source *source = context;
	struct pkbpf_bpf *skeleton = session_skeleton(source->session);
	struct pkbpf_context_set_key key;

	if (drain(source))
		return;
	for (uint32_t i = 0; (i = context_sets_release(&source->sets, pid, i, &key,
						       &source->buffer)) < source->sets.count;
	     i++) {
		bpf_map_delete_elem(bpf_map__fd(skeleton->maps.context_set_index), &key);
		bpf_map_update_elem(bpf_map__fd(skeleton->maps.context_free_sets), NULL, &i,
				    BPF_ANY);
	}
	session_add_records(source->session, &source->buffer);
}

static int contexts_configure(struct session *session, const struct source_options *options,
			      struct source **ret_source, struct error *error)
{
	struct pkbpf_bpf *skeleton = session_skeleton(session);
	struct source *source = calloc(1, sizeof(*source));
	int err;

	if (!source)
		return error_set(error, ENOMEM, "cannot prepare thread contexts: out of memory");
	source->session = session;
	source->by_label = options->context.by_key != NULL;
	source->measures = session_options(session)->kinds_mask & 1U << PKBPF_PROFILE_OFFCPU;
	err = context_labels_choose(&options->context, &source->labels, error);
	if (err) {
		contexts_free(source);
		return err;
	}
	source->finder = context_finder_new(session, &source->labels, take_ended, source);
	err = source->finder ? configure_maps(source, skeleton) : -ENOMEM;
	err = err ? err : configure_programs(source, skeleton, &options->context);
	if (err) {
		contexts_free(source);
		return error_set(error, -err, "cannot prepare the BPF maps of thread contexts: %s",
				 strerror(-err));
	}
	*ret_source = source;
	return 0;
}

/* The set of all that found no room has a name before it is used. */
static int name_other(struct source *source)
{
	struct pkbpf_event_region_name *name;

	if (!source->by_label)
		return 0;
	name = event_buffer_add(&source->buffer, sizeof(*name), PKBPF_EVENT_REGION_NAME, 0,
				clock_now_ns());
	if (!name)
		return -ENOMEM;
	name->number = 0;
	name->parent = PKBPF_NO_ROW;
	memset(name->name, 0, sizeof(name->name));
	memcpy(name->name, PKBPF_CONTEXT_OTHER, sizeof(PKBPF_CONTEXT_OTHER));
	session_add_records(source->session, &source->buffer);
	return 0;
}

static void look(struct source *source, bool is_first)
{
	struct pkbpf_bpf *skeleton = session_skeleton(source->session);

	source->last_look_ns = clock_now_ns();
	context_finder_look(source->finder, bpf_map__fd(skeleton->maps.context_processes),
			    is_first);
}

static int contexts_attach(struct source *source, struct error *error)
{
	int err = mapped_table_open(&source->set_table, error);

	err = err ? err : mapped_table_open(&source->thread_table, error);
	if (err)
		return err;
	source->sets.sets = source->set_table.items;
	source->sets.count = source->set_table.count;
	source->sets.by_label = source->by_label;
	source->sets.sent = calloc(source->sets.count, sizeof(*source->sets.sent));
	if (!source->sets.sent || name_other(source))
		return error_set(error, ENOMEM, "cannot prepare thread contexts: out of memory");
	source->is_attached = true;
	look(source, true);
	return 0;
}

static int contexts_poll(struct source *source)
{
	uint64_t now_ns = clock_now_ns();

	if (now_ns - source->last_look_ns >= LOOK_INTERVAL_MS * NS_PER_MS)
		look(source, false);
	if (now_ns - source->last_drain_ns < DRAIN_INTERVAL_NS)
		return 0;
	source->last_drain_ns = now_ns;
	return drain(source);
}

static int contexts_rest_ms(const struct source *source)
{
	(void)source;
	return LOOK_INTERVAL_MS;
}

static int contexts_cut(struct source *source, uint64_t until_ns)
{
	int err = drain(source);

	(void)until_ns;
	context_sets_begin_slice(&source->sets);
	return err;
}

static void contexts_each_stack(const struct source *source, source_stack_fn *take, void *context)
{
	const volatile struct pkbpf_context_thread *threads = source->thread_table.items;

	for (uint32_t i = 0; i < source->thread_table.count; i++) {
		if (!threads[i].trace[0] && !threads[i].trace[1])
			continue;
		for (int j = 0; j < PKBPF_CONTEXT_REASONS; j++)
			if (threads[i].waits[j].stack_id)
				take(context, threads[i].waits[j].stack_id);
	}
}

static void contexts_detach(struct source *source)
{
	if (!source->is_attached)
		return;
	source->is_attached = false;
	/* The stream counts records that are missing for lack of memory. */
	drain(source);
}

static void contexts_settle(struct source *source)
{
	if (!context_finder_count(source->finder))
		log_warning(session_options(source->session)->log,
			    "no process published thread contexts of OpenTelemetry "
			    "(otel_thread_ctx_v1 and a process context): labels and requests are "
			    "missing");
}

const struct source_ops source_contexts = {
	.name = "contexts",
	.summary = "labels and requests of thread contexts",
	.options = context_option_rows,
	.options_init = context_options_init,
	.is_wanted = contexts_are_wanted,
	.choose = contexts_choose,
	.configure = contexts_configure,
	.attach = contexts_attach,
	.cut = contexts_cut,
	.poll = contexts_poll,
	.rest_ms = contexts_rest_ms,
	.each_stack = contexts_each_stack,
	.detach = contexts_detach,
	.settle = contexts_settle,
	.free = contexts_free,
};
