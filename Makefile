# cliq - GNU make. The targets people use:
#
#   make          build/cliq, build/libcliq.a, build/libcliq.so
#   make demo     installs what is missing, builds, shows the main job
#   make demo-agents  the same with claude, codex and gemini (from npm) and a scripted model
#   make test     installs what is missing, builds, runs every test
#   make check    the fast part of the tests, in under a minute
#   make test-agents  the agents that drive other makers' programs, with the real ones (from npm)
#   make test-web the page in a real Chromium (Debian's, with playwright-core from npm)
#   make screenshots  docs/screenshots, which the README shows
#   make bench    our numbers beside their peers'
#   make fuzz     every fuzz target for FUZZ_SECONDS (60) each
#   make tsan     the server's tests with ThreadSanitizer
#   make soak     the tests that kill, with 200 kills each and 10,000 tasks
#   make coverage, format, lint, check-layers, install, uninstall, clean
#
# Variables: CC, CFLAGS, PREFIX (/usr/local), DESTDIR, BUILD, SANITIZE=1 (ASan + UBSan),
# SHARED=1 (the program loads its libraries when it starts).

SHELL := /bin/bash
MAKEFLAGS += --no-builtin-rules
.DELETE_ON_ERROR:

CC        = gcc
PREFIX   ?= /usr/local
CFLAGS   ?= -O2 -g
SANITIZE ?= 0
SHARED   ?= 0
BUILD    ?= $(if $(filter 1,$(SANITIZE)),build/sanitize,build)
PKGCONFIG = pkg-config
SUBMAKE   = $(MAKE) --no-print-directory -s -j$$(nproc)

VERSION := $(shell sed -n 's/^\#define CLIQ_VERSION  *"\(.*\)"/\1/p' include/cliq.h)

# ---- flags -------------------------------------------------------------------

cc-option = $(shell echo 'int x;' | $(1) -Werror $(2) -xc -c -o /dev/null - 2>/dev/null && echo '$(2)')

WARN := -Wall -Wextra -Werror -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wpointer-arith \
        -Wvla -Wundef -Wwrite-strings -Wno-missing-field-initializers

ifeq ($(SANITIZE),1)
  HARDEN := -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer
  CFLAGS := -O1 -g
else
  HARDEN := -fstack-protector-strong -fstack-clash-protection -fcf-protection \
            $(call cc-option,$(CC),-ftrivial-auto-var-init=zero) -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=3
endif

# net/libcurl.c and team/libarchive.c include the headers of a library and load it at first use:
# nothing links these two.
LOADED      = libcurl libarchive
PACKAGES    = libuv libutf8proc yaml-0.1 libsodium sqlite3
INCLUDES   := -Isrc -Iinclude
ALL_CFLAGS := -std=gnu11 $(INCLUDES) $(shell $(PKGCONFIG) --cflags $(PACKAGES) $(LOADED) 2>/dev/null) $(WARN) $(HARDEN) \
              -fPIC -fvisibility=hidden $(CFLAGS)
LDFLAGS    += -Wl,--as-needed,-z,relro,-z,now,-z,noexecstack
LIBS        = $(shell $(PKGCONFIG) --libs $(PACKAGES)) -lpthread
HUB_LIBS    = $(shell $(PKGCONFIG) --libs sqlite3 libsodium) -lpthread
# Finding five libraries takes a third of a start, so the program links their archives where all exist.
ARCHIVES   := $(foreach a,libuv_a.a libutf8proc.a libyaml.a libsodium.a libsqlite3.a,$(filter /%,$(shell $(CC) -print-file-name=$(a))))
STATIC_LIBS = $(if $(filter 1,$(SHARED))$(filter-out 5,$(words $(ARCHIVES))),$(LIBS),$(ARCHIVES) -lm -ldl -lrt -lpthread)

# ---- the program and the library ------------------------------------------------

