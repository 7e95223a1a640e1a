/* SPDX-License-Identifier: BSD-2-Clause */
/* Marks a parameter that a callback's signature asks for and this callback has no use for. */
#ifndef PKBPF_BASE_UNUSED_H
#define PKBPF_BASE_UNUSED_H

#define _unused_ __attribute__((unused))

#endif
