# SPDX-License-Identifier: MIT
# GNU make. `make` builds build/graphlint, `make check` runs the tests, `make help` lists the rest.
# CC, CFLAGS, CPPFLAGS, LDFLAGS and LDLIBS are the user's and are kept; config.mk may set them.
-include config.mk

PREFIX ?= /usr/local
BINDIR ?= $(PREFIX)/bin
DOCDIR ?= $(PREFIX)/share/doc/graphlint
CFLAGS ?= $(if $(SAN),-O1,-O2) -g
PKG_CONFIG ?= pkg-config
CLANG ?= clang
FUZZ_SECONDS ?= 10
PROVEFLAGS ?= --failures --comments --jobs=2
export GRAPHLINT_SHARED ?= ../shared

# SAN=1: AddressSanitizer and UBSan; SAN=fuzz: libFuzzer's counters too. Each has a build folder of its own.
ifeq ($(SAN),fuzz)
B := build/fuzz
override CC := $(CLANG)
SAN_FLAGS := -fsanitize=address,undefined,fuzzer-no-link -DFUZZING_BUILD_MODE_UNSAFE_FOR_PRODUCTION
else ifdef SAN
B := build/san
SAN_FLAGS := -fsanitize=address,undefined
else
B := build
endif
ifdef SAN
SAN_FLAGS += -fno-sanitize-recover=all -fno-omit-frame-pointer
endif
BIN := $(B)/graphlint
LIB := $(B)/libgraphlint.a

# The C sources of tree-sitter and of the Python grammar come from the packages that grammar/package-lock.json pins.
NPM := grammar/node_modules
NPM_STAMP := $(NPM)/.package-lock.json
TS := $(NPM)/tree-sitter/vendor/tree-sitter/lib
TSPY := $(NPM)/tree-sitter-python/src

