/* SPDX-License-Identifier: BSD-2-Clause */
/* Takes all rights from the calling process, for good; private to this folder. */
#ifndef PKBPF_READER_READER_JAIL_H
#define PKBPF_READER_READER_JAIL_H

/* A sanitizer that finds something opens files to say where, and counts of lines go to files:
 * there, readers may open what anybody may, and take more memory. Such builds are for tests. */
#if defined(PKBPF_COVERAGE) || defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define READER_IS_SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define READER_IS_SANITIZED 1
#endif
#endif

/* The keeper's part: no capability but those that end readers and change their user; no new
 * privileges, no core dumps. Negative errno. */
int reader_jail_guard(void);
/* Another user than root, an id that nobody has, where the keeper may end processes of others; no
 * capability, no new privileges, no core dumps, nothing for other processes of that user to look
 * into. Negative errno: it still has rights. */
int reader_jail_drop(void);
/* From now on, system calls fail with EPERM but those that read from open files, take memory and
 * answer, where the kernel can do that; memory, CPU time, files and their sizes are limited.
 * Negative errno. */
int reader_jail_close(void);

#endif
