/* SPDX-License-Identifier: BSD-2-Clause */
/* What usually listens on a port. */
#ifndef PKBPF_PROFILE_ACCOUNT_PORT_SERVICE_H
#define PKBPF_PROFILE_ACCOUNT_PORT_SERVICE_H

#include <stdbool.h>
#include <stdint.h>

/* "postgresql"; NULL: nothing in particular. A table of its own: a report says the same on every
 * machine, whatever /etc/services there says. */
const char *port_service(uint16_t port, bool is_udp);

#endif
