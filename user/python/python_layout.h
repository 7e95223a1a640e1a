/* SPDX-License-Identifier: BSD-2-Clause */
/* Where each version of CPython keeps its structures. */
#ifndef PKBPF_PYTHON_PYTHON_LAYOUT_H
#define PKBPF_PYTHON_PYTHON_LAYOUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <pkbpf/python.h>

/* Layout of 3.8 to 3.15 by Py_Version (0xMMmmppRS); false: unknown version. */
bool python_layout_of(uint32_t version, bool free_threaded, struct pkbpf_python_layout *ret_layout);
/* Layout from the offsets that 3.13 and newer publish at the start of _PyRuntime. -ENOTSUP: an
 * unknown version whose groups fail the checks; -EBADMSG: no such offsets. */
int python_layout_read(const void *offsets, size_t size, struct pkbpf_python_layout *ret_layout);

#endif
