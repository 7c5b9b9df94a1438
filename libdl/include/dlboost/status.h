/* SPDX-License-Identifier: MIT OR LGPL-2.1-or-later */
/*
 * Status of one sample: the same numbers in C, in the kernel interface, in
 * JSON and in Python.  Documentation/errors.rst explains each.
 */
#ifndef DLBOOST_STATUS_H
#define DLBOOST_STATUS_H

#ifdef __cplusplus
extern "C" {
#endif

/**
 * enum dlboost_status - What became of one sample
 * @DLBOOST_STATUS_OK: pixels are there and obey the recipe
 * @DLBOOST_STATUS_CORRUPT: the decoder met an error in the file
 * @DLBOOST_STATUS_TRUNCATED: the file ends before its last row
 * @DLBOOST_STATUS_UNSUPPORTED: a valid file of a kind the engine does not take
 * @DLBOOST_STATUS_NOT_AN_IMAGE: no picture (the recognised type is named), or
 *	an empty file
 * @DLBOOST_STATUS_TOO_LARGE: a limit was hit (pixels, scans, memory, markers)
 * @DLBOOST_STATUS_IO: the bytes could not be read
 * @DLBOOST_STATUS_TIMEOUT: the engine did not finish in time
 * @DLBOOST_STATUS_DEVICE_RESET: lost to a reset of the device
 * @DLBOOST_STATUS_REVOKED: the destination memory was revoked
 * @DLBOOST_STATUS_CANCELLED: given up on request
 * @DLBOOST_STATUS_INVALID: from devices: malformed command
 * @DLBOOST_STATUS_ACCESS: from devices: memory access refused
 * @DLBOOST_STATUS_CRC: from devices: checksum mismatch
 * @DLBOOST_STATUS_EXPIRED: from devices: deadline passed before the start
 * @DLBOOST_STATUS_REMOVED: from devices: device removed
 * @DLBOOST_STATUS_STALE: from devices: operand from an earlier generation
 * @DLBOOST_NR_STATUS: number of values; not a status
 *
 * Since: 0.1
 */
enum dlboost_status {
	DLBOOST_STATUS_OK = 0,
	DLBOOST_STATUS_CORRUPT = 1,
	DLBOOST_STATUS_TRUNCATED = 2,
	DLBOOST_STATUS_UNSUPPORTED = 3,
	DLBOOST_STATUS_NOT_AN_IMAGE = 4,
	DLBOOST_STATUS_TOO_LARGE = 5,
	DLBOOST_STATUS_IO = 6,
	DLBOOST_STATUS_TIMEOUT = 7,
	DLBOOST_STATUS_DEVICE_RESET = 8,
	DLBOOST_STATUS_REVOKED = 9,
	DLBOOST_STATUS_CANCELLED = 10,
	DLBOOST_STATUS_INVALID = 11,
	DLBOOST_STATUS_ACCESS = 12,
	DLBOOST_STATUS_CRC = 13,
	DLBOOST_STATUS_EXPIRED = 14,
	DLBOOST_STATUS_REMOVED = 15,
	DLBOOST_STATUS_STALE = 16,
	DLBOOST_NR_STATUS = 17,
};

/**
 * enum dlboost_sample_flags - Bits beside the status of a sample
 * @DLBOOST_SAMPLE_F_WARNED: the decoder warned; the pixels are what it gave
 * @DLBOOST_SAMPLE_F_DEGRADED: damaged or incomplete file, whose pixels depend
 *	on the version of libjpeg-turbo
 * @DLBOOST_SAMPLE_F_DUPLICATE: repeats a position (tail policy "pad")
 * @DLBOOST_SAMPLE_F_REPLACED: another sample stands in for a bad one
 * @DLBOOST_SAMPLE_F_WORD_NOT_WRITTEN: from devices: completion word missing
 *
 * Since: 0.1
 */
enum dlboost_sample_flags {
	DLBOOST_SAMPLE_F_WARNED = 1 << 0,
	DLBOOST_SAMPLE_F_DEGRADED = 1 << 1,
	DLBOOST_SAMPLE_F_DUPLICATE = 1 << 2,
	DLBOOST_SAMPLE_F_REPLACED = 1 << 3,
	DLBOOST_SAMPLE_F_WORD_NOT_WRITTEN = 1 << 4,
};

/**
 * dlboost_status_name() - Name of a status, as in JSON: "CORRUPT"
 * @status: a value of enum dlboost_status
 *
 * Since: 0.1
 *
 * Context: Any thread.
 *
 * Return: a static string; "UNKNOWN" for a number that is no status.
 */
const char *dlboost_status_name(unsigned int status);

#ifdef __cplusplus
}
#endif
#endif /* DLBOOST_STATUS_H */
