// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Block I/O: the submitter, queue time and service time of each request. */
#include "block_compat.bpf.h"
#include "blockio.bpf.h"
#include "blockio_owner.bpf.h"
#include "blockio_slow.bpf.h"

static __always_inline bool in_interval(void)
{
	return blockio_control.start_ns && !blockio_control.end_ns;
}

static __always_inline void count_in_interval(enum pkbpf_counter counter)
{
	if (in_interval())
		counter_add(counter, 1);
}

/* Returns the submitter that was recorded when the bio was submitted, even if it is no target;
 * NULL: none was recorded. */
static __always_inline const struct submission *submission_announced(__u32 opf, struct bio *bio,
								     __u32 device)
{
	__u64 key = (__u64)bio;

	if ((opf & REQUEST_OP_MASK) == REQUEST_FLUSH && !bio)
		return bpf_map_lookup_elem(&blockio_flushers, &device);
	if (opf & (REQUEST_FLAG(PREFLUSH) | REQUEST_FLAG(FUA)))
		return bpf_map_lookup_elem(&blockio_flush_data, &key);
	return NULL;
}

/* Creates an entry for a request seen for the first time since its allocation. Queued requests of
 * non-targets get an entry as well, because the thread that issues them later is unrelated. */
static __always_inline struct pkbpf_blockio_request *
request_begin(void *ctx, struct request *rq, struct pkbpf_blockio_request *known, bool is_queued,
	      __u64 now_ns)
{
	__u32 opf = rq->cmd_flags, device = request_device(rq);
	struct bio *bio = (void *)kernel_pointer(rq, bio);
	const struct submission *announced = submission_announced(opf, bio, device);
	struct pkbpf_blockio_request fresh = {};
	struct submission submission;
	__u64 key = (__u64)rq;

	/* A worker may issue the request. */
	submission = announced ? *announced : submission_find(ctx, opf, bio, device, now_ns);
	if (known) {
		known->insert_ns = 0;
		known->queue_ns = 0;
		known->bytes = 0;
		known->row = submission.row;
		known->tid = submission.tid;
		return known;
	}
	if (submission.row == PKBPF_BLOCKIO_NO_ROW && !is_queued)
		return NULL;
	fresh.row = submission.row;
	fresh.tid = submission.tid;
	if (bpf_map_update_elem(&blockio_requests, &key, &fresh, BPF_ANY)) {
		counter_add(PKBPF_COUNTER_BLOCKIO_LOST, 1);
		return NULL;
	}
	return bpf_map_lookup_elem(&blockio_requests, &key);
}

/* Ends a request whose completion event was not seen. The time of its end is unknown. */
static __always_inline void request_end_unseen(struct pkbpf_blockio_request *request)
{
	request->insert_ns = request->issue_ns = 0;
	if (request->row == PKBPF_BLOCKIO_NO_ROW)
		return;
	counter_add(PKBPF_COUNTER_BLOCKIO_UNFINISHED, 1);
	row_add_untimed(request->row, request->length);
}

/* Returns whether the request waits in the queue. An entry from before the request's reallocation
 * does not count: nothing reported that it left the queue. */
static __always_inline bool request_is_queued(struct request *rq,
					      const struct pkbpf_blockio_request *request)
{
	return request && request->insert_ns && rq->start_time_ns <= request->insert_ns;
}

/* Ends an entry whose request is finished or whose memory was reused. Without merge events (5.11)
 * it is unknown whether a queued request was completed or merged. */
static __always_inline void request_forget(struct pkbpf_blockio_request *request)
{
	if (request->issue_ns || (request->insert_ns && blockio_config.sees_merges))
		request_end_unseen(request);
	request->insert_ns = 0;
}

/* Before 5.11 (a54895fa057c) the queue was the first argument. */
static __always_inline void *argument_after_queue(__u64 *ctx, bool queue_comes_first)
{
	__u64 argument;

	if (queue_comes_first) {
		argument = ctx[1];
		/* Otherwise the compiler merges both loads into one from a computed address, which
		 * the verifier rejects. */
		barrier_var(argument);
	} else {
		argument = ctx[0];
	}
	return (void *)argument;
}

