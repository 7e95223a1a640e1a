/* SPDX-License-Identifier: BSD-2-Clause */
/* Finds the processes that serve ports of this host, in procfs. One owner thread. */
#ifndef PKBPF_PROCESS_RELATION_PORT_OWNERS_H
#define PKBPF_PROCESS_RELATION_PORT_OWNERS_H

#include <stdbool.h>
#include <stdint.h>

struct port_owners;

/* NULL: out of memory. */
struct port_owners *port_owners_new(void);
void port_owners_free(struct port_owners *owners);
/* Adds a port to look for, in the network namespace (its inode number) of a process. */
void port_owners_want(struct port_owners *owners, uint32_t pid, uint32_t net, bool is_udp,
		      uint16_t port);
/* Reads the sockets of these namespaces and the descriptors of all processes, up to a limit. */
void port_owners_look(struct port_owners *owners);
/* 0: unknown. */
uint32_t port_owners_pid(const struct port_owners *owners, uint32_t net, bool is_udp,
			 uint16_t port);

#endif
