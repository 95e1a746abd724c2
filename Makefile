# cliq - GNU make. The targets people use:
#
#   make          build/cliq, build/libcliq.a, build/libcliq.so
#   make demo     installs what is missing, builds, shows the main job
#   make test     installs what is missing, builds, runs every test
#   make check    the fast part of the tests, in under a minute
#   make bench    our numbers beside their peers'
#   make fuzz     every fuzz target for FUZZ_SECONDS (60) each
#   make tsan     the server's tests with ThreadSanitizer
#   make soak     the tests that kill, with 200 kills each and 10,000 tasks
#   make coverage, format, lint, check-layers, install, uninstall, clean
#
# Variables: CC, CFLAGS, PREFIX (/usr/local), DESTDIR, SANITIZE=1 (ASan + UBSan),
# LEAN=0 (one binary, without the small static front), SHARED=1 (libraries are loaded at the start).

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

VERSION := $(shell sed -n 's/^\#define CLIQ_VERSION  *"\(.*\)"/\1/p' include/cliq.h)

# ---- flags -------------------------------------------------------------------

cc-option = $(shell echo 'int x;' | $(1) -Werror $(2) -xc -c -o /dev/null - 2>/dev/null && echo '$(2)')

WARN := -Wall -Wextra -Werror -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wpointer-arith \
        -Wvla -Wundef -Wwrite-strings -Wno-missing-field-initializers
HARDEN_ANY := -fstack-protector-strong -fstack-clash-protection -fcf-protection \
              $(call cc-option,$(CC),-ftrivial-auto-var-init=zero)
HARDEN_LINK := -Wl,-z,relro,-z,now,-z,noexecstack

ifeq ($(SANITIZE),1)
  HARDEN := -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer
  CFLAGS := -O1 -g
  LEAN   := 0
else
  HARDEN := $(HARDEN_ANY) -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=3
endif

# The front is static and built with musl, whose programs start in a quarter of the time.
MUSL_CC  ?= musl-gcc
MUSL_DIR  = /usr/lib/x86_64-linux-musl
LEAN     ?= $(if $(and $(shell command -v $(MUSL_CC)),$(wildcard $(MUSL_DIR)/rcrt1.o)),1,0)

INCLUDES   := -Isrc -Iinclude
PACKAGES    = libuv libutf8proc yaml-0.1 libsodium sqlite3
LIB_CFLAGS := $(shell $(PKGCONFIG) --cflags $(PACKAGES) 2>/dev/null)
LIBS        = $(shell $(PKGCONFIG) --libs $(PACKAGES)) -lpthread
# Commands run once a signal: to find five libraries takes a third of a start. Where all archives
# are there they are linked in.
ARCHIVES   := $(foreach a,libuv_a.a libutf8proc.a libyaml.a libsodium.a libsqlite3.a,$(filter /%,$(shell $(CC) -print-file-name=$(a))))
FULL_LIBS   = $(if $(filter 1,$(SHARED))$(filter-out 5,$(words $(ARCHIVES))),$(LIBS),$(ARCHIVES) -lm -ldl -lrt -lpthread)
NET_CFLAGS := $(shell $(PKGCONFIG) --cflags libcurl 2>/dev/null)
NET_LIBS    = $(shell $(PKGCONFIG) --libs libcurl)
ALL_CFLAGS  = -std=gnu11 $(INCLUDES) $(WARN) $(HARDEN) -fPIC -fvisibility=hidden $(CFLAGS)
LEAN_CFLAGS = -std=gnu11 $(INCLUDES) $(WARN) $(filter-out -fcf-protection,$(HARDEN_ANY)) -fPIE \
              -DCLIQ_LEAN -O2 -g -ffunction-sections -fdata-sections

# ---- sources -----------------------------------------------------------------

