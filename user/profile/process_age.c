// SPDX-License-Identifier: BSD-2-Clause
/* Looks up the program that an accounted process runs. */
#include "profile/process_age.h"

bool process_is_new(const struct profile *profile, const struct resource_process *process)
{
	const struct process *program;

	if (process->started_inside || !process->pid)
		return process->started_inside;
	program = process_table_find(profile_processes(profile), process->pid);
	return program && program->execed &&
	       program->start_ns >= profile_info_read(profile)->start_ns &&
	       (!process->end_ns || program->start_ns <= process->end_ns);
}
