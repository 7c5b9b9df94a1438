// SPDX-License-Identifier: MIT OR LGPL-2.1-or-later
/*
 * EXIF orientation.  EXIF comes from cameras and editors of every quality, so
 * nothing here refuses: what cannot be read is "upright".
 *
 * CIPA DC-008 (Exif 2.32), section 4.6.4; TIFF 6.0, section 2.
 */
#include "probe.h"

#include <string.h>

#define TAG_ORIENTATION 0x0112
#define TYPE_SHORT 3
#define TYPE_LONG 4
#define ENTRY_BYTES 12

struct exif {
	const uint8_t *p;
	size_t len;
	bool is_little;
};

static uint32_t exif_u16(const struct exif *e, size_t at)
{
	const uint8_t *p = e->p + at;

	return e->is_little ? (uint32_t)p[1] << 8 | p[0] : dlb_be16(p);
}

static uint32_t exif_u32(const struct exif *e, size_t at)
{
	if (!e->is_little)
		return dlb_be32(e->p + at);
	return exif_u16(e, at + 2) << 16 | exif_u16(e, at);
}

/* Cameras write SHORT; Pillow takes LONG as well, so both count */
static uint32_t entry_value(const struct exif *e, size_t at)
{
	uint32_t type = exif_u16(e, at + 2);

	if (exif_u32(e, at + 4) != 1)
		return 0;
	if (type == TYPE_SHORT)
		return exif_u16(e, at + 8);
	return type == TYPE_LONG ? exif_u32(e, at + 8) : 0;
}

uint32_t dlb_exif_orientation(const uint8_t *tiff, size_t len)
{
	struct exif e = { .p = tiff, .len = len };
	uint32_t value = 0, nr;
	size_t at;

	if (len < 8)
		return 1;
	e.is_little = !memcmp(tiff, "II", 2);
	if (!e.is_little && memcmp(tiff, "MM", 2))
		return 1;
	at = exif_u32(&e, 4);
	if (at > len - 2)
		return 1;
	nr = exif_u16(&e, at);
	at += 2;
	for (; nr && len - at >= ENTRY_BYTES; nr--, at += ENTRY_BYTES)
		if (exif_u16(&e, at) == TAG_ORIENTATION)
			value = entry_value(&e, at);
	return value >= 1 && value <= 8 ? value : 1;
}
