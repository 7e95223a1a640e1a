// SPDX-License-Identifier: BSD-2-Clause
// cflags: -O2 -fomit-frame-pointer
/* The same, among so much undescribed code that it is read only when somebody comes to it. */
#define FILLER_BYTES "400 << 10"
#include "assembly.c"
