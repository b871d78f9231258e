#!/bin/sh
# SPDX-License-Identifier: MIT
exec awk -f tests/layers.awk analyzer/LAYERS analyzer/*.c analyzer/*.h
