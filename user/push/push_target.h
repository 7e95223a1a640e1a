/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * To whom the history is sent, a section of the configuration:
 *
 *	[push NAME]
 *	textfile  = /path/file.prom	metrics, for the textfile collector of node_exporter
 *	otlp      = http://…/v1/metrics	metrics, OTLP
 *	pyroscope = http://…		profiles of each minute, by container or program
 *	otlp-profiles = http://…/v1development/profiles	the same, OTLP
 *	encoding  = json|protobuf	of OTLP; default json
 *	interval  = 1m			of metrics, 10s to 10m
 *	header    = Name: value		of requests; at most eight
 *	events    = cpu,offcpu		profiles of these kinds; default cpu
 *	max-age   = 50m			minutes that are older are not sent any more
 *
 * A section has one of the first four.
 */
#ifndef PKBPF_PUSH_PUSH_TARGET_H
#define PKBPF_PUSH_PUSH_TARGET_H

#include <stdbool.h>
#include <stdint.h>

#include "base/ini.h"

#define PUSH_TARGETS_MAX 16
#define PUSH_HEADERS_MAX 8

enum push_way { PUSH_NOT, PUSH_TEXTFILE, PUSH_OTLP, PUSH_PYROSCOPE, PUSH_OTLP_PROFILES };

/* Sends what the store has, window by window; the others send metrics. */
static inline bool push_way_has_cursor(enum push_way way)
{
	return way == PUSH_PYROSCOPE || way == PUSH_OTLP_PROFILES;
}

struct push_target {
	char name[64];
	enum push_way way;
	char where[512];
	char headers[PUSH_HEADERS_MAX][256];
	size_t header_count;
	uint64_t interval_ns, max_age_ns;
	uint32_t kinds_mask;
	bool has_encoding, is_protobuf;
};

struct push_targets {
	struct push_target items[PUSH_TARGETS_MAX];
	size_t count;
};

/* -EINVAL with the sentence, which names the line. */
int push_targets_read(const struct ini *ini, struct push_targets *ret_targets, struct error *error);

#endif
