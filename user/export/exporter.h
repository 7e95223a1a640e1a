/* SPDX-License-Identifier: BSD-2-Clause */
/* Output formats: one file and one row of exporter_table.c each. */
#ifndef PKBPF_EXPORT_EXPORTER_H
#define PKBPF_EXPORT_EXPORTER_H

#include <stdio.h>

#include "profile/profile.h"

struct export_options {
	enum pkbpf_profile_kind kind; /* which kind, for formats that hold one value per stack */
	bool per_thread;
	bool pid_frame; /* root frame is comm-pid */
	bool lines;	/* file:line in frames */
	bool wait_states;
	unsigned int top; /* rows per table in reports */
};

struct exporter_ops {
	const char *name;   /* "folded" */
	const char *suffix; /* ".folded" */
	const char *summary;
	bool one_kind;	  /* holds one profile kind per file */
	bool only_events; /* shows nothing of what processes used beside, which then need not be
			     read */
	/* 0 or negative errno; stream errors are found by the caller's commit. */
	int (*write)(const struct profile *profile, const struct export_options *options,
		     FILE *out);
};

/* NULL when unknown. The longest matching suffix wins. */
const struct exporter_ops *exporter_by_name(const char *name);
const struct exporter_ops *exporter_by_suffix(const char *path);
/* index from 0; NULL at the end. */
const struct exporter_ops *exporter_at(size_t index);

#endif