MAIN := $(wildcard analyzer/main.c)
SRC := $(filter-out analyzer/main.c,$(wildcard analyzer/*.c))
TS_OBJ := $(B)/ts/core.o $(B)/ts/parser.o $(B)/ts/scanner.o
OBJ := $(SRC:%.c=$(B)/%.o) $(B)/embedded.o $(TS_OBJ)
RULES := $(sort $(filter-out %.md %.awk %.py %.sh,$(wildcard rules/*.*)))
UNIT := $(patsubst tests/unit/%.c,$(B)/tests/%,$(wildcard tests/unit/test_*.c))
FUZZ := $(patsubst tests/fuzz/%.c,$(B)/%,$(wildcard tests/fuzz/fuzz_*.c))

# Asked once, and only after `deps` had the chance to install the libraries.
PKGS := libpcre2-8 jansson yaml-0.1 zlib
PKG_CFLAGS = $(eval PKG_CFLAGS := $$(shell $(PKG_CONFIG) --cflags $(PKGS)))$(PKG_CFLAGS)
PKG_LIBS = $(eval PKG_LIBS := $$(shell $(PKG_CONFIG) --libs $(PKGS)))$(PKG_LIBS)
CMOCKA = $(shell $(PKG_CONFIG) --cflags --libs cmocka)

GL_CPPFLAGS = -D_DEFAULT_SOURCE -Ianalyzer -I$(TS)/include $(PKG_CFLAGS)
GL_CFLAGS = -std=c11 -ffile-prefix-map=$(CURDIR)=. $(SAN_FLAGS)
WARN := -Wall -Wextra -Wpedantic -Werror=implicit-function-declaration -Werror=int-conversion $(if $(WERROR),-Werror)
# Commands are shown in short; V=1 shows them whole.
say = $(if $(V),,@echo '  $(1) $@';)
COMPILE = $(CC) $(CPPFLAGS) $(GL_CPPFLAGS) $(CFLAGS) $(GL_CFLAGS) -MMD -MP -MF $@.d -MT $@
LINK = $(CC) $(CFLAGS) $(SAN_FLAGS) $(LDFLAGS)
LIBS = $(PKG_LIBS) $(LDLIBS) -lm

export SAN FULL CC CLANG PKG_CONFIG

.PHONY: all deps run check full accept bench fuzz fuzzers unit lint install uninstall clean help
.DELETE_ON_ERROR:
.SUFFIXES:

all: $(BIN)

help:
	@echo 'make [all]      build $(BIN)'
	@echo 'make deps       install what is missing (root on Debian/Ubuntu), else say what to install'
	@echo 'make run        show graphlint on samples/'
	@echo 'make check      run the tests; FULL=1: the optional ones too; SAN=1: under ASan and UBSan'
	@echo 'make accept     check the answers on the corpus in GRAPHLINT_SHARED ($(GRAPHLINT_SHARED))'
	@echo 'make bench      speed and memory, beside wc -l and a bare parse'
	@echo 'make fuzz       build the fuzz targets and run each for FUZZ_SECONDS=$(FUZZ_SECONDS)'
	@echo 'make lint       clang-tidy and cppcheck'
	@echo 'make install    into $$(DESTDIR)$$(PREFIX), PREFIX=$(PREFIX); also uninstall, clean'

deps:
	@tests/deps

run: $(BIN)
	$(BIN) --fail-on=never samples/

$(BIN): $(LIB) $(if $(MAIN),$(B)/analyzer/main.o)
	@test -n "$(MAIN)" || { echo "$(LIB) is built; analyzer/main.c is missing, so there is no program" >&2; exit 1; }
	$(call say,LINK)$(LINK) -o $@ $(B)/analyzer/main.o $(LIB) $(LIBS)

# The folders stand for files that were taken away.
$(LIB): $(OBJ) analyzer
	@rm -f $@
	$(call say,AR  )$(AR) rcs $@ $(OBJ)

$(B)/analyzer/%.o: analyzer/%.c | deps $(NPM_STAMP)
	@mkdir -p $(@D)
	$(call say,CC  )$(COMPILE) $(WARN) -c -o $@ $<

$(B)/embedded.c: rules/embed.awk $(RULES) rules
	@mkdir -p $(@D)
	$(call say,GEN )LC_ALL=C awk -f rules/embed.awk $(RULES) </dev/null >$@
$(B)/embedded.o: $(B)/embedded.c analyzer/embedded.h | deps
	$(call say,CC  )$(COMPILE) -c -o $@ $<

# Third-party C: no warnings asked for.
$(NPM_STAMP): grammar/package.json grammar/package-lock.json | deps
	cd grammar && npm ci --ignore-scripts --no-audit --no-fund --loglevel=error
	@touch $@
$(B)/ts/core.o: $(NPM_STAMP)
	@mkdir -p $(@D)
	$(call say,CC  )$(COMPILE) -w -I$(TS)/src -c -o $@ $(TS)/src/lib.c
# The scanner does not look at what calloc gives it; all else goes through the allocator that main sets.
$(B)/ts/%.o: $(NPM_STAMP)
	@mkdir -p $(@D)
	$(call say,CC  )$(COMPILE) -w -DTREE_SITTER_REUSE_ALLOCATOR -Dcalloc=base_calloc -I$(TSPY) -c -o $@ $(TSPY)/$*.c

# ---- tests ----

unit: $(UNIT)
$(B)/tests/%: tests/unit/%.c $(LIB) | deps
	@mkdir -p $(@D)
	$(call say,CC  )$(COMPILE) $(WARN) -o $@ $< $(LDFLAGS) $(LIB) $(CMOCKA) $(LIBS)

# Validators and what drives a browser, for the optional tests.
NPM_TESTS := tests/node_modules/.package-lock.json
$(NPM_TESTS): tests/package.json tests/package-lock.json | deps
	cd tests && npm ci --ignore-scripts --no-audit --no-fund --loglevel=error
	@touch $@

TESTS = $(wildcard tests/*.t) $(UNIT) $(if $(FULL),$(UNIT:$(B)/%=build/san/%))
TEST_ENV = GRAPHLINT=$(BIN) FUZZ_SECONDS=$(FUZZ_SECONDS)

# The runner's summary is the last thing that is printed.
check: deps unit $(if $(MAIN),$(BIN)) $(if $(FULL),full $(NPM_TESTS))
	@$(TEST_ENV) prove $(PROVEFLAGS) $(TESTS)
full:
	+@$(MAKE) --no-print-directory SAN=1 unit $(if $(MAIN),all)
	+@$(MAKE) --no-print-directory SAN=fuzz fuzzers

accept: $(BIN)
	@$(TEST_ENV) prove --verbose $$(grep -l GRAPHLINT_SHARED tests/*.t)

bench: $(BIN) $(B)/bench_parse
	@$(TEST_ENV) tests/bench/bench $(B)/bench_parse
$(B)/bench_parse: tests/bench/parse.c $(LIB)
	$(call say,CC  )$(COMPILE) $(WARN) -o $@ $< $(LDFLAGS) $(LIB) $(LDLIBS)

fuzz:
	+@$(MAKE) --no-print-directory SAN=fuzz fuzzers
	tests/fuzz/run $(FUZZ_SECONDS)
fuzzers: $(FUZZ)
$(B)/fuzz_%: tests/fuzz/fuzz_%.c $(LIB) | deps
	$(call say,CC  )$(COMPILE) $(WARN) -fsanitize=fuzzer -o $@ $< $(LDFLAGS) $(LIB) $(LIBS)

# cppcheck 2.10 stumbles over compound literals in `?:`, and takes an out-argument for a read.
lint: $(NPM_STAMP)
	clang-tidy --quiet $(wildcard analyzer/*.c) -- -std=c11 $(GL_CPPFLAGS)
	cppcheck --quiet --std=c11 --enable=warning,performance,portability --inline-suppr --suppress=internalAstError \
		--suppress=uninitvar --suppress=ctuuninitvar --error-exitcode=1 -Ianalyzer analyzer

# ---- the rest ----

install: $(BIN)
	install -d $(DESTDIR)$(BINDIR) $(DESTDIR)$(DOCDIR)
	install -m 755 $(BIN) $(DESTDIR)$(BINDIR)/graphlint
	install -m 644 $(wildcard README.md) LICENSE $(wildcard schema/*.json) $(DESTDIR)$(DOCDIR)
uninstall:
	rm -f $(DESTDIR)$(BINDIR)/graphlint
	rm -rf $(DESTDIR)$(DOCDIR)

clean:
	rm -rf build

-include $(wildcard $(B)/*.d $(B)/*/*.d)
