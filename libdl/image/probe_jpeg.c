// SPDX-License-Identifier: MIT OR LGPL-2.1-or-later
/*
 * The markers of a JPEG from SOI to the first SOS, read the way libjpeg reads
 * them (garbage between segments is passed over, lengths below 2 mean an empty
 * segment), so that what is refused here is what libjpeg would refuse.  The
 * coding process is judged here, from the SOF marker, and not left to the
 * library's version.
 *
 * Allocates nothing, reads nothing outside the buffer.  No lock.
 * ITU-T T.81, annex B; Documentation/pixels.rst, "Decode".
 */
#include "probe.h"

#include <string.h>

enum {
	M_TEM = 0x01,
	M_SOF0 = 0xc0,
	M_DHT = 0xc4,
	M_JPG = 0xc8,
	M_DAC = 0xcc,
	M_SOF15 = 0xcf,
	M_RST0 = 0xd0,
	M_SOI = 0xd8,
	M_EOI = 0xd9,
	M_SOS = 0xda,
	M_DQT = 0xdb,
	M_DNL = 0xdc,
	M_DRI = 0xdd,
	M_APP0 = 0xe0,
	M_APP1 = 0xe1,
	M_APP2 = 0xe2,
	M_APP14 = 0xee,
	M_COM = 0xfe,
};

struct walk {
	const uint8_t *bytes;
	size_t len;
	size_t at;			/* next byte */
	const struct dlboost_limits *limits;
	struct dlboost_image_info *info;
	struct dlboost_result *result;
	uint32_t nr_markers;
	bool has_sof;
	bool has_exif;
	bool has_jfif;
	bool has_rgb_ids;
	bool has_ended;			/* no more bytes */
};

/* Not a status: go on */
#define WALK_ON ((unsigned int)DLBOOST_NR_STATUS)

/* The next marker code, never 00 or FF; 0 at the end of the bytes */
static uint8_t walk_marker(struct walk *w)
{
	while (w->at < w->len) {
		const uint8_t *ff = memchr(w->bytes + w->at, 0xff,
					   w->len - w->at);

		if (!ff)
			break;
		w->at = (size_t)(ff - w->bytes);
		while (w->at < w->len && w->bytes[w->at] == 0xff)
			w->at++;
		if (w->at < w->len && w->bytes[w->at])
			return w->bytes[w->at++];
	}
	w->has_ended = true;
	return 0;
}

/* Payload of the segment at w->at; passes over it */
static const uint8_t *walk_segment(struct walk *w, size_t *len)
{
	size_t room = w->len - w->at, bytes;
	const uint8_t *payload;

	if (room < 2) {
		w->has_ended = true;
		return NULL;
	}
	bytes = dlb_be16(w->bytes + w->at);
	bytes = bytes < 2 ? 2 : bytes;
	if (bytes > room) {
		w->has_ended = true;
		bytes = room;
	}
	payload = w->bytes + w->at + 2;
	*len = bytes - 2;
	w->at += bytes;
	return payload;
}

static unsigned int walk_corrupt(struct walk *w, const char *what)
{
	return dlb_probe_fail(w->result, DLBOOST_STATUS_CORRUPT,
			      (int64_t)w->at, "damaged JPEG header: %s", what);
}

static unsigned int judge_process(struct walk *w)
{
	static const char *const names[16] = {
		NULL, NULL, NULL, "lossless", NULL, "hierarchical",
		"hierarchical progressive", "hierarchical lossless",
		"JPEG extension", NULL, NULL, "arithmetic lossless", NULL,
		"arithmetic hierarchical",
		"arithmetic hierarchical progressive",
		"arithmetic hierarchical lossless",
	};
	const struct dlboost_image_info *info = w->info;
	const unsigned int status = DLBOOST_STATUS_UNSUPPORTED;

	if (names[info->sof & 15])
		return dlb_probe_fail(w->result, status, (int64_t)w->at,
				      "%s JPEG (SOF%u) is not supported: save it as baseline",
				      names[info->sof & 15], info->sof & 15);
	if (info->precision_bits != 8)
		return dlb_probe_fail(w->result, status, (int64_t)w->at,
				      "%u bits a sample are not supported: save it with 8",
				      info->precision_bits);
	return WALK_ON;
}

