/* SPDX-License-Identifier: MIT OR LGPL-2.1-or-later */
/*
 * Single pictures: bytes in memory -> tensor, on the calling thread.
 */
#ifndef DLBOOST_IMAGE_H
#define DLBOOST_IMAGE_H

#include <dlboost/recipe.h>
#include <dlboost/status.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * enum dlboost_image_type - Kinds of file recognised by their first bytes
 * @DLBOOST_IMAGE_UNKNOWN: none of the others
 * @DLBOOST_IMAGE_JPEG: JPEG; decoded
 * @DLBOOST_IMAGE_PNG: PNG; decoded
 * @DLBOOST_IMAGE_GIF: GIF
 * @DLBOOST_IMAGE_WEBP: WebP
 * @DLBOOST_IMAGE_BMP: Windows bitmap
 * @DLBOOST_IMAGE_TIFF: TIFF, and the raw formats built on it
 * @DLBOOST_IMAGE_HEIF: HEIF, HEIC, AVIF
 * @DLBOOST_IMAGE_JXL: JPEG XL
 * @DLBOOST_IMAGE_JP2: JPEG 2000, file or bare codestream
 * @DLBOOST_IMAGE_PDF: PDF
 * @DLBOOST_IMAGE_HTML: web page, most often a server's error page
 * @DLBOOST_IMAGE_XML: XML, SVG included
 * @DLBOOST_IMAGE_ZIP: ZIP archive
 * @DLBOOST_IMAGE_GZIP: gzip stream
 * @DLBOOST_IMAGE_TAR: tar archive
 * @DLBOOST_IMAGE_TEXT: readable text of no other kind
 * @DLBOOST_IMAGE_EMPTY: no bytes at all
 *
 * Since: 0.1
 */
enum dlboost_image_type {
	DLBOOST_IMAGE_UNKNOWN = 0,
	DLBOOST_IMAGE_JPEG = 1,
	DLBOOST_IMAGE_PNG = 2,
	DLBOOST_IMAGE_GIF = 3,
	DLBOOST_IMAGE_WEBP = 4,
	DLBOOST_IMAGE_BMP = 5,
	DLBOOST_IMAGE_TIFF = 6,
	DLBOOST_IMAGE_HEIF = 7,
	DLBOOST_IMAGE_JXL = 8,
	DLBOOST_IMAGE_JP2 = 9,
	DLBOOST_IMAGE_PDF = 10,
	DLBOOST_IMAGE_HTML = 11,
	DLBOOST_IMAGE_XML = 12,
	DLBOOST_IMAGE_ZIP = 13,
	DLBOOST_IMAGE_GZIP = 14,
	DLBOOST_IMAGE_TAR = 15,
	DLBOOST_IMAGE_TEXT = 16,
	DLBOOST_IMAGE_EMPTY = 17,
};

#define DLBOOST_MESSAGE_BYTES 160

/**
 * struct dlboost_image_info - What the header of a picture says
 * @type: a value of enum dlboost_image_type
 * @width: pixels as stored
 * @height: pixels as stored
 * @components: colour components in the file (1, 3 or 4; PNG: channels)
 * @precision_bits: bits a sample
 * @sof: JPEG: low byte of the SOF marker (0xc0 baseline, 0xc2 progressive, ...);
 *	0 for others
 * @sampling: JPEG: horizontal and vertical factor of component i in the high
 *	and low nibble of byte i
 * @orientation: EXIF orientation 1..8; 1 when absent or malformed
 * @restart_interval: JPEG: MCUs, 0 for none
 * @is_progressive: 1 for SOF2, 6, 10, 14
 * @is_arithmetic: 1 for arithmetic coding
 * @is_interlaced: PNG: 1 for Adam7
 * @has_icc: 1 when an ICC profile is present (ignored by every recipe)
 * @adobe_transform: JPEG: 0, 1, 2, or -1 without an Adobe marker
 * @is_rgb: JPEG: 1 when the three components are R, G and B and not YCbCr, as
 *	libjpeg tells them: by the JFIF and Adobe markers, else by their ids
 * @reserved: 0
 *
 * Since: 0.1
 */
struct dlboost_image_info {
	uint32_t type;
	uint32_t width;
	uint32_t height;
	uint32_t components;
	uint32_t precision_bits;
	uint32_t sof;
	uint8_t sampling[4];
	uint32_t orientation;
	uint32_t restart_interval;
	uint8_t is_progressive;
	uint8_t is_arithmetic;
	uint8_t is_interlaced;
	uint8_t has_icc;
	int32_t adobe_transform;
	uint8_t is_rgb;
	uint8_t reserved[3];
};

/**
 * struct dlboost_result - What became of one picture
 * @status: a value of enum dlboost_status
 * @flags: bits of enum dlboost_sample_flags
 * @width: width of the tensor written, pixels
 * @height: height of the tensor written
 * @written_bytes: bytes written to the destination; 0 unless @status is OK
 * @offset_bytes: where in the file the trouble was noticed, or -1
 * @nr_warnings: warnings of the decoder
 * @message: one sentence, "" when there is nothing to say
 *
 * The message says what is wrong and, where there is one, the remedy; it never
 * names the file: whoever shows it puts the path in front, which
 * dlboost_dataset_sample() knows.
 *
 * Since: 0.1
 */
struct dlboost_result {
	uint32_t status;
	uint32_t flags;
	uint32_t width;
	uint32_t height;
	size_t written_bytes;
	int64_t offset_bytes;
	uint32_t nr_warnings;
	char message[DLBOOST_MESSAGE_BYTES];
};

