// SPDX-License-Identifier: BSD-2-Clause
#include "push/otlp_profiles.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/clock.h"
#include "base/escape.h"
#include "finding/results.h"
#include "profile/kind_table.h"
#include "push/otlp_dictionary.h"

struct writing {
	const struct profile *profile;
	uint32_t kinds_mask;
	int64_t start_unix_ns, end_unix_ns;
	const char *host;
	FILE *out;
	struct otlp_dictionary dictionary;
	struct hash_map containers; /* process id -> index in names */
	ARRAY_OF(char *) names;	    /* 0: in no container */
	size_t profiles;
};

/* ---- who ---- */

/* Index of a container, 0 for those beyond the limit. */
static size_t container_of_name(struct writing *writing, const char *name)
{
	char **added, *copy;

	for (size_t i = 1; i < writing->names.count; i++)
		if (strcmp(writing->names.items[i], name) == 0)
			return i;
	if (writing->names.count > OTLP_CONTAINERS_MAX)
		return 0;
	copy = strdup(name);
	added = copy ? array_add(&writing->names) : NULL;
	if (!added) {
		free(copy);
		return 0;
	}
	*added = copy;
	return writing->names.count - 1;
}

/* By pid: of two with the same one, in one minute, the container is that of the first. */
static int find_containers(struct writing *writing)
{
	const struct resource_rows *rows;
	struct results results;
	int err;

	if (!array_add(&writing->names))
		return -ENOMEM;
	results_init(&results, writing->profile, ROWS_BY_PROCESS);
	err = results_rows(&results, &rows);
	for (size_t i = 0; err == 0 && i < rows->all_count; i++) {
		const struct resource_row *row = &rows->items[i];
		bool added;

		if (row->pid && row->container[0] &&
		    !hash_map_get(&writing->containers, row->pid,
				  container_of_name(writing, row->container), &added))
			err = -ENOMEM;
	}
	results_done(&results);
	return err;
}

static size_t container_of(const struct writing *writing, const struct profile_row *row)
{
	const struct process *process =
		process_table_by_id(profile_processes(writing->profile), row->process);
	const uint64_t *index =
		process_has_pid(process) ? hash_map_find(&writing->containers, process->pid) : NULL;

	return index ? *index : 0;
}

/* ---- samples ---- */

static uint64_t period_ns(const struct writing *writing, enum pkbpf_profile_kind kind)
{
	uint32_t hz = profile_info_read(writing->profile)->frequency_hz;

	return kind == PKBPF_PROFILE_CPU && hz ? NS_PER_SECOND / hz : 0;
}

static const char *unit_of(const struct writing *writing, enum pkbpf_profile_kind kind)
{
	switch (kind_ops_of(kind)->weight) {
	case PROFILE_WEIGHT_NS:
		return "nanoseconds";
	case PROFILE_WEIGHT_BYTES:
		return "bytes";
	case PROFILE_WEIGHT_COUNT:
		break;
	}
	return period_ns(writing, kind) ? "nanoseconds" : "count";
}

static void write_type(struct writing *writing, const char *key, const char *type, const char *unit)
{
	struct otlp_dictionary *dictionary = &writing->dictionary;

	fprintf(writing->out, "\"%s\":{\"typeStrindex\":%" PRIu32 ",\"unitStrindex\":%" PRIu32 "},",
		key, otlp_dictionary_string(dictionary, type),
		otlp_dictionary_string(dictionary, unit));
}

static void write_sample(struct writing *writing, const struct profile_row *row, uint64_t period)
{
	struct otlp_dictionary *dictionary = &writing->dictionary;
	const struct process *process =
		process_table_by_id(profile_processes(writing->profile), row->process);

	fprintf(writing->out,
		"{\"stackIndex\":%" PRIu32 ",\"values\":[\"%" PRIu64
		"\"],\"attributeIndices\":[%" PRIu32,
		otlp_dictionary_stack(dictionary, row->stack),
		period ? row->weight * period : row->weight,
		otlp_dictionary_attribute(dictionary, "thread.name",
					  profile_string(writing->profile, row->comm), 0));
	if (process_has_pid(process))
		fprintf(writing->out, ",%" PRIu32,
			otlp_dictionary_attribute(dictionary, "process.pid", NULL, process->pid));
	if (row->tid != PROFILE_NO_THREAD)
		fprintf(writing->out, ",%" PRIu32,
			otlp_dictionary_attribute(dictionary, "thread.id", NULL, row->tid));
	fputs("]}", writing->out);
}

