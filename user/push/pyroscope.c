// SPDX-License-Identifier: BSD-2-Clause
#include "push/pyroscope.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/escape.h"
#include "export/format.h"
#include "profile/kind_table.h"

/* What a server takes by default. */
#define PROFILE_MAX_BYTES (4U << 20)
#define SERVICES_SEEN_MAX 1024

struct service {
	char name[ROW_CONTAINER_SIZE];
	bool is_container;
	bool is_inside; /* a program of this name runs in a container, too */
	double weight;
	ARRAY_OF(uint32_t) pids;
};

struct writing {
	struct store *store;
	const struct store_window *window;
	uint32_t kinds_mask;
	const char *host;
	FILE *out;
	size_t series, left_out;
};

struct services {
	ARRAY_OF(struct service) list;
	size_t unseen; /* rows of services beyond the limit, or without memory for them */
};

static const char *type_name(enum pkbpf_profile_kind kind)
{
	switch (kind) {
	case PKBPF_PROFILE_CPU:
		return "process_cpu";
	case PKBPF_PROFILE_OFFCPU:
		return "off_cpu";
	case PKBPF_PROFILE_BLOCKIO:
		return "block_io";
	case PKBPF_PROFILE_FAULTS:
		return "page_faults";
	default:
		return kind_ops_of(kind)->name;
	}
}

/* ---- who ---- */

static struct service *service_of(struct services *services, const char *name, bool is_container)
{
	struct service *service;

	array_foreach(&services->list, each)
		if (each->is_container == is_container && strcmp(each->name, name) == 0)
			return each;
	service = services->list.count < SERVICES_SEEN_MAX ? array_add(&services->list) : NULL;
	if (service) {
		snprintf(service->name, sizeof(service->name), "%s", name);
		service->is_container = is_container;
	}
	return service;
}

static void add_row(struct services *services, const struct resource_row *row, uint32_t kinds_mask)
{
	bool is_container = row->container[0] != '\0';
	const char *name = is_container ? row->container : row->name;
	struct service *service =
		*name && !row->no_process ? service_of(services, name, is_container) : NULL;
	uint32_t *pid;

	if (!service) {
		services->unseen += *name && !row->no_process;
		return;
	}
	for (unsigned int kind = 0; kind < PKBPF_PROFILE_KINDS; kind++)
		if (kinds_mask & 1U << kind)
			service->weight += (double)row->kind_weight[kind];
	pid = row->pid ? array_add(&service->pids) : NULL;
	if (pid)
		*pid = row->pid;
}

static int by_weight(const void *left, const void *right)
{
	const struct service *a = left, *b = right;

	return a->weight > b->weight ? -1 : a->weight < b->weight;
}

/* A program's name may be one of a process in a container, which is of that. */
static void mark_inside(struct services *services, const struct resource_rows *rows)
{
	array_foreach(&services->list, service)
		for (size_t i = 0; i < rows->all_count && !service->is_container; i++)
			service->is_inside = service->is_inside ||
					     (rows->items[i].container[0] &&
					      strcmp(rows->items[i].name, service->name) == 0);
}

static int find_services(struct services *services, const struct profile *profile,
			 uint32_t kinds_mask)
{
	const struct resource_rows *rows;
	struct results results;
	int err;

	results_init(&results, profile, ROWS_BY_PROCESS);
	err = results_rows(&results, &rows);
	for (size_t i = 0; err == 0 && i < rows->all_count; i++)
		add_row(services, &rows->items[i], kinds_mask);
	if (services->list.count)
		qsort(services->list.items, services->list.count, sizeof(*services->list.items),
		      by_weight);
	if (err == 0)
		mark_inside(services, rows);
	results_done(&results);
	return err;
}

/* ---- writing ---- */

static void write_label(const char *name, const char *value, bool first, FILE *out)
{
	fprintf(out, "%s{\"name\":\"%s\",\"value\":", first ? "" : ",", name);
	escape_json(out, value);
	fputc('}', out);
}

static int make_pprof(const struct profile *profile, enum pkbpf_profile_kind kind, char **ret_bytes,
		      size_t *ret_size)
{
	const struct format_ops *format = format_by_name("pprof");
	struct format_options options = {.kind = kind};
	struct results results;
	FILE *out = open_memstream(ret_bytes, ret_size);
	int err;

	if (!out)
		return -ENOMEM;
	results_init(&results, profile, ROWS_BY_PROCESS);
	err = format->write(&results, &options, out);
	results_done(&results);
	return fclose(out) == EOF && err == 0 ? -ENOMEM : err;
}

static bool has_kind(const struct profile *profile, enum pkbpf_profile_kind kind)
{
	size_t count;
	const struct profile_row *rows = profile_rows(profile, &count);

	for (size_t i = 0; i < count; i++)
		if (rows[i].kind == kind)
			return true;
	return false;
}

static int write_series(struct writing *writing, const struct service *service,
			const struct profile *profile, enum pkbpf_profile_kind kind)
{
	char *bytes = NULL;
	size_t size;
	int err;

	if (!has_kind(profile, kind))
		return 0;
	err = make_pprof(profile, kind, &bytes, &size);
	/* Too large for the server: the others are not lost with it. */
	if (err == 0 && size <= PROFILE_MAX_BYTES) {
		fprintf(writing->out, "%s{\"labels\":[", writing->series++ ? "," : "");
		write_label("__name__", type_name(kind), true, writing->out);
		write_label("service_name", service->name, false, writing->out);
		write_label("host", writing->host, false, writing->out);
		fprintf(writing->out, "],\"samples\":[{\"rawProfile\":\"");
		escape_base64(writing->out, bytes, size);
		fprintf(writing->out, "\"}]}");
	} else if (err == 0) {
		writing->left_out++;
	}
	free(bytes);
	return err;
}

static int write_service(struct writing *writing, const struct service *service)
{
	struct slice_choice choice = {.kinds_mask = writing->kinds_mask};
	struct profile *profile;
	int err;

	if (service->is_container)
		choice.container = service->name;
	else
		choice.comm = service->name;
	if (service->is_inside) {
		choice.pids = service->pids.items;
		choice.pid_count = service->pids.count;
	}
	err = store_read(writing->store, writing->window, &choice, &profile);
	if (err < 0)
		return err;
	for (unsigned int kind = 0; kind < PKBPF_PROFILE_KINDS && err == 0; kind++)
		if (writing->kinds_mask & 1U << kind)
			err = write_series(writing, service, profile,
					   (enum pkbpf_profile_kind)kind);
	profile_free(profile);
	return err;
}

int pyroscope_write(struct store *store, const struct store_window *window, uint32_t kinds_mask,
		    const char *host, FILE *out, struct pyroscope_count *ret_count)
{
	struct writing writing = {store, window, kinds_mask, host, out, 0, 0};
	struct services services = {0};
	struct profile *profile;
	int err = store_read(store, window, NULL, &profile);

	*ret_count = (struct pyroscope_count){0};
	if (err < 0)
		return err;
	err = find_services(&services, profile, kinds_mask);
	profile_free(profile);
	fprintf(out, "{\"series\":[");
	writing.left_out = services.unseen;
	for (size_t i = 0; i < services.list.count && err == 0; i++) {
		if (services.list.items[i].weight <= 0)
			continue;
		if (i < PYROSCOPE_SERVICES_MAX)
			err = write_service(&writing, &services.list.items[i]);
		else
			writing.left_out++;
	}
	fprintf(out, "]}\n");
	array_foreach(&services.list, service)
		array_free(&service->pids);
	array_free(&services.list);
	*ret_count = (struct pyroscope_count){writing.series, writing.left_out};
	return err;
}
