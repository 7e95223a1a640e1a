/* SPDX-License-Identifier: BSD-2-Clause */
/* Texts of wait states. */
#ifndef PKBPF_PROFILE_ACCOUNT_WAIT_STATE_H
#define PKBPF_PROFILE_ACCOUNT_WAIT_STATE_H

#include <stdint.h>

#include <pkbpf/offcpu.h>

/* "sleep", as in the frame "[sleep]"; never NULL. A state from a recording may have any value. */
const char *wait_state_name(uint8_t state);

#endif
