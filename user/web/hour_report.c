// SPDX-License-Identifier: BSD-2-Clause
#include "web/hour_report.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/durable_file.h"
#include "base/escape.h"
#include "base/parse_value.h"
#include "export/format.h"
#include "history/range_diff.h"
#include "web/hour_regions.h"

#define FOLDER	    "report"
#define TEMPORARY   ".new"
#define KEEP	    48
#define KEEP_MAX    10000
#define CHANGES_MAX 20
#define ROWS_MAX    30
#define NAME_SIZE   64

/* ---- the configuration ---- */

static int set_formats(struct hour_report_settings *settings, const char *value,
		       struct error *error)
{
	char list[64], *rest = list, *word;

	snprintf(list, sizeof(list), "%s", value);
	settings->html = settings->json = false;
	while ((word = strsep(&rest, ", "))) {
		if (strcmp(word, "html") == 0)
			settings->html = true;
		else if (strcmp(word, "json") == 0)
			settings->json = true;
		else if (*word)
			return error_set(
				error, EINVAL,
				"invalid value '%.64s' for formats: expected html, json or "
				"both",
				value);
	}
	return 0;
}

static int set_key(struct hour_report_settings *settings, const struct ini_entry *entry,
		   struct error *error)
{
	uint64_t keep;

	if (strcmp(entry->key, "formats") == 0)
		return set_formats(settings, entry->value, error);
	if (strcmp(entry->key, "keep") != 0)
		return error_set(error, EINVAL,
				 "unknown key '%.64s' of a report: expected formats or keep",
				 entry->key);
	if (parse_u64(entry->value, "keep", 1, KEEP_MAX, &keep, error) < 0)
		return -EINVAL;
	settings->keep = (unsigned int)keep;
	return 0;
}

int hour_report_settings_read(const struct ini *ini, struct hour_report_settings *ret_settings,
			      struct error *error)
{
	struct error inner;
	int err = 0;

	*ret_settings = (struct hour_report_settings){.html = true, .json = true, .keep = KEEP};
	array_foreach(&ini->entries, entry) {
		if (strcmp(entry->kind, "report") != 0)
			continue;
		if (entry->key)
			err = set_key(ret_settings, entry, &inner);
		else if (strcmp(entry->name, "hourly") == 0)
			ret_settings->wanted = true;
		else
			err = error_set(&inner, EINVAL,
					"unknown report '%.64s': expected [report hourly]",
					entry->name);
		if (err < 0)
			return error_set(error, EINVAL, "line %u: %s", entry->line, inner.text);
	}
	return 0;
}

/* ---- what is in it ---- */

struct contents {
	const struct hour_report *report;
	struct objective_result *objectives;
	struct range_diff changes;
	bool has_changes;
	struct profile *profile;
	struct results results;
};

static void contents_done(struct contents *contents)
{
	objective_results_free(contents->objectives, contents->report->objectives->list.count);
	range_diff_done(&contents->changes);
	if (contents->profile)
		results_done(&contents->results);
	profile_free(contents->profile);
}

static int read_all(struct store *store, const struct hour_report *report,
		    struct contents *contents, struct error *error)
{
	struct history_range range = report->range, sides[DIFF_SIDES] = {[DIFF_NEW] = range};
	struct error unused;
	size_t missing;
	int err = history_profile(store, &range, NULL, &contents->profile, &missing, error);

	if (err < 0)
		return err;
	results_init(&contents->results, contents->profile, ROWS_BY_CONTAINER);
	err = objectives_measure(report->objectives, store, &report->range, &contents->objectives,
				 error);
	if (err < 0)
		return err;
	/* Of the first day there is no other. */
	range_diff_base("yesterday", &report->range, &sides[DIFF_BASE], &unused);
	contents->has_changes =
		range_diff_read(store, sides, NULL, &contents->changes, &unused) == 0;
	return 0;
}

static bool is_told(const struct diff_row *row)
{
	return diff_is_significant(row) &&
	       (row->key.level == DIFF_PROCESS || row->key.level == DIFF_CONTAINER ||
		row->key.level == DIFF_SELF);
}

static const char *level_name(const struct diff_row *row)
{
	if (row->key.level == DIFF_SELF)
		return "function";
	return row->key.level == DIFF_CONTAINER ? "container" : "process";
}

/* ---- JSON ---- */

static void write_changes_json(const struct contents *contents, FILE *out)
{
	const struct comparison *comparison = &contents->changes.comparison;
	size_t count = 0;

	if (!contents->has_changes) {
		fprintf(out, "null");
		return;
	}
	fprintf(out, "[");
	array_foreach(&comparison->rows, row) {
		if (!is_told(row) || count == CHANGES_MAX)
			continue;
		fprintf(out, "%s{\"kind\":\"%s\",\"what\":\"%s\",\"name\":", count++ ? "," : "",
			kind_ops_of(row->key.kind)->name, level_name(row));
		escape_json(out, diff_row_name(comparison, row));
		fprintf(out, ",\"verdict\":\"%s\",\"change\":%.6g,\"low\":%.6g,\"high\":%.6g",
			diff_verdict_names[row->verdict], row->change, row->low, row->high);
		if (row->has_ratio)
			fprintf(out, ",\"ratio\":%.6g", row->ratio);
		fprintf(out, "}");
	}
	fprintf(out, "]");
}

