// SPDX-License-Identifier: MIT OR LGPL-2.1-or-later
/*
 * Promises (<dlboost/image.h>, dlboost_probe(); Documentation/errors.rst,
 * "Classes"): a file is known by its first bytes and named with a remedy; the
 * header's fields are read; the coding process is judged from SOF; malformed
 * EXIF means upright; a cut header is CORRUPT; nothing outside the buffer is
 * read (the buffers here are exactly as long as the file).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "decode_util.h"
#include "image/probe.h"

static struct dlboost_image_info info;
static struct dlboost_result result;

/* A copy without a byte to spare, so that sanitizers see an overrun */
static unsigned int probe(const void *bytes, size_t len)
{
	uint8_t *copy = malloc(len ? len : 1);
	unsigned int status;

	memcpy(copy, bytes, len);
	status = dlboost_probe(len ? copy : NULL, len, NULL, &info, &result);
	free(copy);
	assert_int_equal(status, result.status);
	assert_true(!status || result.message[0]);
	return status;
}

static void kinds_of_file(void **state)
{
	static const struct {
		const char *bytes;
		size_t len;
		uint32_t type;
		const char *word;
	} files[] = {
		{ "GIF89a\1\0\1\0", 10, DLBOOST_IMAGE_GIF, "GIF" },
		{ "RIFF\x24\0\0\0WEBPVP8 ", 16, DLBOOST_IMAGE_WEBP, "WebP" },
		{ "BM\x46\0\0\0\0\0\0\0\x36\0\0\0\x28\0\0\0", 18,
		  DLBOOST_IMAGE_BMP, "BMP" },
		{ "II*\0\x08\0\0\0", 8, DLBOOST_IMAGE_TIFF, "TIFF" },
		{ "MM\0*\0\0\0\x08", 8, DLBOOST_IMAGE_TIFF, "TIFF" },
		{ "\0\0\0\x18" "ftypheic\0\0\0\0", 16, DLBOOST_IMAGE_HEIF,
		  "HEIF" },
		{ "\0\0\0\x1c" "ftypavif\0\0\0\0", 16, DLBOOST_IMAGE_HEIF,
		  "HEIF" },
		{ "\xff\x0a\x00\x10", 4, DLBOOST_IMAGE_JXL, "JPEG XL" },
		{ "\0\0\0\x0cjP  \r\n\x87\n", 12, DLBOOST_IMAGE_JP2,
		  "JPEG 2000" },
		{ "%PDF-1.4\n", 9, DLBOOST_IMAGE_PDF, "PDF" },
		{ "<!DOCTYPE html><html>", 21, DLBOOST_IMAGE_HTML,
		  "web server" },
		{ "\xef\xbb\xbf \r\n<HtMl>", 12, DLBOOST_IMAGE_HTML, "HTML" },
		{ "<?xml version=\"1.0\"?>", 21, DLBOOST_IMAGE_XML, "XML" },
		{ "<svg xmlns=\"x\"/>", 16, DLBOOST_IMAGE_XML, "XML" },
		{ "PK\3\4\x14\0", 6, DLBOOST_IMAGE_ZIP, "unpack" },
		{ "\x1f\x8b\x08\0", 4, DLBOOST_IMAGE_GZIP, "unpack" },
		{ "version https://git-lfs.github.com/spec/v1\n", 43,
		  DLBOOST_IMAGE_TEXT, "git lfs pull" },
		{ "404 page not found", 18, DLBOOST_IMAGE_TEXT, "text" },
		{ "", 0, DLBOOST_IMAGE_EMPTY, "empty" },
		{ "\xff", 1, DLBOOST_IMAGE_UNKNOWN, "no JPEG" },
		{ "\0\1\2\3\4\5\6\7", 8, DLBOOST_IMAGE_UNKNOWN, "no JPEG" },
		{ "BMW drives on", 13, DLBOOST_IMAGE_TEXT, "text" },
		{ "RIFF\x24\0\0\0WAVEfmt ", 16, DLBOOST_IMAGE_UNKNOWN,
		  "no JPEG" },
		{ "\xef\xbb\xbf\xff\xd8\xff\xe0\0\x10", 9,
		  DLBOOST_IMAGE_UNKNOWN, "behind 3 other bytes" },
		{ "HTTP/1.1 200 OK\r\n\r\n\xff\xd8\xff\xe0\0\x10JFIF", 29,
		  DLBOOST_IMAGE_UNKNOWN, "behind 19 other bytes" },
	};

	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		assert_int_equal(probe(files[i].bytes, files[i].len),
				 DLBOOST_STATUS_NOT_AN_IMAGE);
		if (info.type != files[i].type ||
		    !strstr(result.message, files[i].word))
			fail_msg("file %zu: %s, \"%s\"", i,
				 dlboost_image_type_name(info.type),
				 result.message);
	}
}

