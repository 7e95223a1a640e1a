// SPDX-License-Identifier: BSD-2-Clause
#include "push/gzip_body.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <zlib.h>

#define GZIP_HEADER 16 /* of window bits */

int gzip_body(const char *text, size_t size, char **ret_body, size_t *ret_size)
{
	z_stream stream = {0};
	char *body;
	int result;
	uLong most;

	if (size > UINT32_MAX / 2 ||
	    deflateInit2(&stream, Z_BEST_SPEED, Z_DEFLATED, MAX_WBITS + GZIP_HEADER, 8,
			 Z_DEFAULT_STRATEGY) != Z_OK)
		return -ENOMEM;
	most = deflateBound(&stream, size);
	body = malloc(most);
	stream.next_in = (Bytef *)(uintptr_t)text;
	stream.avail_in = (uInt)size;
	stream.next_out = (Bytef *)body;
	stream.avail_out = (uInt)most;
	result = body ? deflate(&stream, Z_FINISH) : Z_MEM_ERROR;
	*ret_size = stream.total_out;
	deflateEnd(&stream);
	if (result != Z_STREAM_END) {
		free(body);
		return -ENOMEM;
	}
	*ret_body = body;
	return 0;
}