static __always_inline struct request *request_argument(__u64 *ctx)
{
	return argument_after_queue(ctx, blockio_config.queue_argument);
}

SEC("?tp_btf/block_getrq")
int blockio_flush_wanted(__u64 *ctx)
{
	struct bio *bio = argument_after_queue(ctx, blockio_config.getrq_queue_argument);
	__u32 opf = bio->bi_opf, device;
	struct submission submission;
	__u64 key = (__u64)bio;

	if (!(opf & (REQUEST_FLAG(PREFLUSH) | REQUEST_FLAG(FUA))) || !in_interval())
		return 0;
	device = bio_device(bio);
	if (bio->bi_iter.bi_size) {
		submission = submission_find(ctx, opf, bio, device, bpf_ktime_get_ns());
		bpf_map_update_elem(&blockio_flush_data, &key, &submission, BPF_ANY);
	}
	if (opf & REQUEST_FLAG(PREFLUSH)) {
		submission = submission_find(ctx, REQUEST_FLUSH, bio, device, bpf_ktime_get_ns());
		bpf_map_update_elem(&blockio_flushers, &device, &submission, BPF_ANY);
	}
	return 0;
}

SEC("?tp_btf/block_rq_insert")
int blockio_insert(__u64 *ctx)
{
	struct request *rq = request_argument(ctx);
	struct pkbpf_blockio_request *request;
	__u64 key = (__u64)rq, now_ns;

	if (!in_interval())
		return 0;
	now_ns = bpf_ktime_get_ns();
	request = bpf_map_lookup_elem(&blockio_requests, &key);
	/* Inserted again: after a requeue, or moved between lists. */
	if (request_is_queued(rq, request))
		return 0;
	if (request)
		request_forget(request);
	request = request_begin(ctx, rq, request, true, now_ns);
	if (!request)
		return 0;
	request->issue_ns = 0;
	request->length = rq->__data_len;
	request->insert_ns = now_ns;
	return 0;
}

SEC("?tp_btf/block_rq_issue")
int blockio_issue(__u64 *ctx)
{
	struct request *rq = request_argument(ctx);
	struct pkbpf_blockio_request *request;
	__u64 key = (__u64)rq, now_ns;

	if (!in_interval())
		return 0;
	now_ns = bpf_ktime_get_ns();
	request = bpf_map_lookup_elem(&blockio_requests, &key);
	if (request_is_queued(rq, request)) {
		request->queue_ns += now_ns - request->insert_ns;
		request->insert_ns = 0;
	} else {
		if (request)
			request_forget(request);
		request = request_begin(ctx, rq, request, false, now_ns);
		if (!request)
			return 0;
	}
	request->length = rq->__data_len;
	request->issue_ns = now_ns;
	return 0;
}

/* The device rejected the request, which is back in the queue. */
SEC("?tp_btf/block_rq_requeue")
int blockio_requeue(__u64 *ctx)
{
	__u64 key = (__u64)request_argument(ctx);
	struct pkbpf_blockio_request *request;

	if (!in_interval())
		return 0;
	request = bpf_map_lookup_elem(&blockio_requests, &key);
	if (!request || !request->issue_ns)
		return 0;
	counter_add(PKBPF_COUNTER_BLOCKIO_REQUEUES, 1);
	request->insert_ns = request->issue_ns;
	request->issue_ns = 0;
	return 0;
}