static void tar_by_its_magic(void **state)
{
	uint8_t tar[512] = { 'a', '.', 'j', 'p', 'g' };

	memcpy(tar + 257, "ustar\0" "00", 8);
	assert_int_equal(probe(tar, 512), DLBOOST_STATUS_NOT_AN_IMAGE);
	assert_int_equal(info.type, DLBOOST_IMAGE_TAR);
}

static void header_of_a_jpeg(void **state)
{
	struct make how = {
		.width = 301, .height = 203, .restart = 7,
		.sampling = { 0x21, 0x11, 0x11 },
		.coding = CODING_ARITHMETIC_PROGRESSIVE,
	};
	struct blob file = make_jpeg(&how);

	assert_int_equal(probe(file.bytes, file.len), DLBOOST_STATUS_OK);
	assert_int_equal(info.type, DLBOOST_IMAGE_JPEG);
	assert_int_equal(info.width, 301);
	assert_int_equal(info.height, 203);
	assert_int_equal(info.components, 3);
	assert_int_equal(info.precision_bits, 8);
	assert_int_equal(info.sof, 0xca);
	assert_int_equal(info.sampling[0], 0x21);
	assert_int_equal(info.sampling[1], 0x11);
	assert_int_equal(info.orientation, 1);
	assert_int_equal(info.restart_interval, 7);
	assert_int_equal(info.is_progressive, 1);
	assert_int_equal(info.is_arithmetic, 1);
	assert_int_equal(info.adobe_transform, -1);
	assert_string_equal(result.message, "");
	free(file.bytes);
	how = (struct make){ .width = 8, .height = 8, .components = 4,
			     .space = JCS_YCCK };
	file = make_jpeg(&how);
	assert_int_equal(probe(file.bytes, file.len), DLBOOST_STATUS_OK);
	assert_int_equal(info.adobe_transform, 2);
	assert_int_equal(info.components, 4);
	assert_int_equal(info.sof, 0xc0);
	free(file.bytes);
}

static size_t find_marker(const struct blob *file, int low, int high)
{
	for (size_t i = 2; i + 1 < file->len; i++)
		if (file->bytes[i] == 0xff && file->bytes[i + 1] >= low &&
		    file->bytes[i + 1] <= high)
			return i;
	return 0;
}

/* libjpeg's rule: JFIF says YCbCr, else Adobe decides, else the ids do */
static void rgb_is_told_from_ycbcr(void **state)
{
	struct make how = { .width = 8, .height = 8, .components = 3,
			    .space = JCS_RGB };
	struct blob file = make_jpeg(&how);
	size_t at = find_marker(&file, 0xee, 0xee);

	assert_int_equal(probe(file.bytes, file.len), DLBOOST_STATUS_OK);
	assert_int_equal(info.adobe_transform, 0);
	assert_int_equal(info.is_rgb, 1);
	/* Adobe's word for YCbCr */
	file.bytes[at + 15] = 1;
	assert_int_equal(probe(file.bytes, file.len), DLBOOST_STATUS_OK);
	assert_int_equal(info.is_rgb, 0);
	/* No Adobe marker: ids R, G, B */
	file.bytes[at + 1] = 0xed;
	assert_int_equal(probe(file.bytes, file.len), DLBOOST_STATUS_OK);
	assert_int_equal(info.adobe_transform, -1);
	assert_int_equal(info.is_rgb, 1);
	at = find_marker(&file, 0xc0, 0xc0);
	file.bytes[at + 10] = 1;
	assert_int_equal(probe(file.bytes, file.len), DLBOOST_STATUS_OK);
	assert_int_equal(info.is_rgb, 0);
	free(file.bytes);
	/* JFIF, whatever the ids */
	how.space = JCS_YCbCr;
	file = make_jpeg(&how);
	at = find_marker(&file, 0xc0, 0xc0);
	file.bytes[at + 10] = 'R';
	file.bytes[at + 13] = 'G';
	file.bytes[at + 16] = 'B';
	assert_int_equal(probe(file.bytes, file.len), DLBOOST_STATUS_OK);
	assert_int_equal(info.is_rgb, 0);
	free(file.bytes);
}

