// SPDX-License-Identifier: BSD-2-Clause
/* Copies of blobs; debug information is one allocation that begins with the metadata. */
#include "hotspot/hotspot_blob.h"

#include <stdlib.h>
#include <string.h>

void hotspot_blob_free(struct hotspot_blob *blob)
{
	if (!blob)
		return;
	free((void *)(uintptr_t)blob->metadata);
	free(blob);
}

struct hotspot_blob *hotspot_blob_copy(const struct hotspot_blob *blob)
{
	size_t metadata = blob->metadata_count * sizeof(*blob->metadata);
	size_t pcs = blob->pc_count * sizeof(*blob->pcs);
	struct hotspot_blob *copy = malloc(sizeof(*copy));
	uint8_t *bytes = malloc(metadata + pcs + blob->scopes_size + 1);

	if (!copy || !bytes) {
		free(copy);
		free(bytes);
		return NULL;
	}
	*copy = *blob;
	copy->code = NULL;
	copy->user = NULL;
	if (blob->metadata) {
		memcpy(bytes, blob->metadata, metadata);
		memcpy(bytes + metadata, blob->pcs, pcs);
		memcpy(bytes + metadata + pcs, blob->scopes, blob->scopes_size);
	}
	copy->metadata = (const uint64_t *)(void *)bytes;
	copy->pcs = (const struct hotspot_pc *)(void *)(bytes + metadata);
	copy->scopes = bytes + metadata + pcs;
	return copy;
}
