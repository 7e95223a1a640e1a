// SPDX-License-Identifier: BSD-2-Clause
#include "cli/serve_objectives.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"

#define HOUR ((int64_t)(3600 * NS_PER_SECOND))

void serve_objectives_init(struct serve_objectives *objectives, struct console *console,
			   struct store *store, const char *listen, uint16_t port)
{
	*objectives = (struct serve_objectives){
		.console = console, .store = store, .listen = listen, .port = port};
	gethostname(objectives->host, sizeof(objectives->host) - 1);
	pthread_mutex_init(&objectives->lock, NULL);
}

int serve_objectives_configure(struct serve_objectives *objectives, const char *text)
{
	struct serve_config config;
	struct objectives before;
	struct error error;
	int err = serve_config_read(text, &config, &error);

	if (err == 0) {
		pthread_mutex_lock(&objectives->lock);
		before = objectives->objectives;
		objectives->objectives = config.objectives;
		config.objectives = before;
		pthread_mutex_unlock(&objectives->lock);
		objectives->report = config.report;
		serve_page_url(&config, objectives->listen, objectives->port, objectives->url,
			       sizeof(objectives->url));
	}
	serve_config_done(&config);
	return err;
}

static int copy_list(struct serve_objectives *objectives, struct objectives *ret_copy)
{
	int err = 0;

	*ret_copy = (struct objectives){0};
	pthread_mutex_lock(&objectives->lock);
	array_foreach(&objectives->objectives.list, each) {
		struct objective *added = array_add(&ret_copy->list);

		if (!added) {
			err = -ENOMEM;
			break;
		}
		*added = *each;
	}
	pthread_mutex_unlock(&objectives->lock);
	return err;
}

int serve_objectives_write(void *context, const struct history_range *range, FILE *out,
			   struct error *error)
{
	struct serve_objectives *objectives = context;
	struct objectives list;
	struct objective_result *results = NULL;
	int err = copy_list(objectives, &list);

	if (err == 0) {
		err = objectives_measure(&list, objectives->store, range, &results, error);
	} else {
		error_set(error, -err, "cannot measure objectives: %s", strerror(-err));
	}
	if (results) {
		fprintf(out, "{\"objectives\":");
		objectives_write_json(results, list.list.count, out);
		fprintf(out, "}\n");
	}
	objective_results_free(results, list.list.count);
	objectives_done(&list);
	return err;
}

static void report_hour(struct serve_objectives *objectives, int64_t hour)
{
	struct hour_report report = {
		.objectives = &objectives->objectives,
		.range = {hour * HOUR, (hour + 1) * HOUR},
		.host = objectives->host,
		.url = objectives->url,
	};
	struct error error;

	if (hour_report_make(objectives->store, &report, &objectives->report, &error) < 0)
		console_error(objectives->console, "%s", error.text);
}

void serve_objectives_note(struct serve_objectives *objectives, int64_t end_unix_ns)
{
	/* A slice that ends with the hour belongs to it. */
	int64_t hour = (end_unix_ns - (int64_t)NS_PER_SECOND) / HOUR, before = objectives->hour;

	objectives->hour = hour;
	if (before && hour > before && objectives->report.wanted)
		report_hour(objectives, before);
}

void serve_objectives_done(struct serve_objectives *objectives)
{
	objectives_done(&objectives->objectives);
	pthread_mutex_destroy(&objectives->lock);
}
