// SPDX-License-Identifier: BSD-2-Clause
#include "push/otlp_metrics.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/escape.h"
#include "web/metric_text.h"

/* AGGREGATION_TEMPORALITY_CUMULATIVE */
#define CUMULATIVE 2

struct writing {
	FILE *out;
	long long start, now;
	long long begin; /* of the next point; 0: start */
	bool is_open;	 /* a metric is */
	bool is_sum;
	bool has_point;
	bool has_metric;
};

static void end_metric(struct writing *writing)
{
	if (!writing->is_open)
		return;
	fprintf(writing->out, "]%s}}",
		writing->is_sum ? ",\"aggregationTemporality\":2,\"isMonotonic\":true" : "");
	writing->is_open = false;
}

/* "# TYPE name counter" */
static void begin_metric(struct writing *writing, const char *line, size_t length)
{
	const char *name = line + strlen("# TYPE "), *kind = memchr(name, ' ', length - 7);

	if (!kind)
		return;
	end_metric(writing);
	writing->is_sum = strncmp(kind, " counter", 8) == 0;
	fprintf(writing->out, "%s{\"name\":\"%.*s\",\"%s\":{\"dataPoints\":[",
		writing->has_metric ? "," : "", (int)(kind - name), name,
		writing->is_sum ? "sum" : "gauge");
	writing->has_metric = writing->is_open = true;
	writing->has_point = false;
}

/* The text's escapes are JSON's, too. Returns what follows the labels. */
static const char *write_labels(struct writing *writing, const char *labels, const char *end)
{
	bool first = true;

	fprintf(writing->out, "\"attributes\":[");
	while (labels < end && *labels != '}') {
		const char *equals = memchr(labels, '=', (size_t)(end - labels));
		const char *value = equals + 2, *close = value;

		if (!equals || value >= end)
			return NULL;
		while (close < end && *close != '"')
			close += *close == '\\' ? 2 : 1;
		if (close >= end)
			return NULL;
		fprintf(writing->out, "%s{\"key\":\"%.*s\",\"value\":{\"stringValue\":\"%.*s\"}}",
			first ? "" : ",", (int)(equals - labels), labels, (int)(close - value),
			value);
		first = false;
		labels = close + 1;
		labels += labels < end && *labels == ',';
	}
	fprintf(writing->out, "],");
	return labels + 1;
}

/* "name{labels} value" */
static void write_point(struct writing *writing, const char *line, size_t length)
{
	const char *end = line + length, *at = line + strcspn(line, "{ ");

	if (!writing->is_open || at >= end)
		return;
	fprintf(writing->out, "%s{", writing->has_point ? "," : "");
	if (*at == '{')
		at = write_labels(writing, at + 1, end);
	if (!at || at >= end)
		at = " 0";
	at += *at == ' ';
	if (writing->is_sum)
		fprintf(writing->out, "\"startTimeUnixNano\":\"%lld\",",
			writing->begin ? writing->begin : writing->start);
	writing->begin = 0;
	fprintf(writing->out, "\"timeUnixNano\":\"%lld\",\"asDouble\":%.*s}", writing->now,
		(int)(end > at ? end - at : 1), at);
	writing->has_point = true;
}

void otlp_metrics_write(const char *text, const char *host, int64_t start_unix_ns,
			int64_t now_unix_ns, FILE *out)
{
	struct writing writing = {.out = out, .start = start_unix_ns, .now = now_unix_ns};

	fprintf(out, "{\"resourceMetrics\":[{\"resource\":{\"attributes\":["
		     "{\"key\":\"service.name\",\"value\":{\"stringValue\":\"pkbpf\"}},"
		     "{\"key\":\"host.name\",\"value\":{\"stringValue\":");
	escape_json(out, host);
	fprintf(out,
		"}}]},\"scopeMetrics\":[{\"scope\":{\"name\":\"pkbpf\",\"version\":\"%s\"},"
		"\"metrics\":[",
		PKBPF_VERSION);
	for (const char *line = text; *line;) {
		size_t length = strcspn(line, "\n");

		if (strncmp(line, "# TYPE ", 7) == 0)
			begin_metric(&writing, line, length);
		else if (strncmp(line, METRIC_TEXT_BEGIN, strlen(METRIC_TEXT_BEGIN)) == 0)
			writing.begin = strtoll(line + strlen(METRIC_TEXT_BEGIN), NULL, 10);
		else if (*line != '#' && length)
			write_point(&writing, line, length);
		line += length + (line[length] != '\0');
	}
	end_metric(&writing);
	fprintf(out, "]}]}]}\n");
}