static unsigned int judge_components(struct walk *w)
{
	const struct dlboost_image_info *info = w->info;

	if (info->components == 1 || info->components == 3 ||
	    info->components == 4)
		return WALK_ON;
	return dlb_probe_fail(w->result, DLBOOST_STATUS_UNSUPPORTED,
			      (int64_t)w->at,
			      "%u colour components are not supported: save it as grey, RGB or CMYK",
			      info->components);
}

/* Factors 1..4; ratios to the largest must be whole numbers */
static unsigned int judge_sampling(struct walk *w)
{
	const struct dlboost_image_info *info = w->info;
	uint32_t max_h = 1, max_v = 1;

	for (uint32_t i = 0; i < info->components; i++) {
		uint32_t h = info->sampling[i] >> 4, v = info->sampling[i] & 15;

		if (h < 1 || h > 4 || v < 1 || v > 4)
			return walk_corrupt(w, "bogus sampling factors");
		max_h = h > max_h ? h : max_h;
		max_v = v > max_v ? v : max_v;
	}
	for (uint32_t i = 0; i < info->components; i++)
		if (max_h % (info->sampling[i] >> 4) ||
		    max_v % (info->sampling[i] & 15))
			return dlb_probe_fail(w->result,
					      DLBOOST_STATUS_UNSUPPORTED,
					      (int64_t)w->at,
					      "fractional chroma sampling is not supported: save it as 4:2:0 or 4:4:4");
	return WALK_ON;
}

static unsigned int walk_sof(struct walk *w, uint8_t marker)
{
	struct dlboost_image_info *info = w->info;
	unsigned int status;
	const uint8_t *p;
	size_t len;

	if (w->has_sof)
		return walk_corrupt(w, "more than one frame");
	p = walk_segment(w, &len);
	if (!p || len < 6)
		return w->has_ended ? WALK_ON :
				      walk_corrupt(w, "bogus frame length");
	info->sof = marker;
	info->is_progressive = (marker & 3) == 2;
	info->is_arithmetic = marker > M_JPG;
	info->precision_bits = p[0];
	info->height = dlb_be16(p + 1);
	info->width = dlb_be16(p + 3);
	info->components = p[5];
	status = judge_process(w);
	if (status != WALK_ON)
		return status;
	if (!info->width || !info->height || !info->components)
		return walk_corrupt(w, "width, height or components are 0");
	if (len != 6 + 3 * (size_t)info->components)
		return w->has_ended ? WALK_ON :
				      walk_corrupt(w, "bogus frame length");
	for (uint32_t i = 0; i < 4 && i < info->components; i++)
		info->sampling[i] = p[7 + 3 * i];
	w->has_rgb_ids = info->components == 3 && p[6] == 'R' && p[9] == 'G' &&
			 p[12] == 'B';
	w->has_sof = true;
	return judge_components(w);
}

static void walk_app(struct walk *w, uint8_t marker, const uint8_t *p,
		     size_t len)
{
	struct dlboost_image_info *info = w->info;

	if (marker == M_APP0 && len >= 14 && !memcmp(p, "JFIF", 5))
		w->has_jfif = true;
	if (marker == M_APP1 && !w->has_exif && len > 6 &&
	    !memcmp(p, "Exif\0", 5)) {
		w->has_exif = true;
		info->orientation = dlb_exif_orientation(p + 6, len - 6);
	}
	if (marker == M_APP2 && len >= 12 && !memcmp(p, "ICC_PROFILE", 12))
		info->has_icc = 1;
	if (marker == M_APP14 && len >= 12 && !memcmp(p, "Adobe", 5))
		info->adobe_transform = p[11];
}

