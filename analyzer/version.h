/* SPDX-License-Identifier: MIT
 * version: which graphlint this is. */
#ifndef GRAPHLINT_VERSION_H
#define GRAPHLINT_VERSION_H

#define GRAPHLINT_VERSION "0.1.0"

#endif
