# SPDX-License-Identifier: MIT
# TAP: analyzer/LAYERS against the #include lines. A file includes headers of its own row or of rows above it.
# usage: awk -f tests/layers.awk analyzer/LAYERS analyzer/*.c analyzer/*.h

function layer_of(path) {
	sub(/.*\//, "", path)
	sub(/\.[a-z]+$/, "", path)
	return path
}

FILENAME ~ /LAYERS$/ {
	if ($0 ~ /^#/ || NF == 0) next
	nrows++
	for (i = 1; i <= NF; i++) {
		if ($i in row) faults["analyzer/LAYERS"] = faults["analyzer/LAYERS"] "# " $i " stands in two rows\n"
		row[$i] = nrows
	}
	next
}

FNR == 1 {
	file[++nfiles] = FILENAME
	me = layer_of(FILENAME)
	if (!(me in row)) faults[FILENAME] = "# " me " is not in analyzer/LAYERS\n"
}

/^[ \t]*#[ \t]*include[ \t]*"[^"]*\.h"/ {
	split($0, part, "\"")
	it = layer_of(part[2])
	if (!(it in row)) fault = it " is not in analyzer/LAYERS"
	else if ((me in row) && row[it] > row[me]) fault = "includes " part[2] " of a lower row"
	else next
	faults[FILENAME] = faults[FILENAME] "# line " FNR ": " fault "\n"
}

END {
	file[++nfiles] = "analyzer/LAYERS"
	print "1.." nfiles
	for (i = 1; i <= nfiles; i++) {
		print (file[i] in faults ? "not ok " : "ok ") i " - layers: " file[i]
		printf "%s", faults[file[i]]
	}
}
