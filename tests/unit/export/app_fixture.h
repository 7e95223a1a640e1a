/* SPDX-License-Identifier: BSD-2-Clause */
/* A machine with one process, 100, that runs APP. */
#ifndef PKBPF_TEST_APP_FIXTURE_H
#define PKBPF_TEST_APP_FIXTURE_H

#include "fake_profile.h"

#define APP "/usr/bin/app"

struct fixture {
	struct fake_machine *machine;
	struct fake_profile fake;
};

static int setup(void **state)
{
	static struct fixture fixture;

	fixture.machine = fake_machine_new();
	fake_profile_init(&fixture.fake, NULL);
	fake_process(fixture.machine, 100, 1, "app");
	fake_map(fixture.machine, 100, 0x401000, 0x410000, 0x1000, APP);
	*state = &fixture;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *fixture = *state;

	fake_machine_free(fixture->machine);
	fake_profile_done(&fixture->fake);
	return 0;
}

#endif
