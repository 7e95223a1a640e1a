// SPDX-License-Identifier: BSD-2-Clause
// Writes the report as one HTML file that opens from disk: its data is packed into it, its script
// draws it, and nothing comes from a network.
#include <errno.h>
#include <string.h>

#include "base/escape.h"
#include "export/formats.h"
#include "export/page/packed_text.h"
#include "export/page/page_data.h"

#include "embedded/address.js.h"
#include "embedded/call_tree.js.h"
#include "embedded/data.js.h"
#include "embedded/findings.js.h"
#include "embedded/gpu_calls.js.h"
#include "embedded/flame.js.h"
#include "embedded/graph_shape.js.h"
#include "embedded/lane_section.js.h"
#include "embedded/lane_touch.js.h"
#include "embedded/lane_view.js.h"
#include "embedded/lanes.js.h"
#include "embedded/latency.js.h"
#include "embedded/memory.js.h"
#include "embedded/page.css.h"
#include "embedded/page.html.h"
#include "embedded/page.js.h"
#include "embedded/peers.js.h"
#include "embedded/processes.js.h"
#include "embedded/requests.js.h"
#include "embedded/stacks.js.h"
#include "embedded/text.js.h"
#include "embedded/heat_map.js.h"
#include "embedded/time_line.js.h"

/* In the order in which they use each other. */
static const char *const scripts[] = {
	text_js,      data_js,	   call_tree_js, graph_shape_js, flame_js,     findings_js,
	time_line_js, heat_map_js, lanes_js,	 lane_touch_js,	 lane_view_js, lane_section_js,
	processes_js, stacks_js,   latency_js,	 peers_js,	 requests_js,  gpu_calls_js,
	memory_js,    address_js,  page_js};

/* Data packs well at any level; higher ones take several times as long for a few percent. */
#define LEVEL_OF_FILE 6
/* Of what a page shows for a second. */
#define LEVEL_OF_PRESENT 1

static int write_data(struct results *results, const struct format_options *options, int level,
		      FILE *out)
{
	FILE *stream = packed_text_open(out, level);
	int err;

	if (!stream)
		return -ENOMEM;
	err = page_data_write(results, options, stream);
	/* What it could not write on is found by whoever closes `out`. */
	if (fclose(stream) && !err)
		err = -EIO;
	return err;
}

/* For readers without a script. 0 or -ENOMEM. */
static int write_plain_findings(struct results *results, FILE *out)
{
	const struct findings *findings;
	int err = results_findings(results, &findings);

	if (err)
		return err;
	fputs("<ol>\n", out);
	for (size_t i = 0; i < findings->count; i++) {
		fputs("<li>", out);
		escape_markup(out, findings->findings[i].text);
		fputs("</li>\n", out);
	}
	fputs("</ol>\n", out);
	return 0;
}

/* What the places of page.html stand for. */
static int write_place(struct results *results, const struct format_options *options, FILE *out,
		       const char *place, size_t length)
{
	if (!strncmp(place, "STYLE", length)) {
		fputs(page_css, out);
	} else if (!strncmp(place, "FINDINGS", length)) {
		return write_plain_findings(results, out);
	} else if (!strncmp(place, "DATA", length)) {
		return write_data(results, options, LEVEL_OF_FILE, out);
	} else if (!strncmp(place, "SCRIPT", length)) {
		for (size_t i = 0; i < sizeof(scripts) / sizeof(scripts[0]); i++)
			fputs(scripts[i], out);
	}
	return 0;
}

static int html_write(struct results *results, const struct format_options *options, FILE *out)
{
	const char *at = page_html, *open;
	int err = 0;

	while (!err && (open = strstr(at, "{{"))) {
		const char *close = strstr(open, "}}");

		fwrite(at, 1, (size_t)(open - at), out);
		err = write_place(results, options, out, open + 2, (size_t)(close - open) - 2);
		at = close + 2;
	}
	fputs(at, out);
	return err;
}

const struct format_ops format_html = {
	.file = {"html", ".html",
		 "report for a browser: findings, tables, flame graphs, latencies"},
	.shows_times = true,
	.shows_gpu_calls = true,
	.write = html_write,
};

static int page_data_format(struct results *results, const struct format_options *options,
			    FILE *out)
{
	return write_data(results, options, LEVEL_OF_PRESENT, out);
}

const struct format_ops format_page_data = {
	.file = {"page-data", ".page-data", "data of a page, for one that is open"},
	.shows_times = true,
	.shows_gpu_calls = true,
	.write = page_data_format,
};
