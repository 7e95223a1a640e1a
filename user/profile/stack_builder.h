/* SPDX-License-Identifier: BSD-2-Clause */
/* The stacks of samples as the profile keeps them: frames told by file or process, no longer by
 * addresses alone. One owner thread. */
#ifndef PKBPF_PROFILE_STACK_BUILDER_H
#define PKBPF_PROFILE_STACK_BUILDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "event/event_sink.h"
#include "profile/profile.h"

struct stack_builder;

/* NULL: out of memory. The profile is borrowed, and code_history, which may be NULL; frames of a
 * side that is not wanted are left out. */
struct stack_builder *stack_builder_new(struct profile *profile, bool want_kernel, bool want_user,
					struct code_history *code_history);
void stack_builder_free(struct stack_builder *builder);
/* Another profile, in which frames and stacks have the same numbers. */
void stack_builder_set_profile(struct stack_builder *builder, struct profile *profile);
/* The profile's stack of the frames of a sample; UINT32_MAX: out of memory. */
uint32_t stack_builder_add(struct stack_builder *builder, const struct sample_view *sample,
			   const struct process *process);
/*
 * Whether that frame of a user stack follows a call. Not what a signal has interrupted, which is at
 * its next instruction, nor the trampoline between it and the handler, which returns to the first
 * instruction there. after_syscall: as in struct sample_view.
 */
bool stack_builder_is_return_address(const uint64_t *user_ips, size_t count, size_t index,
				     bool after_syscall);
/* The process has mapped that. */
void stack_builder_note_mapping(struct stack_builder *builder, const struct process *process,
				const struct mapping_view *mapping);
/* The mappings of the process have changed: what is remembered of its addresses is void. */
void stack_builder_forget_mappings(struct stack_builder *builder, uint32_t process);
/* The same for all processes and the kernel. */
void stack_builder_forget_frames(struct stack_builder *builder);

#endif
