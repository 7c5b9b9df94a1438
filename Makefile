# SPDX-License-Identifier: GPL-2.0-or-later
#
# The front door: one target for each thing a newcomer wants to do.  What is
# built is decided in meson.build; every file made lies under build/.
#
#   make demo     from nothing to training batches, with a picture to look at
#   make check    everything that can be tested on this machine
#   make help     the rest

PYTHON ?= /usr/bin/python3
MESON ?= meson
PREFIX ?= /usr/local
DESTDIR ?=
# Debian's folder for libraries of this processor; Meson knows it only where
# dpkg-dev is installed
MULTIARCH = $(shell $(CC) -print-multiarch 2>/dev/null)
LIBDIR ?= lib$(if $(MULTIARCH),/$(MULTIARCH))

NEED := tools/setup/need.sh
RELEASE := build/release
INSTALL := build/install
CHECK_PY := $(PYTHON) tests/run/check.py

MAKEFLAGS += --no-print-directory

.PHONY: all demo check check-fast check-long bench install installed doc clean help

all:
	@$(NEED) build
	@$(MAKE) $(RELEASE)/build.ninja
	@$(MESON) compile -C $(RELEASE)

$(RELEASE)/build.ninja:
	@$(MESON) setup $(RELEASE) --buildtype=release -Dtools=enabled \
		-Dtests=disabled

demo:
	@$(NEED) build demo
	@tools/demo/demo.sh

check-fast:
	@$(NEED) build fast
	@$(CHECK_PY) fast

check:
	@$(NEED) build demo install fast check
	@$(CHECK_PY) full

check-long:
	@$(NEED) build demo install fast check long
	@$(CHECK_PY) long

bench:
	@$(NEED) build demo bench
	@QUICK=$(QUICK) CHECK=$(CHECK) PEERS=$(PEERS) tests/bench/bench.sh

install:
	@$(NEED) build install
	@$(MAKE) installed

# A folder of its own: what was configured without the Python package stays so.
# A make of its own: only now the compiler is there to be asked for LIBDIR.
installed:
	@$(MESON) setup $(if $(wildcard $(INSTALL)/build.ninja),--reconfigure) \
		$(INSTALL) --buildtype=release --prefix=$(PREFIX) \
		--libdir=$(LIBDIR) \
		-Dtools=enabled -Dtests=disabled -Dpython=enabled
	@$(MESON) compile -C $(INSTALL)
	@$(MESON) install -C $(INSTALL) --no-rebuild \
		$(if $(DESTDIR),--destdir=$(abspath $(DESTDIR)))
	@test -n "$(DESTDIR)" || test "$$(id -u)" -ne 0 || ldconfig

doc:
	@$(NEED) doc
	@$(PYTHON) -m sphinx -q -W --keep-going -b html Documentation \
		build/doc/html
	@echo "Documentation: build/doc/html/index.html"

clean:
	@rm -rf build

help:
	@echo 'Targets:'
	@echo '  all         the library, the command and the Python package, optimised'
	@echo '  demo        fetch photographs, stream one epoch, draw a contact sheet'
	@echo '  check-fast  build, unit tests and style gates; 3 minutes, no network'
	@echo '  check       everything this machine can test; ends with the counts'
	@echo '  check-long  check, and what takes hours or a second root file system'
	@echo '  bench       against the peers; QUICK=1 for 5 minutes, CHECK=1 decides'
	@echo '  install     PREFIX=/usr/local LIBDIR= DESTDIR='
	@echo '  doc         build/doc/html'
	@echo '  clean       remove build/'
	@echo
	@echo 'Parts of check (make check PARTS="asan gates" runs some of them):'
	@$(CHECK_PY) --list
	@echo
	@echo 'Gates (each a script in tests/checks, to be run alone):'
	@$(CHECK_PY) --list-gates
	@echo
	@echo 'What each target needs: tools/setup/need.sh --list build fast check ...'