/* Tables are checked as far as libjpeg does while it reads them */
static unsigned int walk_dht(struct walk *w, const uint8_t *p, size_t len)
{
	while (len > 16) {
		uint32_t count = 0;

		for (int i = 1; i <= 16; i++)
			count += p[i];
		len -= 17;
		if (count > 256 || count > len)
			return walk_corrupt(w, "bogus Huffman table");
		if ((p[0] & ~0x10) > 3)
			return walk_corrupt(w, "bogus Huffman table number");
		p += 17 + count;
		len -= count;
	}
	return len ? walk_corrupt(w, "bogus Huffman table length") : WALK_ON;
}

static unsigned int walk_dqt(struct walk *w, const uint8_t *p, size_t len)
{
	while (len) {
		size_t bytes = p[0] >> 4 ? 129 : 65;

		if ((p[0] & 15) > 3)
			return walk_corrupt(w, "bogus quantization table number");
		if (bytes > len)
			return walk_corrupt(w,
					    "bogus quantization table length");
		p += bytes;
		len -= bytes;
	}
	return WALK_ON;
}

static unsigned int walk_parse(struct walk *w, uint8_t marker)
{
	const uint8_t *p;
	size_t len;

	p = walk_segment(w, &len);
	/* A cut segment: what it holds is not judged */
	if (!p || w->has_ended)
		return WALK_ON;
	if (marker == M_DHT)
		return walk_dht(w, p, len);
	if (marker == M_DQT)
		return walk_dqt(w, p, len);
	if (marker == M_DRI) {
		if (len != 2)
			return walk_corrupt(w, "bogus restart interval length");
		w->info->restart_interval = dlb_be16(p);
		return WALK_ON;
	}
	walk_app(w, marker, p, len);
	return WALK_ON;
}

static bool is_sof(uint8_t marker)
{
	return marker >= M_SOF0 && marker <= M_SOF15 && marker != M_DHT &&
	       marker != M_DAC;
}

static bool has_segment(uint8_t marker)
{
	return marker == M_DHT || marker == M_DAC || marker == M_DQT ||
	       marker == M_DNL || marker == M_DRI || marker == M_COM ||
	       (marker & 0xf0) == M_APP0;
}

/* One marker; OK at SOS, WALK_ON to go on */
static unsigned int walk_step(struct walk *w, uint8_t marker)
{
	if (w->nr_markers++ >= w->limits->max_markers)
		return dlb_probe_fail(w->result, DLBOOST_STATUS_TOO_LARGE,
				      (int64_t)w->at,
				      "more than %u marker segments in the header: raise the limit max_markers to accept it",
				      w->limits->max_markers);
	if (is_sof(marker))
		return walk_sof(w, marker);
	if (has_segment(marker))
		return walk_parse(w, marker);
	if (marker == M_TEM || (marker & 0xf8) == M_RST0)
		return WALK_ON;
	if (marker == M_SOS)
		return w->has_sof ? DLBOOST_STATUS_OK :
				    walk_corrupt(w, "a scan without a frame");
	if (marker == M_EOI)
		return walk_corrupt(w, w->has_sof ? "no scan" :
						    "no picture in it");
	if (marker == M_SOI)
		return walk_corrupt(w, "a second start of image");
	return walk_corrupt(w, "unknown marker");
}

unsigned int dlb_probe_jpeg(const uint8_t *bytes, size_t len,
			    const struct dlboost_limits *limits,
			    struct dlboost_image_info *info,
			    struct dlboost_result *result)
{
	struct walk w = {
		.bytes = bytes,
		.len = len,
		.at = 2,
		.limits = limits,
		.info = info,
		.result = result,
	};
	unsigned int status = WALK_ON;

	while (status == WALK_ON && !w.has_ended) {
		uint8_t marker = walk_marker(&w);

		if (!w.has_ended)
			status = walk_step(&w, marker);
	}
	if (status != WALK_ON && status != DLBOOST_STATUS_OK)
		return status;
	if (!w.has_sof)
		return walk_corrupt(&w, "the file ends inside it");
	status = judge_sampling(&w);
	if (status != WALK_ON)
		return status;
	info->is_rgb = info->components == 3 && !w.has_jfif &&
		       (info->adobe_transform < 0 ? w.has_rgb_ids :
						    !info->adobe_transform);
	return dlb_probe_size(info, limits, result);
}