static void process_is_judged_from_sof(void **state)
{
	struct make how = { .width = 16, .height = 16 };
	struct blob file = make_jpeg(&how);
	size_t sof = find_marker(&file, 0xc0, 0xc3);
	static const uint8_t taken[] = { 0xc0, 0xc1, 0xc2, 0xc9, 0xca };

	for (int marker = 0xc0; marker <= 0xcf; marker++) {
		unsigned int want = DLBOOST_STATUS_UNSUPPORTED;

		if (marker == 0xc4 || marker == 0xcc)
			continue;
		if (memchr(taken, marker, sizeof(taken)))
			want = DLBOOST_STATUS_OK;
		file.bytes[sof + 1] = (uint8_t)marker;
		assert_int_equal(probe(file.bytes, file.len), want);
	}
	file.bytes[sof + 1] = 0xc1;
	file.bytes[sof + 4] = 12;
	assert_int_equal(probe(file.bytes, file.len),
			 DLBOOST_STATUS_UNSUPPORTED);
	assert_non_null(strstr(result.message, "12 bits"));
	file.bytes[sof + 4] = 8;
	memset(file.bytes + sof + 5, 0, 2);
	assert_int_equal(probe(file.bytes, file.len), DLBOOST_STATUS_CORRUPT);
	free(file.bytes);
}

static void components_and_sampling(void **state)
{
	struct make how = { .width = 16, .height = 16 };
	struct blob file = make_jpeg(&how);
	size_t sof = find_marker(&file, 0xc0, 0xc0);
	uint8_t *luma = file.bytes + sof + 11, *cb = luma + 3;

	*luma = 0x32;
	*cb = 0x22;
	assert_int_equal(probe(file.bytes, file.len),
			 DLBOOST_STATUS_UNSUPPORTED);
	assert_non_null(strstr(result.message, "fractional"));
	*luma = 0x22;
	assert_int_equal(probe(file.bytes, file.len), DLBOOST_STATUS_OK);
	*luma = 0x05;
	assert_int_equal(probe(file.bytes, file.len), DLBOOST_STATUS_CORRUPT);
	*luma = 0x11;
	/* Two components: the third becomes another segment's length short */
	file.bytes[sof + 9] = 2;
	file.bytes[sof + 3] = 14;
	assert_int_equal(probe(file.bytes, file.len),
			 DLBOOST_STATUS_UNSUPPORTED);
	assert_non_null(strstr(result.message, "2 colour components"));
	free(file.bytes);
}

static void cut_headers(void **state)
{
	struct make how = { .width = 16, .height = 16 };
	struct blob file = make_jpeg(&how);
	size_t sof = find_marker(&file, 0xc0, 0xc0);

	for (size_t len = 2; len < sof + 4; len++)
		assert_int_equal(probe(file.bytes, len),
				 DLBOOST_STATUS_CORRUPT);
	/* The head up to the frame header is enough */
	assert_int_equal(probe(file.bytes, sof + 19), DLBOOST_STATUS_OK);
	assert_int_equal(info.width, 16);
	for (size_t len = sof + 19; len < file.len; len++)
		assert_int_equal(probe(file.bytes, len), DLBOOST_STATUS_OK);
	free(file.bytes);
}

