#!/bin/sh
# SPDX-License-Identifier: MIT
exec tests/run-cases
