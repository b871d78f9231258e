/* SPDX-License-Identifier: MIT */
#include "fuzz.h"

FUZZ_READER(read_output_code)
