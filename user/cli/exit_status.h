/* SPDX-License-Identifier: BSD-2-Clause */
/* Exit statuses. With `-- COMMAND` the status of the command precedes DONE and EMPTY. */
#ifndef PKBPF_CLI_EXIT_STATUS_H
#define PKBPF_CLI_EXIT_STATUS_H

enum exit_status {
	EXIT_STATUS_DONE = 0,
	EXIT_STATUS_FAILED = 1,	       /* failed while running */
	EXIT_STATUS_USAGE = 2,	       /* wrong usage */
	EXIT_STATUS_CONDITION = 3,     /* a --fail-if held */
	EXIT_STATUS_EMPTY = 4,	       /* nothing was recorded although something was expected */
	EXIT_STATUS_NOT_ALLOWED = 5,   /* this machine or user may not profile */
	EXIT_STATUS_NOT_STARTED = 126, /* COMMAND exists but cannot be started */
	EXIT_STATUS_NOT_FOUND = 127,   /* COMMAND does not exist */
};

#endif
