/* SPDX-License-Identifier: BSD-2-Clause */
/* How hot the CPUs are, and how often heat has slowed them down. */
#ifndef PKBPF_MACHINE_TEMPERATURE_H
#define PKBPF_MACHINE_TEMPERATURE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"

struct temperature {
	double celsius;	 /* of the hottest sensor of a CPU */
	char sensor[64]; /* "coretemp", "thermal_zone0 (x86_pkg_temp)" */
};

/* hwmon drivers of CPUs first, else thermal zones. false: none that can be read; error says why. */
bool temperature_read(const char *root, struct temperature *ret_temperature, struct error *error);
/* Sum over all CPUs of how often they were throttled since boot; false: not counted. */
bool throttle_count_read(const char *root, uint64_t *ret_count);

#endif
