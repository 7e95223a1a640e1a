/* SPDX-License-Identifier: BSD-2-Clause */
/* Reads energy, temperature, frequency and CPU counters of the machine while a capture runs. */
#ifndef PKBPF_LIVE_LIVE_MACHINE_H
#define PKBPF_LIVE_LIVE_MACHINE_H

#include "capture/event_counts.h"
#include "machine/energy.h"
#include "profile/account/machine_figures.h"

/* Whose instructions, cycles, cache and branch events are counted. */
struct live_counted {
	bool wanted;
	const uint32_t *pids; /* processes, of which all threads; or none: */
	size_t pid_count;
	bool are_threads;	 /* these are single threads */
	const char *cgroup_path; /* a directory, or NULL: all CPUs */
	const char *refusal;	 /* what keeps these targets from being counted; NULL: nothing */
};

struct live_machine {
	const char *root; /* "" of this machine; NULL: nothing is read */
	uint64_t next_ns; /* of the next reading */
	struct energy_meter energy;
	bool has_energy;
	uint64_t energy_ns; /* of its last reading */
	uint64_t throttles; /* so far, since boot */
	struct event_counts *counts;
	struct machine_figures figures; /* of the interval that runs */
};

/* root is borrowed. counted: NULL, none. What is absent gets its reason. */
void live_machine_begin(struct live_machine *machine, const char *root,
			const struct live_counted *counted, uint64_t now_ns);
/* Reads when it is time to: every second, or as rarely as keeps it below a thousandth of a CPU. */
void live_machine_look(struct live_machine *machine, uint64_t now_ns);
/* The figures of the interval that ends now; the next one begins. */
struct machine_figures live_machine_cut(struct live_machine *machine, uint64_t now_ns);
void live_machine_done(struct live_machine *machine);

#endif
