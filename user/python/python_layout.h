/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Where each version of CPython keeps its structures. Since 3.13 an interpreter publishes most of
 * it itself (_Py_DebugOffsets, at the start of _PyRuntime).
 *
 * Source: offsetof() of the versions' own headers (Include/cpython, Include/internal/pycore_*.h).
 */
#ifndef PKBPF_PYTHON_PYTHON_LAYOUT_H
#define PKBPF_PYTHON_PYTHON_LAYOUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <pkbpf/python.h>

#define PYTHON_VERSION(minor) (0x03000000U | (uint32_t)(minor) << 16) /* as Py_Version */
#define PYTHON_DEBUG_COOKIE   "xdebugpy"
/* Bytes of published offsets that are looked at. */
#define PYTHON_DEBUG_OFFSETS_BYTES 464

/* Layout of 3.8 to 3.15 by Py_Version (0xMMmmppRS); false: unknown version, or before its first
 * release. */
bool python_layout_of(uint32_t version, bool free_threaded, struct pkbpf_python_layout *ret_layout);
/* Layout from the offsets that 3.13 and newer publish at the start of _PyRuntime; missing bytes at
 * the end of `size` are zeros. A version that is not known must have the groups of the newest one
 * that is. -ENOTSUP: its groups fail the checks; -EBADMSG: no such offsets. */
int python_layout_read(const void *offsets, size_t size, struct pkbpf_python_layout *ret_layout);

#endif
