/* SPDX-License-Identifier: BSD-2-Clause */
/* What threads wait for, in words. */
#ifndef PKBPF_PROFILE_ACCOUNT_WAIT_STATE_H
#define PKBPF_PROFILE_ACCOUNT_WAIT_STATE_H

#include <stdint.h>

#include <pkbpf/offcpu.h>

/* "sleep", as in the frame "[sleep]"; never NULL. A number from a recording may be anything. */
const char *wait_state_name(uint8_t state);

#endif