SEC("?tp_btf/block_rq_complete")
int blockio_complete(__u64 *ctx)
{
	struct request *rq = (void *)ctx[0];
	__u32 failed = (__u32)ctx[1], bytes = (__u32)ctx[2];
	struct pkbpf_blockio_request *request;
	__u64 key = (__u64)rq, issue_ns, device_ns, now_ns;

	if (!in_interval())
		return 0;
	request = bpf_map_lookup_elem(&blockio_requests, &key);
	if (!request || !request->issue_ns) {
		__u64 begun_ns = rq->start_time_ns;

		/* The device rejected the request for good before it was issued. */
		if (request_is_queued(rq, request))
			request->insert_ns = 0;
		if (begun_ns && begun_ns < blockio_control.start_ns)
			counter_add(PKBPF_COUNTER_BLOCKIO_BEGUN_BEFORE, 1);
		return 0;
	}
	issue_ns = request->issue_ns;
	/* The completed request was allocated later and was never issued: an empty flush, done by a
	 * request of the device itself. */
	if (rq->start_time_ns > issue_ns) {
		request_end_unseen(request);
		return 0;
	}
	if (failed) {
		/* A failed request takes time but transfers nothing. */
		counter_add(PKBPF_COUNTER_BLOCKIO_ERRORS, 1);
	} else {
		request->bytes += bytes;
		if (bytes < rq->__data_len) {
			counter_add(PKBPF_COUNTER_BLOCKIO_PARTIAL, 1);
			return 0;
		}
	}
	request->issue_ns = 0;
	if (request->row == PKBPF_BLOCKIO_NO_ROW)
		return 0;
	now_ns = bpf_ktime_get_ns();
	device_ns = now_ns > issue_ns ? now_ns - issue_ns : 0;
	row_add(request->row, request->bytes, device_ns, request->queue_ns);
	if (device_ns + request->queue_ns >= blockio_control.slow_ns)
		slow_io_send(rq, request, issue_ns, device_ns, bytes, failed);
	return 0;
}

/* A request merged into another one is neither issued nor completed. */
SEC("?tp_btf/block_rq_merge")
int blockio_merge_request(__u64 *ctx)
{
	__u64 key = (__u64)request_argument(ctx);
	struct pkbpf_blockio_request *request;

	if (!in_interval())
		return 0;
	request = bpf_map_lookup_elem(&blockio_requests, &key);
	if (request)
		request->insert_ns = request->issue_ns = 0;
	counter_add(PKBPF_COUNTER_BLOCKIO_MERGES, 1);
	return 0;
}

SEC("?tp_btf/block_bio_backmerge")
int blockio_merge_back(__u64 *ctx)
{
	count_in_interval(PKBPF_COUNTER_BLOCKIO_MERGES);
	return 0;
}

SEC("?tp_btf/block_bio_frontmerge")
int blockio_merge_front(__u64 *ctx)
{
	count_in_interval(PKBPF_COUNTER_BLOCKIO_MERGES);
	return 0;
}

SEC("?tp_btf/block_split")
int blockio_split(__u64 *ctx)
{
	count_in_interval(PKBPF_COUNTER_BLOCKIO_SPLITS);
	return 0;
}

static __always_inline __u64 request_since(const struct pkbpf_blockio_request *request)
{
	return request->issue_ns ? request->issue_ns : request->insert_ns;
}

/* Forgets a request that is over. Otherwise finished requests without a completion event would be
 * taken to be in flight, unless they were reused. */
static __always_inline void look_at_request(__u64 key, struct pkbpf_blockio_request *request)
{
	__u64 since_ns = request_since(request);

	if (!since_ns || request_is_under_way((struct request *)key, since_ns))
		return;
	/* The completion event came between the two reads; it precedes the release of the
	 * request. */
	if (request_since(request) == since_ns)
		request_forget(request);
}

/* Runs over all requests at the end of the interval. */
SEC("?iter/bpf_map_elem")
int blockio_edge(struct bpf_iter__bpf_map_elem *ctx)
{
	struct pkbpf_blockio_request *request = ctx->value;
	__u64 *key = ctx->key;

	if (key && request)
		look_at_request(*key, request);
	return 0;
}

/* Run by user space for each request, where programs may not run over maps: of the key ctx[0]. */
SEC("?raw_tp")
int blockio_edge_one(__u64 *ctx)
{
	__u64 key = ctx[0];
	struct pkbpf_blockio_request *request = bpf_map_lookup_elem(&blockio_requests, &key);

	if (request)
		look_at_request(key, request);
	return 0;
}
