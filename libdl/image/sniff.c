// SPDX-License-Identifier: MIT OR LGPL-2.1-or-later
/*
 * What a file is, by its first bytes; its name is not asked.  Signatures are
 * those of the formats' own specifications.  Pure functions, no lock.
 */
#include "probe.h"

#include <string.h>
#include <strings.h>

#include "../base/base.h"

struct signature {
	uint32_t type;
	uint32_t offset;
	uint32_t len;
	const char *bytes;
};

#define SIGNATURE(type, offset, bytes) \
	{ DLBOOST_IMAGE_##type, offset, sizeof(bytes) - 1, bytes }

static const struct signature signatures[] = {
	SIGNATURE(JPEG, 0, "\xff\xd8"),
	SIGNATURE(PNG, 0, "\x89PNG\r\n\x1a\n"),
	SIGNATURE(GIF, 0, "GIF8"),
	SIGNATURE(WEBP, 8, "WEBP"),
	SIGNATURE(TIFF, 0, "II*\0"),
	SIGNATURE(TIFF, 0, "MM\0*"),
	SIGNATURE(TIFF, 0, "II+\0"),
	SIGNATURE(TIFF, 0, "MM\0+"),
	SIGNATURE(HEIF, 4, "ftypheic"),
	SIGNATURE(HEIF, 4, "ftypheix"),
	SIGNATURE(HEIF, 4, "ftyphevc"),
	SIGNATURE(HEIF, 4, "ftypmif1"),
	SIGNATURE(HEIF, 4, "ftypmsf1"),
	SIGNATURE(HEIF, 4, "ftypavif"),
	SIGNATURE(HEIF, 4, "ftypavis"),
	SIGNATURE(JXL, 0, "\xff\x0a"),
	SIGNATURE(JXL, 0, "\0\0\0\x0cJXL \r\n\x87\n"),
	SIGNATURE(JP2, 0, "\0\0\0\x0cjP  \r\n\x87\n"),
	SIGNATURE(JP2, 0, "\xff\x4f\xff\x51"),
	SIGNATURE(PDF, 0, "%PDF-"),
	SIGNATURE(ZIP, 0, "PK\x03\x04"),
	SIGNATURE(ZIP, 0, "PK\x05\x06"),
	SIGNATURE(GZIP, 0, "\x1f\x8b"),
	SIGNATURE(TAR, 257, "ustar"),
};

static bool has_signature(const struct signature *s, const uint8_t *bytes,
			  size_t len)
{
	if (len < s->offset || len - s->offset < s->len)
		return false;
	if (s->type == DLBOOST_IMAGE_WEBP && memcmp(bytes, "RIFF", 4))
		return false;
	return !memcmp(bytes + s->offset, s->bytes, s->len);
}

/* "BM" alone is two letters; the size of the second header decides */
static bool is_bmp(const uint8_t *bytes, size_t len)
{
	static const uint8_t sizes[] = { 12, 40, 52, 56, 64, 108, 124 };

	if (len < 18 || memcmp(bytes, "BM", 2) || bytes[15] || bytes[16] ||
	    bytes[17])
		return false;
	return memchr(sizes, bytes[14], sizeof(sizes));
}

/* Text as people write it: no control characters, UTF-8 or Latin */
static bool is_text(const uint8_t *bytes, size_t len)
{
	size_t nr_high = 0;

	if (len > 512)
		len = 512;
	for (size_t i = 0; i < len; i++) {
		if (bytes[i] >= 0x80)
			nr_high++;
		else if ((bytes[i] < 0x20 && !strchr("\t\n\r\f", bytes[i])) ||
			 bytes[i] == 0x7f || !bytes[i])
			return false;
	}
	return len >= 4 && nr_high <= len / 4;
}

static bool starts_with(const uint8_t *bytes, size_t len, const char *word)
{
	size_t n = strlen(word);

	return len >= n && !strncasecmp((const char *)bytes, word, n);
}

static uint32_t sniff_text(const uint8_t *bytes, size_t len)
{
	static const char *const html[] = {
		"<!doctype html", "<html", "<head", "<body", "<script", "<title",
	};
	size_t i = len >= 3 && !memcmp(bytes, "\xef\xbb\xbf", 3) ? 3 : 0;

	if (!is_text(bytes + i, len - i))
		return DLBOOST_IMAGE_UNKNOWN;
	while (i < len && strchr(" \t\r\n", bytes[i]))
		i++;
	for (size_t h = 0; h < ARRAY_SIZE(html); h++)
		if (starts_with(bytes + i, len - i, html[h]))
			return DLBOOST_IMAGE_HTML;
	if (starts_with(bytes + i, len - i, "<?xml") ||
	    starts_with(bytes + i, len - i, "<svg"))
		return DLBOOST_IMAGE_XML;
	return DLBOOST_IMAGE_TEXT;
}

uint32_t dlb_sniff(const uint8_t *bytes, size_t len)
{
	if (!len)
		return DLBOOST_IMAGE_EMPTY;
	for (size_t i = 0; i < ARRAY_SIZE(signatures); i++)
		if (has_signature(&signatures[i], bytes, len))
			return signatures[i].type;
	if (is_bmp(bytes, len))
		return DLBOOST_IMAGE_BMP;
	return sniff_text(bytes, len);
}

DLB_EXPORT const char *dlboost_image_type_name(unsigned int type)
{
	static const char *const names[] = {
		"unknown", "JPEG", "PNG", "GIF", "WebP", "BMP", "TIFF", "HEIF",
		"JPEG XL", "JPEG 2000", "PDF", "HTML", "XML", "ZIP", "gzip",
		"tar", "text", "empty",
	};

	return type < ARRAY_SIZE(names) ? names[type] : names[0];
}

/* A JPEG behind a mail header, a byte order mark, ...; 0 for none */
static size_t jpeg_behind(const uint8_t *bytes, size_t len)
{
	for (size_t i = 1; i < 4096 && len >= 3 && i < len - 2; i++)
		if (bytes[i] == 0xff && bytes[i + 1] == 0xd8 &&
		    bytes[i + 2] == 0xff)
			return i;
	return 0;
}

static const char *sniff_remedy(uint32_t type, const uint8_t *bytes, size_t len)
{
	switch (type) {
	case DLBOOST_IMAGE_HTML:
	case DLBOOST_IMAGE_XML:
		return "an answer of a web server, perhaps: fetch the picture again";
	case DLBOOST_IMAGE_TEXT:
		if (starts_with(bytes, len, "version https://git-lfs"))
			return "a Git LFS pointer: run \"git lfs pull\"";
		return "fetch the picture again";
	case DLBOOST_IMAGE_ZIP:
	case DLBOOST_IMAGE_GZIP:
	case DLBOOST_IMAGE_TAR:
		return "unpack it first";
	default:
		return "convert it to JPEG or PNG";
	}
}

unsigned int dlb_sniff_refuse(uint32_t type, const uint8_t *bytes, size_t len,
			      struct dlboost_result *result)
{
	const unsigned int status = DLBOOST_STATUS_NOT_AN_IMAGE;
	size_t behind = jpeg_behind(bytes, len);

	if (type == DLBOOST_IMAGE_EMPTY)
		return dlb_probe_fail(result, status, 0,
				      "the file is empty: copy it again from its source");
	if (behind && (type == DLBOOST_IMAGE_UNKNOWN ||
		       type == DLBOOST_IMAGE_TEXT))
		return dlb_probe_fail(result, status, 0,
				      "no JPEG or PNG; a JPEG begins behind %zu other bytes: remove them",
				      behind);
	if (type == DLBOOST_IMAGE_UNKNOWN)
		return dlb_probe_fail(result, status, 0,
				      "no JPEG or PNG, nor another known kind of file");
	return dlb_probe_fail(result, status, 0,
			      "%s data, not JPEG or PNG: %s",
			      dlboost_image_type_name(type),
			      sniff_remedy(type, bytes, len));
}