static int write_json(struct contents *contents, FILE *out)
{
	const struct format_options options = {.top = ROWS_MAX};
	const struct hour_report *report = contents->report;
	int err;

	fprintf(out, "{\"host\":");
	escape_json(out, report->host);
	fprintf(out, ",\"from\":%.3f,\"to\":%.3f,\"objectives\":",
		(double)report->range.from_unix_ns / 1e9, (double)report->range.to_unix_ns / 1e9);
	objectives_write_json(contents->objectives, report->objectives->list.count, out);
	fprintf(out, ",\"changes_since_yesterday\":");
	write_changes_json(contents, out);
	fprintf(out, ",\"report\":");
	err = format_by_name("json")->write(&contents->results, &options, out);
	fprintf(out, "}\n");
	return err;
}

/* ---- the page ---- */

static const char style[] =
	"body{font:15px/1.45 system-ui,sans-serif;max-width:70rem;margin:2rem auto;padding:0 1rem}"
	"table{border-collapse:collapse;margin:.5rem 0 1.5rem}td,th{padding:.2rem .7rem;text-align:"
	"left;border-bottom:1px solid #8884}tr.missed "
	"td:nth-child(2){color:#b00020;font-weight:600}"
	"td.n{text-align:right;font-variant-numeric:tabular-nums}"
	"@media(prefers-color-scheme:dark){body{background:#16181c;color:#dde1e7}a{color:#8ab4f8}"
	"tr.missed td:nth-child(2){color:#ff8a80}}";

static void write_hour(const struct history_range *range, char *text, size_t size)
{
	time_t seconds = (time_t)(range->from_unix_ns / (int64_t)NS_PER_SECOND);
	struct tm calendar;

	text[0] = '\0';
	if (gmtime_r(&seconds, &calendar))
		strftime(text, size, "%Y-%m-%dT%H:%MZ", &calendar);
}

static void write_changes_html(const struct contents *contents, FILE *out)
{
	const struct comparison *comparison = &contents->changes.comparison;
	size_t count = 0;

	fprintf(out, "<h2>Changed since yesterday</h2>\n");
	if (!contents->has_changes) {
		fprintf(out, "<p>There is no history of this hour of yesterday.</p>\n");
		return;
	}
	fprintf(out, "<table><thead><tr><th>kind<th><th>name<th>change</thead><tbody>\n");
	array_foreach(&comparison->rows, row) {
		if (!is_told(row) || count == CHANGES_MAX)
			continue;
		count++;
		fprintf(out, "<tr><td>%s<td>%s<td>", kind_ops_of(row->key.kind)->name,
			level_name(row));
		escape_markup(out, diff_row_name(comparison, row));
		if (row->has_ratio)
			fprintf(out, "<td class=n>%+.1f %%\n", 100 * row->ratio);
		else
			fprintf(out, "<td>%s\n", diff_verdict_names[row->verdict]);
	}
	fprintf(out, "</tbody></table>\n");
	if (!count)
		fprintf(out, "<p>Nothing significant.</p>\n");
}

static const char *const figures[] = {"cpu.share",
				      "memory.rss",
				      "offcpu.runqueue_p50",
				      "offcpu.runqueue_p95",
				      "offcpu.runqueue_p99",
				      "offcpu.runqueue_max",
				      "blockio.p50",
				      "blockio.p95",
				      "blockio.p99",
				      "blockio.max",
				      NULL};

static void write_row(const struct resource_rows *rows, const struct resource_row *row, FILE *out)
{
	const char *name = row->container[0] ? row->container : row->name;

	fprintf(out, "<tr><td>");
	escape_markup(out, row == &rows->total ? "all" : name[0] ? name : "(none)");
	for (size_t i = 0; figures[i]; i++) {
		const struct figure *figure = figure_find(figures[i]);
		char text[HUMAN_SIZE] = "-";
		double value;

		if (figure && figure_value(figure, rows, row, &value))
			quantity_format(text, figure->unit, value);
		fprintf(out, "<td class=n>%s", text);
	}
	fprintf(out, "\n");
}

static void write_rows(struct contents *contents, FILE *out)
{
	const struct resource_rows *rows;

	if (results_rows(&contents->results, &rows) < 0)
		return;
	fprintf(out, "<h2>By container</h2>\n<table><thead><tr><th>");
	for (size_t i = 0; figures[i]; i++)
		fprintf(out, "<th>%s", figures[i]);
	fprintf(out, "</thead><tbody>\n");
	write_row(rows, &rows->total, out);
	for (size_t i = 0; i < rows->all_count && i < ROWS_MAX; i++)
		write_row(rows, &rows->items[i], out);
	fprintf(out, "</tbody></table>\n");
}