/**
 * struct dlboost_limits - What a picture may ask for, at most
 * @max_pixels: width x height; default 178956970 (Pillow's refusal line is
 *	twice its warning line of 89478485)
 * @max_scans: scans of a progressive or multi-scan file; default 500
 * @max_markers: marker segments; default 10000
 * @scratch_bytes: decoder memory of one worker; default 48 MiB
 * @big_scratch_bytes: memory of the one lane shared by pictures that do not
 *	fit @scratch_bytes; default 600 MiB; 0 for none
 *
 * Zero selects the default of each member but @big_scratch_bytes, whose
 * "none" is %DLBOOST_NO_BIG_SCRATCH.
 *
 * Since: 0.1
 */
struct dlboost_limits {
	uint64_t max_pixels;
	uint32_t max_scans;
	uint32_t max_markers;
	size_t scratch_bytes;
	size_t big_scratch_bytes;
};

#define DLBOOST_DEFAULT_MAX_PIXELS	178956970u
#define DLBOOST_DEFAULT_MAX_SCANS	500u
#define DLBOOST_DEFAULT_MAX_MARKERS	10000u
#define DLBOOST_DEFAULT_SCRATCH_BYTES	((size_t)48 << 20)
#define DLBOOST_DEFAULT_BIG_SCRATCH_BYTES ((size_t)600 << 20)
#define DLBOOST_NO_BIG_SCRATCH		((size_t)-1)

/** struct dlboost_decoder - Decoder state of one thread; opaque */
struct dlboost_decoder;

/**
 * struct dlboost_decoder_attr - How to make a decoder
 * @size: sizeof(struct dlboost_decoder_attr); set by DLBOOST_DECODER_ATTR_INIT
 * @limits: limits, zero members for defaults
 * @reject_warnings: 1 makes every warning of the decoder CORRUPT
 * @reserved: 0
 *
 * Since: 0.1
 */
struct dlboost_decoder_attr {
	size_t size;
	struct dlboost_limits limits;
	uint32_t reject_warnings;
	uint32_t reserved;
};

#define DLBOOST_DECODER_ATTR_INIT \
	{ .size = sizeof(struct dlboost_decoder_attr) }

/**
 * dlboost_probe() - Read the header of a picture
 * @bytes: the file, or at least its head up to the frame header
 * @len_bytes: length
 * @limits: limits (markers), or NULL for the defaults
 * @info: receives what is known, also on failure
 * @result: receives status and message; may be NULL
 *
 * Nothing is decoded and nothing allocated.  A picture that a decoder of this
 * library would refuse by its header has the same status here.
 *
 * Since: 0.1
 *
 * Context: Any thread.
 *
 * Return: the status, a value of enum dlboost_status.
 */
unsigned int dlboost_probe(const void *bytes, size_t len_bytes,
			   const struct dlboost_limits *limits,
			   struct dlboost_image_info *info,
			   struct dlboost_result *result);

/**
 * dlboost_image_type_name() - Name of a kind of file: "JPEG", "HTML"
 * @type: a value of enum dlboost_image_type
 *
 * Since: 0.1
 *
 * Return: a static string.
 */
const char *dlboost_image_type_name(unsigned int type);

/**
 * dlboost_decoder_create() - Make a decoder for one thread
 * @attr: options, or NULL for the defaults
 * @out: receives the decoder; destroy with dlboost_decoder_destroy()
 *
 * Since: 0.1
 *
 * Context: One thread at a time may use a decoder.
 *
 * Return:
 * * %0		- success
 * * %-EINVAL	- @attr is of an unknown size or out of range
 * * %-ENOMEM	- out of memory
 */
int dlboost_decoder_create(const struct dlboost_decoder_attr *attr,
			   struct dlboost_decoder **out);

/**
 * dlboost_decoder_destroy() - Free a decoder
 * @decoder: the decoder, or NULL
 *
 * Since: 0.1
 */
void dlboost_decoder_destroy(struct dlboost_decoder *decoder);

/**
 * dlboost_decode() - Decode one picture into a tensor
 * @decoder: decoder of this thread
 * @bytes: the whole file
 * @len_bytes: its length
 * @recipe: what to do with it
 * @profile: exact or fast
 * @geometry: the per-sample part; NULL for the recipe's own with seed 0,
 *	epoch 0, sample 0
 * @dst: where the tensor goes, any alignment
 * @dst_bytes: room at @dst
 * @result: receives status, size, message
 *
 * Nothing outside the tensor is written; what is in @dst after a status other
 * than OK is undefined.  Nothing is printed.
 *
 * Since: 0.1
 *
 * Context: Thread of @decoder.
 *
 * Return:
 * * %0		- see @result for what became of the picture
 * * %-EINVAL	- geometry outside the picture or absurd; one that resizes to a
 *		  side above 65535 is TOO_LARGE instead
 * * %-ENOSPC	- @dst_bytes too small; @result names the size needed in
 *		  written_bytes
 */
int dlboost_decode(struct dlboost_decoder *decoder, const void *bytes,
		   size_t len_bytes, const struct dlboost_recipe *recipe,
		   enum dlboost_profile profile,
		   const struct dlboost_geometry *geometry, void *dst,
		   size_t dst_bytes, struct dlboost_result *result);

#ifdef __cplusplus
}
#endif
#endif /* DLBOOST_IMAGE_H */
