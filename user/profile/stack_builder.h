/* SPDX-License-Identifier: BSD-2-Clause */
/* Builds the stacks of a profile: frames are identified by file or process, not only by address.
 * One owner thread. */
#ifndef PKBPF_PROFILE_STACK_BUILDER_H
#define PKBPF_PROFILE_STACK_BUILDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "event/event_sink.h"
#include "profile/profile.h"

struct python_functions;
struct stack_builder;

/* NULL: out of memory. profile and code_history (may be NULL) are borrowed. Frames of an
 * unwanted side are left out. */
struct stack_builder *stack_builder_new(struct profile *profile, bool want_kernel, bool want_user,
					struct code_history *code_history);
/* Names Python frames by these functions (borrowed). full: keep the native frames that run them,
 * otherwise Python frames replace those. */
void stack_builder_use_python(struct stack_builder *builder, const struct python_functions *python,
			      bool full);
/* See struct aggregator_options. NULL: none. */
struct own_code;
void stack_builder_use_own_code(struct stack_builder *builder, const struct own_code *own_code);
/* Stacks in a region begin with a frame for it and for those around it; names: borrowed. */
struct region_names;
void stack_builder_use_regions(struct stack_builder *builder, const struct region_names *names);
void stack_builder_free(struct stack_builder *builder);
/* Switches to another profile with the same numbers of frames and stacks. */
void stack_builder_set_profile(struct stack_builder *builder, struct profile *profile);
/* Adds the frames of a sample as a stack of the profile; UINT32_MAX: out of memory. */
uint32_t stack_builder_add(struct stack_builder *builder, const struct sample_view *sample,
			   const struct process *process);
/* True when a frame of the stack that was added last is in generated code. */
bool stack_builder_has_generated(const struct stack_builder *builder);
/* A stack of the profile as of that time: other code may have replaced generated code since.
 * UINT32_MAX: out of memory. */
uint32_t stack_builder_read_again(struct stack_builder *builder, uint32_t stack, uint64_t time_ns);
/* True when this frame of a user stack follows a call. False for the frame that a signal
 * interrupted (its address is the next instruction), and for the trampoline between it and the
 * handler (the handler returns to its first instruction). after_syscall: as in struct
 * sample_view. */
bool stack_builder_is_return_address(const uint64_t *user_ips, size_t count, size_t index,
				     bool after_syscall);
/* Notes a new mapping of the process. */
void stack_builder_note_mapping(struct stack_builder *builder, const struct process *process,
				const struct mapping_view *mapping);
/* Forgets cached addresses of the process: its mappings have changed. */
void stack_builder_forget_mappings(struct stack_builder *builder, uint32_t process);
/* The same for all processes and the kernel. */
void stack_builder_forget_frames(struct stack_builder *builder);

#endif
