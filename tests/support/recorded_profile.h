/* SPDX-License-Identifier: BSD-2-Clause */
/* Profiles written as recordings and read back, in memory. */
#ifndef PKBPF_TEST_RECORDED_PROFILE_H
#define PKBPF_TEST_RECORDED_PROFILE_H

#include "fake_profile.h"
#include "recording/recording_reader.h"
#include "recording/slice_choice.h"

/* Each aborts the test program when something fails that must not. A descriptor of a file in
 * memory, which the caller closes. */
int recorded_file(const void *data, size_t size);
/* One block per profile. */
int recorded_profiles(const struct profile *const *profiles, size_t count);
/* The bytes behind a descriptor; the caller frees them. */
uint8_t *recorded_bytes(int fd, size_t *ret_size);
/* The profile in the block; the caller frees it. */
struct profile *recorded_read(int fd, size_t block, const struct slice_choice *choice);
/* A document of a profile, of the text report the page and all tables; the caller frees it. */
char *recorded_document(const struct profile *profile, const char *format, enum rows_by by,
			enum pkbpf_profile_kind kind, size_t *ret_size);

#endif