# These meet libuv, utf8proc, libyaml, libsodium or SQLite, or stand on what does, or belong
# to the hub and its server, which no command of the front needs: only the full program has
# them. Everything else is the core, of which the front takes what it needs.
FULL_ONLY := $(addprefix src/,base/loop.c base/outlet.c base/table.c base/yaml.c base/yaml_json.c base/yaml_twins.c $(patsubst src/%,%,$(filter-out src/team/template%,$(wildcard src/team/*.c))) \
             $(addprefix run/,announce.c begin.c attend.c broadcast.c cancel.c crew.c dag.c drive.c env.c finish.c foresee.c journal.c live.c lockfile.c notify.c panes.c past.c plan.c prepare.c project.c \
             sched.c sched_route.c tmux.c transition.c verdict.c view.c wake.c wake_lock.c)) \
             $(filter-out src/net/fetch.c,$(sort $(wildcard src/net/*.c src/hub/*.c src/door/*.c src/serve/*.c)))
CORE_SRC  := $(filter-out $(FULL_ONLY),$(sort $(wildcard src/base/*.c src/log/*.c src/room/*.c src/team/*.c src/run/*.c)))
AGENT_SRC := $(addprefix src/agents/,agent.c results.c shell.c verdict.c)
LIB_SRC   := $(CORE_SRC) $(filter-out src/sdk/hub%.c,$(sort $(wildcard src/sdk/*.c)))
# The library's calls of the hub, with all they stand on.
HUBLIB_SRC := $(sort $(wildcard src/sdk/hub*.c)) src/run/wake_lock.c $(sort $(wildcard src/hub/*.c src/door/*.c)) \
              $(addprefix src/net/,client.c wire.c sse.c http.c http_body.c http_text.c)
HUBLIB_BASE := $(filter src/base/% src/log/%,$(CORE_SRC))
HUB_LIBS    = $(shell $(PKGCONFIG) --libs sqlite3 libsodium)
CMDS      := $(shell sed -n 's/^\(LEAN\|FULL\)(\(.*\))/\2/p' src/cmd/cmds.def)
LEAN_CMDS := $(shell sed -n 's/^LEAN(\(.*\))/\1/p' src/cmd/cmds.def)
cmd_src    = $(patsubst src/cmd/agent_%,src/agents/%,$(1:%=src/cmd/%.c))
CMD_SRC   := $(call cmd_src,$(CMDS)) $(AGENT_SRC) src/agents/entry.c $(addprefix src/cmd/,cmd.c show.c listen.c team_find.c sdk.c workflow.c \
             hub_call.c hub_show.c hub_list.c hub_watch.c interrupt.c)
FULL_SRC  := $(CORE_SRC) $(FULL_ONLY) $(CMD_SRC) src/main.c
# What meets libcurl, whose thirty libraries cost 6 ms at every start. cliq-net is the full
# program with these files; in cliq-full they are missing (net/fetch.h), and the commands
# that need them become cliq-net. Without the front there is one program, with everything.
NET_SRC   := src/net/fetch.c
LEAN_SRC  := $(AGENT_SRC) src/cmd/cmd.c src/cmd/sdk.c $(call cmd_src,$(LEAN_CMDS)) src/lean.c src/lean_heap.c

obj = $(patsubst %.c,$(BUILD)/obj/%.o,$(1))
lean_obj = $(patsubst %.c,$(BUILD)/lean/%.o,$(1))

PROGRAMS := $(BUILD)/cliq $(if $(filter 1,$(LEAN)),$(BUILD)/cliq-full $(BUILD)/cliq-net)
LIBRARIES := $(BUILD)/libcliq.a $(BUILD)/libcliq.so

.PHONY: all
all: $(PROGRAMS) $(LIBRARIES) man

# Objects depend on how they are compiled: other flags, other objects.
$(BUILD)/flags: FORCE
	@$(PKGCONFIG) --print-errors --exists $(PACKAGES) libcurl || \
	  { echo "cliq: tools/deps installs what is missing, as make demo and make test do" >&2; exit 1; }
	@mkdir -p $(BUILD)
	@echo '$(CC) $(ALL_CFLAGS) | $(LEAN) $(SHARED) $(MUSL_CC) $(LEAN_CFLAGS)' | cmp -s - $@ || \
	  echo '$(CC) $(ALL_CFLAGS) | $(LEAN) $(SHARED) $(MUSL_CC) $(LEAN_CFLAGS)' > $@
FORCE:

$(BUILD)/obj/%.o: %.c $(BUILD)/flags
	@mkdir -p $(@D)
	$(CC) $(ALL_CFLAGS) $(if $(filter test/%,$<),-Itest/lib) $(if $(filter $(FULL_ONLY),$<),$(LIB_CFLAGS)) $(if $(filter $(NET_SRC),$<),$(NET_CFLAGS)) -MMD -MP -c -o $@ $<

$(BUILD)/lean/%.o: %.c $(BUILD)/flags
	@mkdir -p $(@D)
	$(MUSL_CC) $(LEAN_CFLAGS) -MMD -MP -c -o $@ $<

FULL := $(BUILD)/$(if $(filter 1,$(LEAN)),cliq-full,cliq)
$(FULL): $(call obj,$(FULL_SRC) $(if $(filter 1,$(LEAN)),,$(NET_SRC)))
	$(CC) $(ALL_CFLAGS) -pie $(HARDEN_LINK) -o $@ $^ $(FULL_LIBS) $(if $(filter 1,$(LEAN)),,$(NET_LIBS))

$(BUILD)/cliq-net: $(call obj,$(FULL_SRC) $(NET_SRC))
	$(CC) $(ALL_CFLAGS) -pie $(HARDEN_LINK) -o $@ $^ $(LIBS) $(NET_LIBS)

ifeq ($(LEAN),1)
# A static PIE; musl-gcc's specs know no such thing, so its start files are named here.
$(BUILD)/cliq: $(call lean_obj,$(LEAN_SRC)) $(BUILD)/lean/core.a | $(FULL)
	$(MUSL_CC) -nostartfiles -static -Wl,-pie,--no-dynamic-linker,-z,text,-z,noseparate-code,--gc-sections $(HARDEN_LINK) \
	  -o $@ $(MUSL_DIR)/rcrt1.o $(MUSL_DIR)/crti.o $^ $(MUSL_DIR)/crtn.o

$(BUILD)/lean/core.a: $(call lean_obj,$(CORE_SRC))
	rm -f $@ && ar rcs $@ $^
endif

$(BUILD)/libcliq.so: $(call obj,$(LIB_SRC) $(HUBLIB_SRC))
	$(CC) $(ALL_CFLAGS) -shared -Wl,-soname,libcliq.so.0 $(HARDEN_LINK) -o $@ $^ $(HUB_LIBS) -lpthread
	ln -sf libcliq.so $(BUILD)/libcliq.so.0

# Objects with only the public names visible, so that ours meet nobody else's. Those of the hub are
# one of their own, with a copy of what both stand on: who does not call it links no SQLite.
$(BUILD)/lib/cliq.o: $(call obj,$(LIB_SRC))
$(BUILD)/lib/cliq-hub.o: $(call obj,$(HUBLIB_SRC) $(HUBLIB_BASE))
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

-include $(shell find $(BUILD)/obj $(BUILD)/lean $(BUILD)/test -name '*.d' 2>/dev/null)

# ---- man pages, made from the command table -----------------------------------

PAGES := $(subst _,-,$(filter-out complete exec_attempt attend,$(CMDS)))
MAN1  := $(BUILD)/man/cliq.1 $(PAGES:%=$(BUILD)/man/cliq-%.1)
MAN5  := $(patsubst man/%.scd,$(BUILD)/man/%,$(wildcard man/*.scd))

# Their date is that of the last commit, without git that of the changelog: the same sources give
# the same pages.
SOURCE_DATE_EPOCH ?= $(shell git log -1 --format=%ct 2>/dev/null || stat -c %Y CHANGELOG.md)
SCDOC = SOURCE_DATE_EPOCH=$(SOURCE_DATE_EPOCH) scdoc

.PHONY: man
man: $(if $(shell command -v scdoc),$(MAN1) $(MAN5))

$(BUILD)/man/cliq.1: $(FULL)
	@mkdir -p $(@D)
	$(FULL) help --scdoc | $(SCDOC) > $@
$(BUILD)/man/cliq-%.1: $(FULL)
	@mkdir -p $(@D)
	$(FULL) help --scdoc $* | $(SCDOC) > $@
$(BUILD)/man/%: man/%.scd
	@mkdir -p $(@D)
	$(SCDOC) < $< > $@

# ---- tests -------------------------------------------------------------------

TESTLIB_SRC := $(sort $(wildcard test/lib/*.c))
UNIT_SRC    := $(sort $(wildcard test/unit/test_*.c test/fault/test_*.c))
UNITS        = $(patsubst test/%.c,$(BUILD)/test/%,$(UNIT_SRC))
BATS_FAST   := $(sort $(wildcard test/cli/*.bats))
BATS_SLOW   := $(sort $(wildcard test/scenario/*.bats test/fault/*.bats))
# Both executors pass the same tests: these once more, with agents in tmux.
BATS_TMUX   := $(addprefix tmux:test/,scenario/pipeline_trace.bats scenario/pipeline_gates.bats \
               scenario/pipeline_agents.bats scenario/pipeline_broadcast.bats fault/resume.bats)
TOOLS        = $(patsubst test/%.c,$(BUILD)/test/%,$(wildcard test/tools/*.c))
EXAMPLES     = $(patsubst examples/%.c,$(BUILD)/examples/%,$(wildcard examples/*.c examples/*/*.c))

UNIT_OBJ = $(call obj,$(filter-out src/main.c,$(FULL_SRC)) $(sort $(wildcard src/sdk/*.c)) $(TESTLIB_SRC))
$(UNITS): $(BUILD)/test/%: test/%.c $(UNIT_OBJ)
	@mkdir -p $(@D)
	$(CC) $(ALL_CFLAGS) -Itest/lib -MMD -MP -o $@ $< $(UNIT_OBJ) $(UNIT_NET) $(LIBS) -lcmocka -ljansson

# Only the tests of fetch load libcurl.
$(BUILD)/test/unit/test_fetch: $(call obj,$(NET_SRC))
$(BUILD)/test/unit/test_fetch: UNIT_NET = $(call obj,$(NET_SRC)) $(NET_LIBS)

$(TOOLS): $(BUILD)/test/%: test/%.c $(call obj,$(CORE_SRC))
	@mkdir -p $(@D)
	$(CC) $(ALL_CFLAGS) -MMD -MP -o $@ $< $(call obj,$(CORE_SRC)) -lpthread

$(BUILD)/examples/%: examples/%.c $(BUILD)/libcliq.a
	@mkdir -p $(@D)
	$(CC) -std=c11 -Wall -Wextra -Werror -Iinclude $(CFLAGS) $(if $(filter 1,$(SANITIZE)),$(HARDEN)) -o $@ $< $(BUILD)/libcliq.a $(if $(filter examples/hub_%,$<),$(HUB_LIBS)) -lpthread

.PHONY: deps test-deps tests test check
deps:
	@tools/deps build
test-deps:
	@tools/deps test

tests: all $(UNITS) $(TOOLS) $(EXAMPLES)

test: test-deps
	@$(MAKE) --no-print-directory -s -j$$(nproc) all
	@$(MAKE) --no-print-directory -s -j$$(nproc) tests SANITIZE=1
	@$(MAKE) --no-print-directory -s -j$$(nproc) tests
	@test/run $(patsubst test/%.c,build/sanitize/test/%,$(UNIT_SRC)) $(BATS_FAST) $(BATS_SLOW) $(BATS_TMUX)

check: test-deps
	@$(MAKE) --no-print-directory -s -j$$(nproc) tests
	@test/run $(UNITS) $(BATS_FAST)

# ---- style, layers, analysis --------------------------------------------------

C_FILES = $(shell git ls-files -co --exclude-standard '*.c' '*.h')

.PHONY: format check-format check-layers lint check-all
format:
	clang-format -i $(C_FILES)
check-format:
	clang-format --dry-run -Werror $(C_FILES)
check-layers:
	tools/check-layers
lint: test-deps
	@$(MAKE) --no-print-directory check-format check-layers
	@$(MAKE) --no-print-directory -s -j$$(nproc) all CC=clang BUILD=build/clang LEAN=0
	@$(MAKE) --no-print-directory -s -j$$(nproc) all CC=gcc BUILD=build/analyzer LEAN=0 CFLAGS='-O2 -g -fanalyzer'
	cppcheck --quiet -DCPPCHECK --error-exitcode=1 --enable=warning,performance,portability --inline-suppr \
	  --std=c11 -j$$(nproc) $(INCLUDES) --suppress=missingIncludeSystem src
	@echo clang-tidy src && printf '%s\n' src/*/*.c src/*.c | xargs -P$$(nproc) -n8 sh -c \
	  'clang-tidy --quiet "$$@" -- -std=gnu11 $(INCLUDES) 2>/dev/null | grep -E "warning:|error:" && exit 1; exit 0' sh
check-all: lint test

# ---- fuzzing, coverage, benchmarks --------------------------------------------

FUZZ_SECONDS ?= 60
FUZZERS = $(patsubst test/fuzz/fuzz_%.c,%,$(sort $(wildcard test/fuzz/fuzz_*.c)))

FUZZ_SRC = $(filter-out src/main.c src/cmd/% src/agents/%,$(FULL_SRC))
build/fuzz/%: test/fuzz/fuzz_%.c $(FUZZ_SRC) $(wildcard src/*/*.h test/fuzz/*.h)
	@mkdir -p $(@D)
	clang -g -O1 -std=gnu11 $(INCLUDES) -fsanitize=fuzzer,address,undefined -fno-sanitize-recover=all \
	  -o $@ $< $(FUZZ_SRC) $(LIBS) -ljansson

.PHONY: fuzz tsan soak coverage bench demo
fuzz: test-deps
	@$(MAKE) --no-print-directory -s -j$$(nproc) $(FUZZERS:%=build/fuzz/%)
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
	@$(MAKE) --no-print-directory -s -j$$(nproc) all BUILD=build/tsan LEAN=0 CFLAGS='-O1 -g -fsanitize=thread'
	@TSAN_OPTIONS='halt_on_error=1 suppressions=$(CURDIR)/test/tsan.supp' BUILD=build/tsan test/run $(wildcard test/scenario/serve*.bats test/scenario/hub_race.bats)

# What `make test` does with fewer, so that it stays short.
soak: test-deps
	@$(MAKE) --no-print-directory -s -j$$(nproc) tests
	@HUB_KILLS=200 HUB_TASKS=10000 RESUME_KILLS=200 test/run test/scenario/hub_checker.bats test/fault/resume.bats

coverage: test-deps
	@$(MAKE) --no-print-directory -s -j$$(nproc) tests BUILD=build/coverage LEAN=0 CFLAGS='-O1 -g --coverage -fprofile-update=prefer-atomic'
	@BUILD=build/coverage test/run $(patsubst test/%.c,build/coverage/test/%,$(UNIT_SRC)) $(BATS_FAST)
	@# what a child of vfork counts may be torn: a line of that kind is passed over
	@gcovr --root . --filter src/ build/coverage --gcov-ignore-parse-errors --print-summary --html-details build/coverage/index.html >build/coverage/summary
	@tail -n 4 build/coverage/summary

bench: test-deps
	@tools/deps bench || true # a row whose peer is missing says so
	@$(MAKE) --no-print-directory -s -j$$(nproc) all
	@bench/run

demo: deps
	@$(MAKE) --no-print-directory -s -j$$(nproc) all
	@examples/demo.sh

# ---- installing ----------------------------------------------------------------

.PHONY: install uninstall clean
install: all $(BUILD)/cliq.pc $(BUILD)/cliq-hub.pc
	install -d $(DESTDIR)$(PREFIX)/{bin,lib/pkgconfig,include,share/man/man1,share/man/man3,share/man/man5,share/man/man7} \
	  $(DESTDIR)$(PREFIX)/share/{bash-completion/completions,zsh/site-functions,fish/vendor_completions.d}
	install -m 755 $(BUILD)/cliq $(DESTDIR)$(PREFIX)/bin/cliq
ifeq ($(LEAN),1)
	install -d $(DESTDIR)$(PREFIX)/libexec/cliq
	install -m 755 $(BUILD)/cliq-full $(BUILD)/cliq-net $(DESTDIR)$(PREFIX)/libexec/cliq/
endif
	install -m 644 $(BUILD)/libcliq.a $(DESTDIR)$(PREFIX)/lib/libcliq.a
	install -m 755 $(BUILD)/libcliq.so $(DESTDIR)$(PREFIX)/lib/libcliq.so.0
	ln -sf libcliq.so.0 $(DESTDIR)$(PREFIX)/lib/libcliq.so
	install -m 644 include/cliq.h $(DESTDIR)$(PREFIX)/include/cliq.h
	install -m 644 $(BUILD)/cliq.pc $(BUILD)/cliq-hub.pc $(DESTDIR)$(PREFIX)/lib/pkgconfig/
	for p in $(BUILD)/man/*.[1357]; do [ ! -f $$p ] || install -m 644 $$p $(DESTDIR)$(PREFIX)/share/man/man$${p##*.}/; done
	$(FULL) completion bash > $(DESTDIR)$(PREFIX)/share/bash-completion/completions/cliq
	$(FULL) completion zsh > $(DESTDIR)$(PREFIX)/share/zsh/site-functions/_cliq
	$(FULL) completion fish > $(DESTDIR)$(PREFIX)/share/fish/vendor_completions.d/cliq.fish

uninstall:
	rm -f $(addprefix $(DESTDIR)$(PREFIX)/,bin/cliq libexec/cliq/cliq-full libexec/cliq/cliq-net lib/libcliq.a lib/libcliq.so \
	  lib/libcliq.so.0 include/cliq.h lib/pkgconfig/cliq.pc lib/pkgconfig/cliq-hub.pc share/bash-completion/completions/cliq \
	  share/zsh/site-functions/_cliq share/fish/vendor_completions.d/cliq.fish share/man/man1/cliq.1 \
	  share/man/man1/cliq-*.1 share/man/man3/cliq-*.3 share/man/man5/cliq-*.5 share/man/man7/cliq-*.7)
	[ ! -d $(DESTDIR)$(PREFIX)/libexec/cliq ] || rmdir $(DESTDIR)$(PREFIX)/libexec/cliq

clean:
	rm -rf build
