/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A busy machine on paper: a database that waits for its disk, a script that grows, a web server
 * that waits for a CPU, a storm of short processes, a name that is an attack, and an idle process.
 */
#ifndef PKBPF_TEST_ACCOUNT_SCENARIO_H
#define PKBPF_TEST_ACCOUNT_SCENARIO_H

#include "account_machine.h"

#define ACCOUNT_SHORT_LIVED 600
#define ACCOUNT_HOSTILE	    "=\"a\",\x1b[2J\n<b>"

/* Ends with fake_profile_done(). */
void account_scenario_init(struct fake_profile *fake);

#endif
