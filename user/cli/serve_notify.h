/* SPDX-License-Identifier: BSD-2-Clause */
/* Tells systemd how the service is. */
#ifndef PKBPF_CLI_SERVE_NOTIFY_H
#define PKBPF_CLI_SERVE_NOTIFY_H

/* For Type=notify: "READY=1" and the like. Nothing happens where nobody listens. */
void serve_notify(const char *state);

#endif
