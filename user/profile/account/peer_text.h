/* SPDX-License-Identifier: BSD-2-Clause */
/* Names of peers for people. */
#ifndef PKBPF_PROFILE_ACCOUNT_PEER_TEXT_H
#define PKBPF_PROFILE_ACCOUNT_PEER_TEXT_H

#include "profile/account/peer_table.h"

#define PEER_TEXT_SIZE 192

/* "tcp 10.0.0.7:5432", "unix /run/x.sock", "tcp :80 from 10.0.0.9". Not escaped. peer NULL:
 * "unknown". */
char *peer_text_plain(char buffer[PEER_TEXT_SIZE], const struct peer *peer);
/* With the process at the other end, or what usually listens there: "tcp 10.0.0.7:5432 (postgres)",
 * "tcp 10.0.0.7:5432 (postgresql?)". */
char *peer_text(char buffer[PEER_TEXT_SIZE], const struct peer *peer);
/* "10.0.0.7"; "" of UNIX sockets and of servers without a single peer. */
char *peer_address(char buffer[PEER_TEXT_SIZE], const struct peer *peer);
/* What usually listens on the port of a server; NULL: unknown. */
const char *peer_service(const struct peer *peer);
/* "tcp", "udp", "unix", "unix datagram", "other" */
const char *peer_protocol(const struct peer *peer);
/* Of the process that has the peer: "client", "server", "unknown" */
const char *peer_role(const struct peer *peer);
/* 0: it has none */
uint32_t peer_port(const struct peer *peer);

#endif
