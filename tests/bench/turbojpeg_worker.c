// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The two rows everything is measured against, both of the machine's own
 * libjpeg-turbo: "full" decodes each picture to RGB by TurboJPEG (yardstick),
 * "entropy" reads every code of it and drops the coefficients (floor: no
 * decoder on this library can be faster).
 *
 * usage: turbojpeg_worker full|entropy LIST
 */
#include "worker.h"

#include <stdio.h>

#include <jpeglib.h>
#include <stdlib.h>
#include <string.h>
#include <turbojpeg.h>

struct full {
	struct bench_set *set;
	tjhandle handle;
	unsigned char *rgb;
	size_t room;
};

static uint64_t full_pass(void *arg)
{
	struct full *full = arg;

	for (size_t i = 0; i < full->set->nr; i++) {
		int w, h, sub, cs;
		size_t need;

		if (tjDecompressHeader3(full->handle, full->set->bytes[i],
					full->set->len_bytes[i], &w, &h, &sub,
					&cs))
			goto fail;
		need = (size_t)w * (size_t)h * 3;
		if (need > full->room) {
			free(full->rgb);
			full->rgb = malloc(need);
			full->room = need;
		}
		if (!full->rgb ||
		    tjDecompress2(full->handle, full->set->bytes[i],
				  full->set->len_bytes[i], full->rgb, w, 0, h,
				  TJPF_RGB, TJFLAG_ACCURATEDCT))
			goto fail;
		continue;
fail:
		fprintf(stderr, "bench: %s: %s\n", full->set->paths[i],
			tjGetErrorStr2(full->handle));
		exit(1);
	}
	return full->set->nr;
}

/*
 * At scale 1/8 the library needs DC alone: it decodes the codes of all other
 * coefficients and drops them, and what follows is one sample a block.
 */
static uint64_t entropy_pass(void *arg)
{
	struct bench_set *set = arg;
	struct jpeg_decompress_struct cinfo;
	struct jpeg_error_mgr jerr;

	cinfo.err = jpeg_std_error(&jerr);
	jpeg_create_decompress(&cinfo);
	for (size_t i = 0; i < set->nr; i++) {
		jpeg_mem_src(&cinfo, set->bytes[i], set->len_bytes[i]);
		jpeg_read_header(&cinfo, TRUE);
		cinfo.scale_num = 1;
		cinfo.scale_denom = 8;
		cinfo.out_color_space = cinfo.jpeg_color_space;
		jpeg_start_decompress(&cinfo);

		size_t row_bytes = (size_t)cinfo.output_width * 4;
		JSAMPARRAY row = cinfo.mem->alloc_sarray(
			(j_common_ptr)&cinfo, JPOOL_IMAGE,
			(JDIMENSION)row_bytes, 1);

		while (cinfo.output_scanline < cinfo.output_height)
			jpeg_read_scanlines(&cinfo, row, 1);
		jpeg_finish_decompress(&cinfo);
	}
	jpeg_destroy_decompress(&cinfo);
	return set->nr;
}

int main(int argc, char **argv)
{
	static const char about[] = "{\"version\": \"libjpeg-turbo "
				    BENCH_JPEG_VERSION "\"}";
	struct bench_set set;
	int ret;

	if (argc != 3 || (strcmp(argv[1], "full") && strcmp(argv[1], "entropy"))) {
		fprintf(stderr, "usage: %s full|entropy LIST\n", argv[0]);
		return 2;
	}
	bench_set_load(&set, argv[2]);
	if (!strcmp(argv[1], "entropy")) {
		ret = bench_serve(about, entropy_pass, &set);
	} else {
		struct full full = { .set = &set,
				     .handle = tjInitDecompress() };

		ret = bench_serve(about, full_pass, &full);
		tjDestroy(full.handle);
		free(full.rgb);
	}
	bench_set_free(&set);
	return ret;
}
