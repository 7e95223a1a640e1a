/* SPDX-License-Identifier: BSD-2-Clause */
/* The report of an hour for those who read it later: objectives, what has changed since yesterday,
 * lengths by container, findings. */
#ifndef PKBPF_WEB_HOUR_REPORT_H
#define PKBPF_WEB_HOUR_REPORT_H

#include <stdbool.h>
#include <stdio.h>

#include "alert/objective.h"
#include "base/ini.h"

/* The section [report hourly]: formats = html,json (default), keep = 48 (files of each format). */
struct hour_report_settings {
	bool wanted, html, json;
	unsigned int keep;
};

/* -EINVAL with the sentence, which names the line. */
int hour_report_settings_read(const struct ini *ini, struct hour_report_settings *ret_settings,
			      struct error *error);

struct hour_report {
	const struct objectives *objectives;
	struct history_range range;
	const char *host;
	const char *url; /* of the page, for links; ends in a slash */
};

/* Writes report/<time>.html and .json into the folder of the store, and deletes the oldest beyond
 * keep. -ENODATA: there is no history of this hour; errors of the file system; -ENOMEM; with the
 * sentence. */
int hour_report_make(struct store *store, const struct hour_report *report,
		     const struct hour_report_settings *settings, struct error *error);

#endif