static uint32_t orientation_of(const char *tiff, size_t len)
{
	uint8_t *copy = malloc(len);
	uint32_t value;

	memcpy(copy, tiff, len);
	value = dlb_exif_orientation(copy, len);
	free(copy);
	return value;
}

#define ORIENTATION(tiff) orientation_of(tiff, sizeof(tiff) - 1)
#define ENTRY(type, count, value) \
	"MM\0*\0\0\0\x08\0\1\1\x12\0" type "\0\0\0" count value "\0\0\0\0"

static void malformed_exif_is_upright(void **state)
{
	assert_int_equal(ORIENTATION(ENTRY("\3", "\1", "\0\6\0\0")), 6);
	assert_int_equal(ORIENTATION(ENTRY("\4", "\1", "\0\0\0\6")), 6);
	assert_int_equal(ORIENTATION("II*\0\x08\0\0\0\1\0\x12\1\3\0\1\0\0\0"
				     "\x08\0\0\0"), 8);
	assert_int_equal(ORIENTATION(ENTRY("\3", "\1", "\0\x09\0\0")), 1);
	assert_int_equal(ORIENTATION(ENTRY("\3", "\1", "\0\0\0\0")), 1);
	assert_int_equal(ORIENTATION(ENTRY("\3", "\2", "\0\6\0\6")), 1);
	assert_int_equal(ORIENTATION(ENTRY("\2", "\1", "\0\6\0\0")), 1);
	assert_int_equal(ORIENTATION("MM\0*\xff\xff\xff\xff\0\0"), 1);
	assert_int_equal(ORIENTATION("MM\0*\0\0\0\x08\xff\xff"), 1);
	assert_int_equal(ORIENTATION("MM\0*\0\0\0\x06"), 1);
	assert_int_equal(ORIENTATION("MM\0*\0\0"), 1);
	assert_int_equal(ORIENTATION("XX\0*\0\0\0\x08\0\1"), 1);
	assert_int_equal(ORIENTATION(""), 1);
}

static void header_of_a_png(void **state)
{
	struct blob file = make_png(31, 17, 6, 8, true, 1);

	assert_int_equal(probe(file.bytes, file.len), DLBOOST_STATUS_OK);
	assert_int_equal(info.type, DLBOOST_IMAGE_PNG);
	assert_int_equal(info.width, 31);
	assert_int_equal(info.height, 17);
	assert_int_equal(info.components, 4);
	assert_int_equal(info.precision_bits, 8);
	assert_int_equal(info.is_interlaced, 1);
	assert_int_equal(info.sof, 0);
	for (size_t len = 8; len < 33; len++)
		assert_int_equal(probe(file.bytes, len),
				 DLBOOST_STATUS_TRUNCATED);
	assert_int_equal(probe(file.bytes, 33), DLBOOST_STATUS_OK);
	file.bytes[24] = 16;
	assert_int_equal(probe(file.bytes, file.len),
			 DLBOOST_STATUS_UNSUPPORTED);
	file.bytes[24] = 3;
	assert_int_equal(probe(file.bytes, file.len), DLBOOST_STATUS_CORRUPT);
	free(file.bytes);
}

static void names_of_types(void **state)
{
	assert_string_equal(dlboost_image_type_name(DLBOOST_IMAGE_JPEG),
			    "JPEG");
	assert_string_equal(dlboost_image_type_name(DLBOOST_IMAGE_EMPTY),
			    "empty");
	assert_string_equal(dlboost_image_type_name(99), "unknown");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(kinds_of_file),
		cmocka_unit_test(tar_by_its_magic),
		cmocka_unit_test(header_of_a_jpeg),
		cmocka_unit_test(rgb_is_told_from_ycbcr),
		cmocka_unit_test(process_is_judged_from_sof),
		cmocka_unit_test(components_and_sampling),
		cmocka_unit_test(cut_headers),
		cmocka_unit_test(malformed_exif_is_upright),
		cmocka_unit_test(header_of_a_png),
		cmocka_unit_test(names_of_types),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
