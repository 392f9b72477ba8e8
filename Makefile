# The commands of fledge; `make` alone lists them. CMakeLists.txt says how things are built.
BUILD ?= build
PREFIX ?= /usr/local
NATIVE ?= 1
FLEDGE_WERROR ?= 0
BUG ?= 1
PEERS ?= ../shared/peers

on_1 = ON
on_0 = OFF
OPTIONS = -DFLEDGE_NATIVE=$(on_$(NATIVE)) -DFLEDGE_WERROR=$(on_$(FLEDGE_WERROR))

need = @.ci/install-missing compiler cmake
TEST_OPTIONS = $(OPTIONS) -DFLEDGE_TESTS=ON
built = $(need) && .ci/build $(BUILD) "$(OPTIONS)"
built_tests = $(need) catch2 && .ci/build $(BUILD) "$(TEST_OPTIONS)"
checked = $(need) catch2 && .ci/check

.PHONY: help help-maintainers run test check approve size build gradcheck lesson lessons page exercises zoo planted bench nightly kills faults page-test parity peers asan tsan threads format lint install clean page-bits

help:
	@echo 'make run         build and run the birds, the main job        (ARGS="--seed 7")'
	@echo 'make test        build everything and pass every test       (ONLY=softmax: those tests)'
	@echo 'make build       build the libraries and programs in $(BUILD)/'
	@echo 'make install     install libraries and programs                 (PREFIX=$(PREFIX))'
	@echo 'make gradcheck   check the gradient of every op and module    (ARGS=softmax)'
	@echo 'make lesson      read the course in the terminal, on from where you were   (N=7)'
	@echo 'make lessons     run all lessons, a line each; examples/README.md is their table'
	@echo 'make exercises   exercises that check themselves                (N=3, then HINT=1)'
	@echo 'make zoo         one wrong line in a copy of fledge: find it       (BUG=7, then ANSWER=1)'
	@echo 'make page        the course as a book in $(BUILD)/fledge.html, with a model that learns'
	@echo 'make bench       how fast, and how near to this machine       (ARGS="gemm 512 512 512")'
	@echo 'make clean       remove $(BUILD)/'
	@echo 'make help-maintainers   what those who change fledge run'
	@echo
	@echo 'What a command needs and this machine lacks is installed first, and said so.'
	@echo 'NATIVE=0 builds for any processor of this kind, FLEDGE_WERROR=1 refuses warnings,'
	@echo 'CXX=clang++ chooses the compiler of a new build folder, BUILD=folder that folder.'

help-maintainers:
	@echo 'make check        the tests of engine/ and nn/ alone'
	@echo 'make approve      write what the command says into tests/command/*.txt    (ONLY=help)'
	@echo 'make size         the lines of each group of folders, and their limits'
	@echo 'make format       lay out the sources with clang-format'
	@echo 'make lint         clang-format and clang-tidy, without a change to any file'
	@echo 'make planted      plant known bugs one by one; the checks must catch each (half an hour)'
	@echo 'make nightly      what takes long: every float, other instructions, make asan'
	@echo 'make kills        training, killed 200 times, ends in the bytes of a run that was not'
	@echo 'make faults       every system call of a run fails once, is killed or loses its power'
	@echo 'make asan         the tests under AddressSanitizer and UndefinedBehaviorSanitizer'
	@echo 'make tsan         the tests under ThreadSanitizer'
	@echo 'make threads      of these the tests of what threads touch (a minute)'
	@echo 'make page-test    the HTML pages in a real browser: no message, keyboard, numbers'
	@echo 'make page-bits    the engine of a page in node, beside a build with NATIVE=0'
	@echo 'make parity       every op and module, AdamW, Muon and folders of Llama, beside PyTorch'
	@echo 'make peers        fledge beside oneDNN and PyTorch, in turn       (PEERS=$(PEERS))'

run:
	$(built) birds
	@$(BUILD)/birds $(ARGS)

test:
	$(checked) $(BUILD) "$(TEST_OPTIONS)" "$(ONLY)"