# parts.a holds every object but main.c and the SDK. The program, the library, the tests and the
# benchmarks each take the objects they need from it, so no list of files is kept here.
SRC     := $(filter-out src/sdk/%,$(sort $(wildcard src/*/*.c src/*/*/*.c)))
SDK_HUB := $(sort $(wildcard src/sdk/hub*.c))
SDK     := $(filter-out $(SDK_HUB),$(sort $(wildcard src/sdk/*.c)))
PARTS   := $(BUILD)/parts.a

obj = $(patsubst %.c,$(BUILD)/obj/%.o,$(1))

.PHONY: all
all: $(BUILD)/cliq $(BUILD)/libcliq.a $(BUILD)/libcliq.so man

# Objects depend on how they are compiled: other flags, other objects.
$(BUILD)/flags: FORCE
	@$(PKGCONFIG) --print-errors --exists $(PACKAGES) $(LOADED) || \
	  { echo "cliq: tools/deps installs what is missing, as make demo and make test do" >&2; exit 1; }
	@mkdir -p $(BUILD)
	@echo '$(CC) $(ALL_CFLAGS) $(SHARED)' | cmp -s - $@ || echo '$(CC) $(ALL_CFLAGS) $(SHARED)' > $@
FORCE:

$(BUILD)/obj/%.o: %.c $(BUILD)/flags
	@mkdir -p $(@D)
	$(CC) $(ALL_CFLAGS) $(if $(filter test/%,$<),-Itest/lib) -MMD -MP -c -o $@ $<

# The page, in the program.
WEB := $(sort $(wildcard web/*.html web/*.css web/*.js web/*.svg))
$(BUILD)/web/files.c: tools/embed-web $(WEB)
	@mkdir -p $(@D)
	tools/embed-web $@ $(WEB)

# The SDK for JavaScript, one module.
sdk-js/index.js: tools/one-module sdk-js/client.js $(wildcard sdk-js/src/*.js)
	tools/one-module sdk-js/src/index.js >$@.new && mv $@.new $@

# Thin, because directories may hold files of the same name.
$(PARTS): $(call obj,$(SRC) $(BUILD)/web/files.c)
	rm -f $@ && ar rcsT $@ $^

$(BUILD)/cliq: $(call obj,src/main.c) $(PARTS) | sdk-js/index.js
	$(CC) $(ALL_CFLAGS) -pie $(LDFLAGS) -o $@ $^ $(STATIC_LIBS)

$(BUILD)/libcliq.so: $(call obj,$(SDK) $(SDK_HUB)) $(PARTS)
	$(CC) $(ALL_CFLAGS) -shared -Wl,-soname,libcliq.so.0 $(LDFLAGS) -o $@ $^ $(HUB_LIBS)
	ln -sf libcliq.so $(BUILD)/libcliq.so.0

# Two objects with only the public names visible, so that ours meet no names of a program. The calls
# of the hub are the second one: a program that does not call the hub links no SQLite.
$(BUILD)/lib/cliq.o: $(call obj,$(SDK)) $(PARTS)
$(BUILD)/lib/cliq-hub.o: $(call obj,$(SDK_HUB)) $(PARTS)
$(BUILD)/lib/cliq.o $(BUILD)/lib/cliq-hub.o:
	@mkdir -p $(@D)
	ld -r -o $@ $^
	objcopy --localize-hidden $@

$(BUILD)/libcliq.a: $(BUILD)/lib/cliq.o $(BUILD)/lib/cliq-hub.o
	rm -f $@ && ar rcs $@ $^

$(BUILD)/cliq.pc: FORCE
	@printf 'prefix=%s\nName: cliq\nDescription: coordination of agents and people\nVersion: %s\nCflags: -I$${prefix}/include\nLibs: -L$${prefix}/lib -lcliq\nLibs.private: -lpthread\n' \
	  '$(PREFIX)' '$(VERSION)' > $@

# The same with what a static program needs that calls the hub.
$(BUILD)/cliq-hub.pc: FORCE
	@printf 'Name: cliq-hub\nDescription: coordination of agents and people, with the calls of the hub\nVersion: %s\nRequires: cliq\nRequires.private: sqlite3 libsodium\n' \
	  '$(VERSION)' > $@

-include $(shell find $(BUILD)/obj $(BUILD)/test -name '*.d' 2>/dev/null)

# ---- man pages, made from the command table and from the topics ----------------

PAGES := $(subst _,-,$(filter-out alarm complete pane wake_agent,$(shell sed -n 's/^CMD(\(.*\))/\1/p' src/cmd/cmds.def; \
  sed -n 's/^AGENT.\([a-z0-9_]*\),.*/agent_\1/p' src/agents/agents.def)))
MAN1  := $(BUILD)/man/cliq.1 $(PAGES:%=$(BUILD)/man/cliq-%.1)
MAN5  := $(patsubst man/%.scd,$(BUILD)/man/%,$(wildcard man/*.scd))
TOPICS := $(shell sed -n 's/^TOPIC.\([a-z]*\),.*", *\([0-9]\),.*/\1.\2/p' src/cmd/topics.def)
MANT  := $(TOPICS:%=$(BUILD)/man/cliq-%)
# lib/topic.c takes their texts into the program.
$(call obj,src/cmd/lib/topic.c): $(wildcard man/topic/*.scd)

# Their date is that of the last commit, without git that of the changelog: the same sources give
# the same pages.
SOURCE_DATE_EPOCH ?= $(shell git log -1 --format=%ct 2>/dev/null || stat -c %Y CHANGELOG.md)
SCDOC = SOURCE_DATE_EPOCH=$(SOURCE_DATE_EPOCH) scdoc

.PHONY: man
man: $(if $(shell command -v scdoc),$(MAN1) $(MAN5) $(MANT))

$(BUILD)/man/cliq.1: $(BUILD)/cliq
	@mkdir -p $(@D)
	$< help --scdoc | $(SCDOC) > $@
$(BUILD)/man/cliq-%.1: $(BUILD)/cliq
	@mkdir -p $(@D)
	$< help --scdoc $* | $(SCDOC) > $@
$(MANT): $(BUILD)/man/cliq-%: $(BUILD)/cliq
	@mkdir -p $(@D)
	$< help --scdoc $* | $(SCDOC) > $@
$(BUILD)/man/%: man/%.scd
	@mkdir -p $(@D)
	$(SCDOC) < $< > $@

# ---- tests -------------------------------------------------------------------

TESTLIB_SRC := $(sort $(wildcard test/lib/*.c))
UNIT_SRC    := $(sort $(wildcard test/unit/test_*.c test/fault/test_*.c))
UNITS        = $(patsubst test/%.c,$(BUILD)/test/%,$(UNIT_SRC))
BATS_FAST   := $(sort $(wildcard test/cli/*.bats))
BATS_SLOW   := $(sort $(wildcard test/scenario/*.bats test/fault/*.bats))
# Agents start the same way with and without panes; this once more with panes, beside scenario/tmux.bats.
BATS_TMUX   := tmux:test/scenario/pipeline_trace.bats
# These need programs that only npm has: `make test WITH_AGENTS=1`, or alone.
BATS_AGENTS := $(sort $(wildcard test/agents/*.bats))
WITH_AGENTS ?= 0
# These need a browser: `make test WITH_WEB=1`, or alone.
BATS_WEB    := $(sort $(wildcard test/web/*.bats))
WITH_WEB    ?= 0
TOOLS        = $(patsubst test/%.c,$(BUILD)/test/%,$(wildcard test/tools/*.c))
EXAMPLES     = $(patsubst examples/%.c,$(BUILD)/examples/%,$(wildcard examples/*.c examples/*/*.c))

TEST_OBJ = $(call obj,$(TESTLIB_SRC) $(SDK) $(SDK_HUB)) $(PARTS)
$(UNITS) $(TOOLS): $(BUILD)/test/%: test/%.c $(TEST_OBJ)
	@mkdir -p $(@D)
	$(CC) $(ALL_CFLAGS) -Itest/lib -MMD -MP -Wl,--as-needed -o $@ $< $(TEST_OBJ) $(LIBS) -lcmocka -ljansson

$(BUILD)/examples/%: examples/%.c $(BUILD)/libcliq.a
	@mkdir -p $(@D)
	$(CC) -std=c11 -Wall -Wextra -Werror -Iinclude $(CFLAGS) $(if $(filter 1,$(SANITIZE)),$(HARDEN)) -Wl,--as-needed -o $@ $< $(BUILD)/libcliq.a $(HUB_LIBS)

.PHONY: deps test-deps tests test test-agents test-web screenshots check
deps:
	@tools/deps build
test-deps:
	@tools/deps test

tests: all $(UNITS) $(TOOLS) $(EXAMPLES)

test: test-deps
	@$(SUBMAKE) all
	@$(SUBMAKE) tests SANITIZE=1
	@$(SUBMAKE) tests
	@[ $(WITH_AGENTS) = 1 ] || echo "not among these tests: make test-agents, which installs claude, codex, gemini and opencode from npm"
	@[ $(WITH_WEB) = 1 ] || echo "not among these tests: make test-web, which installs chromium and playwright-core"
	@test/run $(patsubst test/%.c,build/sanitize/test/%,$(UNIT_SRC)) $(if $(filter 1,$(WITH_AGENTS)),$(BATS_AGENTS)) $(if $(filter 1,$(WITH_WEB)),$(BATS_WEB)) $(BATS_FAST) $(BATS_SLOW) $(BATS_TMUX)

test-agents: test-deps
	@tools/deps agents
	@$(SUBMAKE) all
	@test/run $(BATS_AGENTS)

test-web: test-deps
	@tools/deps web
	@$(SUBMAKE) all
	@test/run $(BATS_WEB)

# Real runs again, so they change a little each time.
screenshots: test-deps
	@tools/deps web
	@$(SUBMAKE) all
	@bats test/web/screenshots

check: test-deps
	@$(SUBMAKE) tests
	@test/run $(UNITS) $(BATS_FAST)

# ---- style, layers, analysis --------------------------------------------------

C_FILES = $(shell git ls-files -co --exclude-standard '*.c' '*.h')

.PHONY: format check-format check-layers check-names check-fuzz lint check-all
format:
	clang-format -i $(C_FILES)
check-format:
	clang-format --dry-run -Werror $(C_FILES)
check-names:
	tools/check-names
check-layers:
	tools/check-layers
# Fuzz targets are built by hand only: at least each of them compiles.
check-fuzz:
	@for f in test/fuzz/fuzz_*.c; do $(CC) -std=gnu11 -Wall -Werror -Wno-missing-braces -fsyntax-only $(INCLUDES) $$f || exit 1; done
lint: test-deps
	@$(MAKE) --no-print-directory check-format check-layers check-names check-fuzz
	@$(SUBMAKE) all CC=clang BUILD=build/clang
	@$(SUBMAKE) all CC=gcc BUILD=build/analyzer CFLAGS='-O2 -g -fanalyzer'
	cppcheck --quiet -DCPPCHECK --error-exitcode=1 --enable=warning,performance,portability --inline-suppr \
	  --std=c11 -j$$(nproc) $(INCLUDES) --suppress=missingIncludeSystem src
	@echo clang-tidy src && find src -name '*.c' | xargs -P$$(nproc) -n8 sh -c \
	  'clang-tidy --quiet "$$@" -- -std=gnu11 $(INCLUDES) 2>/dev/null | grep -E "warning:|error:" && exit 1; exit 0' sh
check-all: lint test

# ---- fuzzing, coverage, benchmarks --------------------------------------------

FUZZ_SECONDS ?= 60
FUZZERS = $(patsubst test/fuzz/fuzz_%.c,%,$(sort $(wildcard test/fuzz/fuzz_*.c)))

.PHONY: fuzz-parts
fuzz-parts:
	@$(MAKE) --no-print-directory -s build/fuzz/parts.a BUILD=build/fuzz CC=clang SANITIZE=1 CFLAGS='-O1 -g -fsanitize=fuzzer-no-link'
$(FUZZERS:%=build/fuzz/%): build/fuzz/%: test/fuzz/fuzz_%.c fuzz-parts
	clang -g -O1 -std=gnu11 $(INCLUDES) -fsanitize=fuzzer,address,undefined -fno-sanitize-recover=all \
	  -o $@ $< build/fuzz/parts.a $(LIBS) -ljansson

.PHONY: fuzz tsan soak coverage bench demo
fuzz: test-deps
	@$(SUBMAKE) $(FUZZERS:%=build/fuzz/%)
	@for f in $(FUZZERS); do \
	  mkdir -p build/fuzz/corpus/$$f; \
	  dict=; [ -f test/fuzz/$$f.dict ] && dict=-dict=test/fuzz/$$f.dict; \
	  echo "fuzz $$f for $(FUZZ_SECONDS) s"; \
	  build/fuzz/$$f $$dict -max_total_time=$(FUZZ_SECONDS) -max_len=4096 -print_final_stats=1 \
	    build/fuzz/corpus/$$f test/fuzz/corpus/$$f > build/fuzz/$$f.log 2>&1 || { tail -40 build/fuzz/$$f.log; exit 1; }; \
	  grep -E 'number_of_executed_units' build/fuzz/$$f.log; \
	done

# A server that meets a race ends, and so does its test.
tsan: test-deps
	@$(SUBMAKE) all BUILD=build/tsan CFLAGS='-O1 -g -fsanitize=thread'
	@TSAN_OPTIONS='halt_on_error=1 suppressions=$(CURDIR)/test/tsan.supp' BUILD=build/tsan test/run $(wildcard test/scenario/serve*.bats test/scenario/hub_race.bats)

# What `make test` does with fewer, so that it stays short.
soak: test-deps
	@$(SUBMAKE) tests
	@HUB_KILLS=200 HUB_TASKS=10000 RESUME_KILLS=200 test/run test/scenario/hub_checker.bats test/fault/resume.bats

coverage: test-deps
	@$(SUBMAKE) tests BUILD=build/coverage CFLAGS='-O1 -g --coverage -fprofile-update=prefer-atomic'
	@BUILD=build/coverage test/run $(patsubst test/%.c,build/coverage/test/%,$(UNIT_SRC)) $(BATS_FAST)
	@# what a child of vfork counts may be torn: a line of that kind is passed over
	@gcovr --root . --filter src/ build/coverage --gcov-ignore-parse-errors --print-summary --html-details build/coverage/index.html >build/coverage/summary
	@tail -n 4 build/coverage/summary

bench: test-deps
	@tools/deps bench || true # a row whose peer is missing says so
	@$(SUBMAKE) all
	@bench/run

demo: deps
	@$(SUBMAKE) all
	@examples/demo.sh

.PHONY: demo-agents
demo-agents: deps
	@tools/deps agents
	@$(SUBMAKE) all
	@examples/agents.sh

# ---- installing ----------------------------------------------------------------

# The SDKs of other languages, and first agents: what cliq sdk install and cliq team new copy.
SHARE := $(sort sdk-js/index.js $(wildcard sdk-js/*.js sdk-js/*.ts)) $(wildcard sdk-js/package.json sdk-js/README.md sdk-python/pyproject.toml sdk-python/README.md \
  sdk-python/cliq_sdk/*.py sdk-python/cliq_sdk/py.typed) examples/starter/agent.sh examples/starter/agent.c

.PHONY: install uninstall clean
install: all $(BUILD)/cliq.pc $(BUILD)/cliq-hub.pc
	install -d $(DESTDIR)$(PREFIX)/{bin,lib/pkgconfig,include,share/man/man1,share/man/man3,share/man/man5,share/man/man7} \
	  $(DESTDIR)$(PREFIX)/share/{bash-completion/completions,zsh/site-functions,fish/vendor_completions.d}
	install -m 755 $(BUILD)/cliq $(DESTDIR)$(PREFIX)/bin/cliq
	install -m 644 $(BUILD)/libcliq.a $(DESTDIR)$(PREFIX)/lib/libcliq.a
	install -m 755 $(BUILD)/libcliq.so $(DESTDIR)$(PREFIX)/lib/libcliq.so.0
	ln -sf libcliq.so.0 $(DESTDIR)$(PREFIX)/lib/libcliq.so
	install -m 644 include/cliq.h $(DESTDIR)$(PREFIX)/include/cliq.h
	install -m 644 $(BUILD)/cliq.pc $(BUILD)/cliq-hub.pc $(DESTDIR)$(PREFIX)/lib/pkgconfig/
	for p in $(BUILD)/man/*.[1357]; do [ ! -f $$p ] || install -m 644 $$p $(DESTDIR)$(PREFIX)/share/man/man$${p##*.}/; done
	for p in $(SHARE); do install -D -m 644 $$p $(DESTDIR)$(PREFIX)/share/cliq/$$p || exit 1; done
	$(BUILD)/cliq completion bash > $(DESTDIR)$(PREFIX)/share/bash-completion/completions/cliq
	$(BUILD)/cliq completion zsh > $(DESTDIR)$(PREFIX)/share/zsh/site-functions/_cliq
	$(BUILD)/cliq completion fish > $(DESTDIR)$(PREFIX)/share/fish/vendor_completions.d/cliq.fish

uninstall:
	rm -f $(addprefix $(DESTDIR)$(PREFIX)/,bin/cliq lib/libcliq.a lib/libcliq.so lib/libcliq.so.0 \
	  include/cliq.h lib/pkgconfig/cliq.pc lib/pkgconfig/cliq-hub.pc share/bash-completion/completions/cliq \
	  share/zsh/site-functions/_cliq share/fish/vendor_completions.d/cliq.fish share/man/man1/cliq.1 \
	  share/man/man1/cliq-*.1 share/man/man3/cliq-*.3 share/man/man5/cliq-*.5 share/man/man7/cliq-*.7)
	rm -f $(SHARE:%=$(DESTDIR)$(PREFIX)/share/cliq/%)
	[ ! -d $(DESTDIR)$(PREFIX)/share/cliq ] || find $(DESTDIR)$(PREFIX)/share/cliq -depth -type d -empty -delete
	@# older versions had two more programs
	rm -f $(DESTDIR)$(PREFIX)/libexec/cliq/cliq-{full,net}
	[ ! -d $(DESTDIR)$(PREFIX)/libexec/cliq ] || rmdir $(DESTDIR)$(PREFIX)/libexec/cliq

clean:
	rm -rf build sdk-js/index.js
