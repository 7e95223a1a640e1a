/* SPDX-License-Identifier: BSD-2-Clause */
/* Energy that the machine takes: running totals of powercap zones, or the power of a sensor. */
#ifndef PKBPF_MACHINE_ENERGY_H
#define PKBPF_MACHINE_ENERGY_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"

#define ENERGY_ZONES_MAX 64

enum energy_source {
	ENERGY_ZONES, /* counters: exact over any interval shorter than a turn of a counter */
	ENERGY_POWER, /* a sensor's watts, taken for those of the whole interval */
};

/* A reading; its first one says what there is. */
struct energy_meter {
	enum energy_source source;
	char name[64]; /* "package-0, package-1", "BAT0" */
	struct energy_zone {
		char path[64];		     /* folder below powercap */
		uint64_t value_uj, range_uj; /* a counter begins anew at range_uj */
	} zones[ENERGY_ZONES_MAX];
	uint32_t zone_count;
	char power_path[128];
	double watts;	  /* ENERGY_POWER: at the last reading */
	uint64_t time_ns; /* of the last reading, CLOCK_MONOTONIC */
};

/* false: nothing measures it; error says why. */
bool energy_meter_open(struct energy_meter *meter, const char *root, uint64_t now_ns,
		       struct error *error);
/* Joules since the last reading, of the whole machine. false: it cannot be read any more. Read it
 * every ten minutes at least: a counter may have turned once, and no more. */
bool energy_meter_read(struct energy_meter *meter, const char *root, uint64_t now_ns,
		       double *ret_joules);

#endif
