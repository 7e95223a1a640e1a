/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A slice (profile/slice/slice.h) as the sections of a block, and back. What is written: all that
 * reports and formats read, with names, build ids and the reasons for their lack. What is not:
 * command lines, environments, paths of programs, addresses of the kernel or of memory.
 */
#ifndef PKBPF_RECORDING_SLICE_CODEC_H
#define PKBPF_RECORDING_SLICE_CODEC_H

#include "profile/profile.h"
#include "recording/recording_reader.h"
#include "recording/recording_writer.h"
#include "recording/slice_choice.h"

/* Of a symbolized profile. secret: random, and the same for all slices of a recording; addresses of
 * generated code are hashed with it. -ENOMEM; -EFBIG: larger than a block may be. */
int slice_encode(const struct profile *profile, uint64_t secret,
		 struct recording_sections *ret_sections);
struct recording_span slice_span(const struct profile *profile);

/* The profile that a block holds, or the chosen part of it (choice NULL: all), which the caller
 * frees. -EBADMSG: its contents contradict each other; -ENOTSUP: a part is packed in a way that is
 * not known here; -ENOMEM. */
int slice_decode(const struct recording_block *block, const struct slice_choice *choice,
		 struct profile **ret_slice);

#endif
