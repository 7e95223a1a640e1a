/* SPDX-License-Identifier: BSD-2-Clause */
/* Namespaces of this process: namespaces(7). */
#ifndef PKBPF_CAPTURE_KERNEL_NAMESPACE_H
#define PKBPF_CAPTURE_KERNEL_NAMESPACE_H

#include <stdbool.h>
#include <sys/types.h>

/* Inode of the initial user namespace: include/linux/proc_ns.h, part of the ABI since 3.8. */
#define NAMESPACE_INITIAL_USER 0xEFFFFFFDU
/* Another user namespace, as part of a message. */
#define NAMESPACE_OTHER_USER                                                                       \
	"in a user namespace (a rootless container), where root has no rights in the kernel; run " \
	"on the host with sudo"

/* True in the kernel's own namespace of a type ("user"), whose inode is `initial`; false also where
 * /proc cannot be read. root: "" for the live system; tests give a directory that contains proc/.
 */
bool namespace_is_initial(const char *root, const char *type, ino_t initial);

#endif
