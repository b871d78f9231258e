/* SPDX-License-Identifier: MIT
 * md5: the sum by which a trace names its payloads (RFC 1321). For telling damage, not for trust. */
#ifndef GRAPHLINT_MD5_H
#define GRAPHLINT_MD5_H

#include "base.h"

typedef struct Md5 {
	uint32_t state[4];
	uint64_t bytes;
	unsigned char block[64]; /* the last, not full yet */
} Md5;

enum { MD5_HEX = 32 };

void md5_init(Md5 *m);
void md5_add(Md5 *m, Str s);
/* Ends the sum: lower-case hexadecimal digits. */
void md5_hex(Md5 *m, char out[MD5_HEX]);

#endif
