/* SPDX-License-Identifier: MIT
 * settings: which configuration file holds, what it changes in the options, and what is in force in the end. */
#ifndef GRAPHLINT_SETTINGS_H
#define GRAPHLINT_SETTINGS_H

#include "base.h"
#include "options.h"

/* Finds the configuration (--config, else .graphlint.yaml upward from the first dump that has one, else from the working
 * directory; none with --isolated), reads it, and puts it below what the command line says. Sentences that need no fault go
 * to *notes. False, and lines in *errors, when the file cannot be read or has faults. */
bool settings_load(Options *o, Arena *a, Buf *errors, Buf *notes);
/* The operators of the configuration as a text for facts_load in which each stands on its line of the file. */
Str settings_operators(const Options *o, Arena *a);
/* Is a file that was found in a folder to be passed over? */
bool settings_excluded(const Options *o, Str path, Arena *scratch);
/* What is in force and where it comes from, as YAML that is a configuration itself; as JSON. */
void settings_text(const Options *o, Arena *a, Buf *out);
void settings_json(const Options *o, Arena *a, Buf *out);

#endif