/* The same at each try, so that a receiver can tell that it has it. */
static void write_head(struct writing *writing, size_t container, enum pkbpf_profile_kind kind)
{
	uint64_t period = period_ns(writing, kind),
		 where = hash_bytes(writing->host, strlen(writing->host),
				    (uint64_t)kind << 32 | container);

	fprintf(writing->out,
		"{\"profileId\":\"%016" PRIx64 "%016" PRIx64 "\",\"timeUnixNano\":\"%" PRId64
		"\",\"durationNano\":\"%" PRId64 "\",",
		(uint64_t)writing->start_unix_ns, where, writing->start_unix_ns,
		writing->end_unix_ns - writing->start_unix_ns);
	write_type(writing, "sampleType", kind_ops_of(kind)->name, unit_of(writing, kind));
	if (period) {
		write_type(writing, "periodType", "cpu", "nanoseconds");
		fprintf(writing->out, "\"period\":\"%" PRIu64 "\",", period);
	}
	fputs("\"samples\":[", writing->out);
}

/* false: there are no such samples, and nothing was written. */
static bool write_profile(struct writing *writing, size_t container, enum pkbpf_profile_kind kind,
			  bool is_first)
{
	uint64_t period = period_ns(writing, kind);
	size_t count, written = 0;
	const struct profile_row *rows = profile_rows(writing->profile, &count);

	for (size_t i = 0; i < count; i++) {
		if (rows[i].kind != kind || container_of(writing, &rows[i]) != container)
			continue;
		if (!written++) {
			if (!is_first)
				fputc(',', writing->out);
			write_head(writing, container, kind);
		} else {
			fputc(',', writing->out);
		}
		write_sample(writing, &rows[i], period);
	}
	if (written)
		fputs("]}", writing->out);
	writing->profiles += written > 0;
	return written;
}

static void write_text_attribute(FILE *out, const char *key, const char *text)
{
	fprintf(out, "{\"key\":\"%s\",\"value\":{\"stringValue\":", key);
	escape_json(out, text);
	fputs("}}", out);
}

static void write_resource(struct writing *writing, size_t container)
{
	FILE *out = writing->out;
	bool is_first = true;

	fprintf(out, "%s{\"resource\":{\"attributes\":[", container ? "," : "");
	write_text_attribute(out, "host.name", writing->host);
	if (container) {
		const char *name = writing->names.items[container];

		fputc(',', out);
		write_text_attribute(out, "service.name", name);
		fputc(',', out);
		write_text_attribute(out, "container.name", name);
	}
	fprintf(out,
		"]},\"scopeProfiles\":[{\"scope\":{\"name\":\"pkbpf\",\"version\":\"%s\"},"
		"\"profiles\":[",
		PKBPF_VERSION);
	for (unsigned int kind = 0; kind < PKBPF_PROFILE_KINDS; kind++)
		if (writing->kinds_mask & 1U << kind &&
		    write_profile(writing, container, (enum pkbpf_profile_kind)kind, is_first))
			is_first = false;
	fputs("]}]}", out);
}

static int write_all(struct writing *writing)
{
	int err = find_containers(writing);

	if (err < 0)
		return err;
	fputs("{\"resourceProfiles\":[", writing->out);
	for (size_t i = 0; i < writing->names.count; i++)
		write_resource(writing, i);
	fputs("],", writing->out);
	err = otlp_dictionary_write(&writing->dictionary, writing->out);
	fputs("}\n", writing->out);
	return err;
}

int otlp_profiles_write_one(const struct profile *profile, const struct store_window *window,
			    uint32_t kinds_mask, const char *host, FILE *out, size_t *ret_profiles)
{
	struct writing writing = {
		.profile = profile,
		.kinds_mask = kinds_mask,
		.start_unix_ns = window->begin_unix_ns,
		.end_unix_ns = window->end_unix_ns,
		.host = host,
		.out = out,
	};
	int err =
		otlp_dictionary_init(&writing.dictionary, profile) ? write_all(&writing) : -ENOMEM;

	otlp_dictionary_done(&writing.dictionary);
	array_foreach(&writing.names, name)
		free(*name);
	array_free(&writing.names);
	hash_map_done(&writing.containers);
	*ret_profiles = writing.profiles;
	return err;
}

int otlp_profiles_write(struct store *store, const struct store_window *window, uint32_t kinds_mask,
			const char *host, FILE *out, size_t *ret_profiles)
{
	struct profile *profile;
	int err = store_read(store, window, NULL, &profile);

	*ret_profiles = 0;
	if (err < 0)
		return err;
	err = otlp_profiles_write_one(profile, window, kinds_mask, host, out, ret_profiles);
	profile_free(profile);
	return err;
}
