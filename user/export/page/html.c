// SPDX-License-Identifier: BSD-2-Clause
// Writes the report as one HTML file that opens from disk: its data is packed into it, its script
// draws it, and nothing comes from a network.
#include <errno.h>
#include <stdlib.h>
#include <string.h>
/* Its input is const then. */
#define ZLIB_CONST
#include <zlib.h>

#include "base/cleanup.h"
#include "base/escape.h"
#include "export/formats.h"
#include "export/page/page_data.h"

#include "embedded/call_tree.js.h"
#include "embedded/data.js.h"
#include "embedded/findings.js.h"
#include "embedded/flame.js.h"
#include "embedded/latency.js.h"
#include "embedded/page.css.h"
#include "embedded/page.html.h"
#include "embedded/page.js.h"
#include "embedded/processes.js.h"
#include "embedded/stacks.js.h"
#include "embedded/text.js.h"

/* In the order in which they use each other. */
static const char *const scripts[] = {text_js,	    data_js,   call_tree_js, flame_js, findings_js,
				      processes_js, stacks_js, latency_js,   page_js};

/* Data packs well at any level; higher ones take several times as long for a few percent. */
#define LEVEL 6

static void write_base64(FILE *out, const unsigned char *bytes, size_t size)
{
	static const char digits[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

	for (size_t i = 0; i < size; i += 3) {
		size_t have = size - i < 3 ? size - i : 3;
		uint32_t bits = (uint32_t)bytes[i] << 16;
		char text[4];

		if (have > 1)
			bits |= (uint32_t)bytes[i + 1] << 8;
		if (have > 2)
			bits |= bytes[i + 2];
		text[0] = digits[bits >> 18];
		text[1] = digits[bits >> 12 & 63];
		text[2] = have > 1 ? digits[bits >> 6 & 63] : '=';
		text[3] = have > 2 ? digits[bits & 63] : '=';
		fwrite(text, 1, sizeof(text), out);
	}
}

static int write_packed(FILE *out, const char *data, size_t size)
{
	z_stream stream = {0};
	_cleanup_free_ unsigned char *packed = NULL;
	size_t bound;
	int err;

	/* Without a header of zlib's: browsers call it deflate-raw. */
	if (size > UINT32_MAX ||
	    deflateInit2(&stream, LEVEL, Z_DEFLATED, -MAX_WBITS, 8, Z_DEFAULT_STRATEGY) != Z_OK)
		return -ENOMEM;
	bound = deflateBound(&stream, (uLong)size);
	packed = malloc(bound);
	stream.next_in = (const unsigned char *)data;
	stream.avail_in = (uInt)size;
	stream.next_out = packed;
	stream.avail_out = (uInt)bound;
	err = packed && bound <= UINT32_MAX && deflate(&stream, Z_FINISH) == Z_STREAM_END ? 0
											  : -ENOMEM;
	if (!err)
		write_base64(out, packed, stream.total_out);
	deflateEnd(&stream);
	return err;
}

static int write_data(struct results *results, const struct format_options *options, FILE *out)
{
	_cleanup_free_ char *data = NULL;
	size_t size;
	FILE *stream = open_memstream(&data, &size);
	int err;

	if (!stream)
		return -ENOMEM;
	err = page_data_write(results, options, stream);
	if (fclose(stream) && !err)
		err = -ENOMEM;
	return err ? err : write_packed(out, data, size);
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
		return write_data(results, options, out);
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
	.name = "html",
	.suffix = ".html",
	.summary = "report for a browser: findings, tables, flame graphs, latencies",
	.write = html_write,
};
