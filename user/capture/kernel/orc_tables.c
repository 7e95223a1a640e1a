// SPDX-License-Identifier: BSD-2-Clause
/* Runs the BPF program that finds the kernel's unwind tables. */
#include "capture/kernel/orc_tables.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <stdio.h>
#include <sys/utsname.h>

#include <pkbpf/config.h>
#include <pkbpf/orc.h>

#include "base/log.h"

#include "pkbpf.skel.h"

/* False: unknown release. */
static bool parse_release(const char *release, unsigned int *ret_number)
{
	unsigned int major, minor;

	if (sscanf(release, "%u.%u", &major, &minor) != 2 || minor > 999)
		return false;
	*ret_number = major * 1000 + minor;
	return true;
}

uint32_t orc_tables_format(const char *release)
{
	unsigned int number;

	/* The helper that finds symbols exists since then, too. */
	if (!parse_release(release, &number) || number < 5016)
		return PKBPF_ORC_UNKNOWN;
	if (number < 6003)
		return PKBPF_ORC_BEFORE_6_3;
	return number < 6004 ? PKBPF_ORC_BEFORE_6_4 : PKBPF_ORC_SINCE_6_4;
}

bool orc_tables_found_at_once(const char *release)
{
	unsigned int number;

	return parse_release(release, &number) && number >= 6002;
}

void orc_tables_configure(struct pkbpf_bpf *skeleton, bool wanted)
{
	bool possible = false;
#if defined(__x86_64__)
	struct utsname machine;

	skeleton->bss->orc_tables.format =
		uname(&machine) ? PKBPF_ORC_UNKNOWN : orc_tables_format(machine.release);
	possible = wanted && skeleton->bss->orc_tables.format != PKBPF_ORC_UNKNOWN;
#else
	(void)wanted;
#endif
	bpf_program__set_autoload(skeleton->progs.find_orc_tables, possible);
}

void orc_tables_find(struct pkbpf_bpf *skeleton, const struct log *log)
{
	LIBBPF_OPTS(bpf_test_run_opts, options);

	if (!bpf_program__autoload(skeleton->progs.find_orc_tables))
		return;
	if (bpf_prog_test_run_opts(bpf_program__fd(skeleton->progs.find_orc_tables), &options) ||
	    options.retval)
		log_debug(log, "kernel unwind tables not found; kernel stacks use the kernel's own "
			       "unwinder");
}
