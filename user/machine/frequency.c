// SPDX-License-Identifier: BSD-2-Clause
#include "machine/frequency.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "machine/sysfs_value.h"

#define CPUS   "/sys/devices/system/cpu"
#define KHZ    1000.0
#define HZ_MAX 2e10 /* far beyond any CPU */

struct adding {
	const char *root;
	struct frequency sum;
};

/* sysfs has kHz. */
static bool read_hz(const char *root, const char *cpu, const char *name, double *ret_hz)
{
	char path[SYSFS_PATH_SIZE];

	snprintf(path, sizeof(path), CPUS "/%.64s/cpufreq/%s", cpu, name);
	if (!sysfs_number(root, path, ret_hz))
		return false;
	*ret_hz *= KHZ;
	return *ret_hz > 0 && *ret_hz < HZ_MAX;
}

static bool add_cpu(void *context, const char *name)
{
	struct adding *adding = context;
	struct frequency *sum = &adding->sum;
	double hz, base_hz;

	if (strncmp(name, "cpu", 3) != 0 || !isdigit((unsigned char)name[3]) ||
	    !read_hz(adding->root, name, "scaling_cur_freq", &hz))
		return true;
	sum->min_hz = !sum->cpus || hz < sum->min_hz ? hz : sum->min_hz;
	sum->max_hz = !sum->cpus || hz > sum->max_hz ? hz : sum->max_hz;
	sum->mean_hz += hz;
	sum->cpus++;
	if (!sum->base_hz && read_hz(adding->root, name, "base_frequency", &base_hz))
		sum->base_hz = base_hz;
	return true;
}

bool frequency_read(const char *root, struct frequency *ret_frequency, struct error *error)
{
	struct adding adding = {.root = root};

	sysfs_each(root, CPUS, add_cpu, &adding);
	if (!adding.sum.cpus) {
		error_set(error, ENOENT,
			  "no cpufreq driver reports the frequency of the CPUs; in a virtual "
			  "machine the host has it");
		return false;
	}
	adding.sum.mean_hz /= adding.sum.cpus;
	*ret_frequency = adding.sum;
	return true;
}
