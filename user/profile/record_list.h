/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Which function of the aggregator takes a record, one row each: X(kind, function) for
 * PKBPF_EVENT_<kind> and int aggregator_take_<function>(aggregator, record), which returns
 * -EBADMSG, -ENOMEM, or -ENOSPC. Records of other kinds are of resources.
 */
#ifndef PKBPF_PROFILE_RECORD_LIST_H
#define PKBPF_PROFILE_RECORD_LIST_H

#include <pkbpf/alloc.h>
#include <pkbpf/context.h>
#include <pkbpf/gpu_call.h>
#include <pkbpf/lock.h>
#include <pkbpf/memory.h>
#include <pkbpf/network.h>
#include <pkbpf/resource.h>
#include <pkbpf/span.h>
#include <pkbpf/trace.h>

/* A test with a record of its own defines this macro. */
#ifndef RECORDS_OF_TEST
#define RECORDS_OF_TEST(X)
#endif

#define RECORD_LIST(X)                                                                             \
	X(PYTHON_CODE, python_code)                                                                \
	X(RUBY_CODE, ruby_code)                                                                    \
	X(V8_FUNCTION, v8_function)                                                                \
	X(RELATION, relation)                                                                      \
	X(ALLOC, alloc)                                                                            \
	X(FREE, free)                                                                              \
	X(PAGE, memory)                                                                            \
	X(MAPPED, memory)                                                                          \
	X(PRESENT, memory)                                                                         \
	X(RESIDENT, memory)                                                                        \
	X(WAIT, wait)                                                                              \
	X(PEER, peer)                                                                              \
	X(LOCK, lock)                                                                              \
	X(LOCK_PART, lock_part)                                                                    \
	X(DEADLOCK, deadlock)                                                                      \
	X(REGION, region)                                                                          \
	X(REGION_NAME, region_name)                                                                \
	X(SLOW_REGION, slow_region)                                                                \
	X(REGION_GAP, region_gap)                                                                  \
	X(GPU_CALL, gpu_call)                                                                      \
	X(REQUEST, request)                                                                        \
	RECORDS_OF_TEST(X)

#endif