check:
	$(checked) $(BUILD) "$(TEST_OPTIONS)" '^(f32|dual)/'

approve:
	$(built_tests) transcripts
	@$(BUILD)/tests/transcripts --approve tests/command/$(or $(ONLY),*).txt

size:
	@.ci/size

build:
	$(built) installed

gradcheck bench:
	$(built) fledge_command
	@$(BUILD)/fledge $@ $(ARGS)

lesson:
	$(need) && .ci/read $(BUILD) "$(OPTIONS)" $(N)

lessons:
	$(built) lessons
	@.ci/lessons $(BUILD)

# Without the compiler for its engine, which may not be there to install, the page is made without it.
page:
	@.ci/wasm $(BUILD)/page/fledge.wasm || { [ $$? -eq 77 ] && \
	  echo 'The page has no live part: the compiler for WebAssembly is missing here.'; }
	$(built) lessons birds fledge_command
	@.ci/book $(BUILD) >$(BUILD)/book.jsonl
	@$(BUILD)/birds --page $(BUILD)/fledge.html --book $(BUILD)/book.jsonl >/dev/null
	@echo 'The page is in $(BUILD)/fledge.html: open it in a browser.'

# An exercise that is not solved is no error of make.
exercises:
	$(need)
	@.ci/build $(BUILD) "$(OPTIONS)" exercises || \
	  { echo "An answer does not compile: look at the first 'error:' above." >&2; exit 1; }
	@$(BUILD)/exercises $(N) $(if $(HINT),--hint $(HINT)) || [ $$? -eq 1 ]

planted:
	$(need) catch2 && tests/planted/plant.sh $(ARGS)

zoo:
	$(need) catch2 && tests/planted/plant.sh $(if $(ANSWER),--answer,--zoo $(BUG))

nightly:
	$(built_tests) tests32 tests_dual nightly_kernels
	@$(BUILD)/tests/tests32 '[.nightly]'
	@$(BUILD)/tests/tests_dual '[.nightly]'
	@.ci/nightly $(BUILD)
	@CXX=clang++ $(MAKE) asan

kills:
	$(built_tests) tests_examples
	@FLEDGE_KILLS=200 $(BUILD)/tests/tests_examples '[kills]'

faults:
	$(built_tests) faults
	@$(BUILD)/tests/faults $(ARGS)

# Without what they need beside the build (node, the compiler for WebAssembly, Chromium, PyTorch, the
# programs and libraries of peers) these scripts say so and stop with exit status 77.
page-bits:
	$(need) catch2 && .ci/page-bits $(BUILD)

page-test parity:
	$(need) catch2 && .ci/$@ $(BUILD) "$(TEST_OPTIONS)" $(ARGS)

peers:
	$(need) && .ci/peers $(BUILD) "$(OPTIONS)" $(PEERS) $(ARGS)

asan:
	$(checked) $(BUILD)/asan "$(TEST_OPTIONS) -DFLEDGE_SANITIZE=address,undefined" "$(ONLY)"

tsan:
	$(checked) $(BUILD)/tsan "$(TEST_OPTIONS) -DFLEDGE_SANITIZE=thread"

threads:
	$(need) catch2 && .ci/build $(BUILD)/tsan "$(TEST_OPTIONS) -DFLEDGE_SANITIZE=thread" tests_threads
	@$(BUILD)/tsan/tests/tests_threads

format:
	@.ci/install-missing clang-format && .ci/lint format

lint:
	$(need) clang clang-format clang-tidy && .ci/lint check $(BUILD)/lint

install:
	$(built) installed
	@cmake --install $(BUILD) --prefix "$(PREFIX)" >/dev/null
	@echo 'Installed in $(PREFIX): find_package(fledge) gives fledge::fledge and'
	@echo 'fledge::fledge_dual; the programs are birds and fledge.'

clean:
	@if [ -f "$(BUILD)/CMakeCache.txt" ]; then rm -rf "$(BUILD)"; fi