static void write_findings(struct contents *contents, FILE *out)
{
	const struct findings *findings;

	if (results_findings(&contents->results, &findings) < 0)
		return;
	fprintf(out, "<h2>Findings</h2>\n<ul>\n");
	for (size_t i = 0; i < findings->count; i++) {
		fprintf(out, "<li>");
		escape_markup(out, findings->findings[i].text);
	}
	fprintf(out, "</ul>\n");
}

static int write_html(struct contents *contents, FILE *out)
{
	const struct hour_report *report = contents->report;
	char hour[32];

	write_hour(&report->range, hour, sizeof(hour));
	fprintf(out,
		"<!DOCTYPE html>\n<html lang=en><head><meta charset=utf-8><meta name=viewport "
		"content=\"width=device-width\"><title>pkbpf %s</title><style>%s</style></head>"
		"<body>\n<h1>",
		hour, style);
	escape_markup(out, report->host);
	fprintf(out, ", hour of %s</h1>\n<p><a href=\"", hour);
	escape_markup(out, report->url);
	fprintf(out,
		"#from=%lld&amp;to=%lld&amp;end=%lld&amp;range=3600\">the history of this "
		"hour</a></p>\n",
		(long long)(report->range.from_unix_ns / 1000000000),
		(long long)(report->range.to_unix_ns / 1000000000),
		(long long)(report->range.to_unix_ns / 1000000000));
	if (report->objectives->list.count) {
		fprintf(out, "<h2>Objectives</h2>\n");
		objectives_write_html(contents->objectives, report->objectives->list.count, out);
	}
	hour_regions_write(contents->profile, out);
	write_findings(contents, out);
	write_changes_html(contents, out);
	write_rows(contents, out);
	fprintf(out, "</body></html>\n");
	return 0;
}

/* ---- files ---- */

static int write_file(int folder, const char *hour, const char *suffix, struct contents *contents,
		      int (*write)(struct contents *contents, FILE *out))
{
	struct durable_file file;
	char name[NAME_SIZE];
	int err = durable_file_open(&file, folder, TEMPORARY, 0640);

	if (err < 0)
		return err;
	snprintf(name, sizeof(name), "%s%s", hour, suffix);
	return durable_file_close(&file, name, write(contents, file.stream));
}

static bool has_suffix(const char *name, const char *suffix)
{
	size_t length = strlen(name);

	return length > strlen(suffix) && length < NAME_SIZE &&
	       strcmp(name + length - strlen(suffix), suffix) == 0;
}

/* Names begin with the time. true: one too many was deleted. */
static bool drop_oldest(int folder, const char *suffix, unsigned int keep)
{
	char oldest[NAME_SIZE] = "";
	struct dirent *entry;
	unsigned int count = 0;
	int copy = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *files = copy < 0 ? NULL : fdopendir(copy);

	if (!files) {
		if (copy >= 0)
			close(copy);
		return false;
	}
	while ((entry = readdir(files))) {
		if (entry->d_name[0] == '.' || !has_suffix(entry->d_name, suffix))
			continue;
		count++;
		if (!oldest[0] || strcmp(entry->d_name, oldest) < 0)
			snprintf(oldest, sizeof(oldest), "%.*s", NAME_SIZE - 1, entry->d_name);
	}
	closedir(files);
	return count > keep && unlinkat(folder, oldest, 0) == 0;
}

static int write_files(struct store *store, struct contents *contents,
		       const struct hour_report_settings *settings)
{
	int root = store_root(store), folder, err = 0;
	char hour[32];

	if (mkdirat(root, FOLDER, 0750) < 0 && errno != EEXIST)
		return -errno;
	folder = openat(root, FOLDER, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (folder < 0)
		return -errno;
	write_hour(&contents->report->range, hour, sizeof(hour));
	if (settings->html)
		err = write_file(folder, hour, ".html", contents, write_html);
	if (settings->json && err == 0)
		err = write_file(folder, hour, ".json", contents, write_json);
	while (drop_oldest(folder, ".html", settings->keep) ||
	       drop_oldest(folder, ".json", settings->keep))
		;
	close(folder);
	return err;
}

int hour_report_make(struct store *store, const struct hour_report *report,
		     const struct hour_report_settings *settings, struct error *error)
{
	struct contents contents = {.report = report};
	int err = read_all(store, report, &contents, error);

	if (err == 0) {
		err = write_files(store, &contents, settings);
		if (err < 0)
			error_set(error, -err, "cannot write the report of an hour: %s",
				  strerror(-err));
	}
	contents_done(&contents);
	return err;
}
