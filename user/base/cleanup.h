/* SPDX-License-Identifier: BSD-2-Clause */
/* Scope cleanup for locals: the destructor runs when the variable leaves its scope. */
#ifndef PKBPF_BASE_CLEANUP_H
#define PKBPF_BASE_CLEANUP_H

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define _cleanup_(destructor) __attribute__((cleanup(destructor)))

/* Defines name_cleanup() for a type whose destructor takes the pointer and accepts NULL. */
#define DEFINE_CLEANUP(type, destructor)                                                           \
	static inline void destructor##_cleanup(type *pointer)                                     \
	{                                                                                          \
		if (*pointer)                                                                      \
			destructor(*pointer);                                                      \
	}

static inline void free_cleanup(void *pointer)
{
	free(*(void **)pointer);
}

static inline void close_cleanup(int *fd)
{
	if (*fd >= 0)
		close(*fd);
}

static inline void fclose_cleanup(FILE **file)
{
	if (*file)
		fclose(*file);
}

#define _cleanup_free_	 _cleanup_(free_cleanup)
#define _cleanup_close_	 _cleanup_(close_cleanup)
#define _cleanup_fclose_ _cleanup_(fclose_cleanup)

/* Hands the value out of its scope and disarms the cleanup. */
#define take_pointer(pointer)                                                                      \
	({                                                                                         \
		__typeof__(pointer) taken_ = (pointer);                                            \
		(pointer) = NULL;                                                                  \
		taken_;                                                                            \
	})

#define take_fd(fd)                                                                                \
	({                                                                                         \
		int taken_ = (fd);                                                                 \
		(fd) = -1;                                                                         \
		taken_;                                                                            \
	})

#endif
