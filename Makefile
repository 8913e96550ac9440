# Every target that a person, a workflow or .ci/run calls. Reports land in $(REPORTS).

SHELL := /bin/bash -o pipefail
.DEFAULT_GOAL := help

REPORTS    ?= $(CURDIR)/reports
FOCUS      ?=
SKIP       ?=
LABELS     ?=
PROCS      ?= 1
SOURCE     ?=
POLICY     ?=
TEST_SUITE ?=
SEED       ?=
CASES      ?=
VERSIONS   ?=
PAIRS      ?= 5
ROWS       ?=

BIN     := $(CURDIR)/bin/allocatable-diff
JUNIT   := $(CURDIR)/bin/junit
DEMO    := fixtures/clusters/karpenter-demo
DRIFT   := fixtures/clusters/karpenter-drift
TYPES   := fixtures/ec2
GINKGO  := go tool ginkgo
TOOL    := go tool -modfile=.github/tools/go.mod
ACTIONLINT := go tool -modfile=.github/tools/actionlint/go.mod actionlint
TALLY   := go run ./suites/harness/tally
ENVTEST := pkg/offline/servers/envtest.sh
# What e2e-diff runs: a package, or a suite that was compiled before (E2E=allocatable.test).
E2E     := ./suites/allocatable
# The packages without cluster or cloud clients, their tests included, on which the race detector is cheap; and the others.
PURE    := $(addprefix ./pkg/,snapshot expect compare gate recommend options)
CLIENTS := ./pkg/collect ./pkg/offline ./pkg/report ./pkg/cmd/...
# The packages that have Go benchmarks: the whole flow, then single steps.
BENCHMARKS := ./suites/harness/benchmark $(addprefix ./pkg/,expect compare recommend)
# What narrows a run of specs. --fail-on-empty acts per suite, so a narrowed run is judged by the sum of its JUnit files.
NARROW  := $(if $(FOCUS),--focus='$(FOCUS)') $(if $(SKIP),--skip='$(SKIP)') $(if $(LABELS),--label-filter='$(LABELS)')
SPECS    = $(GINKGO) run --randomize-all --keep-going --timeout=60m --procs=$(PROCS) $(or $(strip $(NARROW)),--fail-on-empty) --output-dir=$(JUNIT)
# The suites judge their own fixtures: a cluster named in the environment is for e2e-diff.
CLEAN   := env -u CLUSTER_NAME -u SOURCE -u POLICY -u ALLOWLIST -u BASELINE -u REPORTS

# A path that a person gave from here: the suites run elsewhere. Words that are no path stay as they are.
absolute = $(if $(filter auto ec2 labels,$(1)),$(1),$(if $(1),$(if $(filter /%,$(firstword $(1))),,$(CURDIR)/)$(1)))

.PHONY: help
help: ## Print this help
	@awk 'BEGIN {FS = ":.*## "} /^[a-z0-9-]+:.*## / {printf "  %-12s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

.PHONY: build
build: ## Build the binary into bin/, and beside it the program that its command offline runs
	@go build -ldflags='-s -w' -o $(BIN) ./pkg/cmd/allocatable-diff
	@go build -ldflags='-s -w' -o $(dir $(BIN)) ./pkg/cmd/allocatable-diff-offline

OUTPUTS = $(foreach o,csv=allocatable-diff.csv csv-wide=nodes.csv junit=junit.xml json=run.json markdown=summary.md html=report.html,--output $(subst =,=$(REPORTS)/,$(o)))

.PHONY: demo
demo: build ## Judge the demonstration cluster; needs nothing but Go
	@mkdir -p $(REPORTS)
	@$(BIN) check --cluster-name karpenter-demo --from $(DEMO) --instance-types $(TYPES) --policy $(DEMO)/policy.yaml $(OUTPUTS)
	@echo "reports: $(REPORTS)"

.PHONY: demo-drift
demo-drift: build ## Judge a cluster that drifted: a red gate, so make fails
	@$(BIN) check --cluster-name karpenter-drift --from $(DRIFT) --instance-types $(TYPES) && code=0 || code=$$?; \
		echo "allocatable-diff check: exit $$code"; exit $$code

.PHONY: compare
compare: build ## Show what moved from snapshot BEFORE= to snapshot AFTER=
	@$(BIN) compare "$(BEFORE)" "$(AFTER)"

.PHONY: e2e-diff
e2e-diff: ## One spec per node of CLUSTER_NAME (SOURCE= FOCUS= SKIP= LABELS= PROCS= POLICY= REPORTS=)
	@test -n "$(CLUSTER_NAME)" || { echo "CLUSTER_NAME is not set: make e2e-diff CLUSTER_NAME=prod [SOURCE=dump.json]" >&2; exit 2; }
	@mkdir -p '$(REPORTS)' $(JUNIT)
ifeq ($(filter-out -,$(SOURCE)),)
	@# The cluster is read once, and so is stdin; every process then replays the recording.
	@go run ./pkg/cmd/allocatable-diff snapshot --cluster-name '$(CLUSTER_NAME)' $(if $(SOURCE),--from -) -o '$(REPORTS)/snapshot.json'
endif
	@# The suite is told of e2e.xml itself: Ginkgo's command would read it again, to write it anew.
	@rm -f $(JUNIT)/e2e.xml
	@failed=0; CLUSTER_NAME='$(CLUSTER_NAME)' SOURCE='$(call absolute,$(or $(filter-out -,$(SOURCE)),$(REPORTS)/snapshot.json))' \
		POLICY='$(call absolute,$(POLICY))' ALLOWLIST='$(call absolute,$(ALLOWLIST))' BASELINE='$(call absolute,$(BASELINE))' \
		INSTANCE_TYPES='$(call absolute,$(INSTANCE_TYPES))' REPORTS='$(call absolute,$(REPORTS))' \
		$(SPECS) $(E2E) -- --ginkgo.junit-report='$(abspath $(JUNIT))/e2e.xml' || failed=$$?; \
		[ -e $(JUNIT)/e2e.xml ] || exit $$failed; \
		$(TALLY) $(JUNIT)/e2e.xml && exit $$failed

.PHONY: e2etests
e2etests: ## Run one suite: TEST_SUITE=allocatable, offline, harness or conformance
	@test -d "suites/$(TEST_SUITE)" -a -n "$(TEST_SUITE)" || { echo "TEST_SUITE is one of: $(notdir $(wildcard suites/*))" >&2; exit 2; }
	@mkdir -p $(JUNIT)
	@assets=$$($(ENVTEST)) && KUBEBUILDER_ASSETS=$$assets $(CLEAN) $(SPECS) -v --junit-report=$(TEST_SUITE).xml ./suites/$(TEST_SUITE)

.PHONY: test
test: ## Run every suite and, unless narrowed, every package (FOCUS= SKIP= LABELS= PROCS=)
	@rm -rf $(JUNIT) && mkdir -p $(JUNIT)
	@assets=$$($(ENVTEST)) && export KUBEBUILDER_ASSETS=$$assets && failed=0; \
	if [ -z "$(strip $(NARROW))" ]; then \
		$(CLEAN) $(TOOL) gotestsum --format pkgname --junitfile $(JUNIT)/pure.xml -- -count=1 -race -shuffle=on -cover $(PURE) || failed=1; \
		$(CLEAN) $(TOOL) gotestsum --format pkgname --junitfile $(JUNIT)/clients.xml -- -count=1 -shuffle=on -cover $(CLIENTS) || failed=1; \
	fi; \
	$(CLEAN) $(SPECS) -r --skip-package=oracles,emptyspecs --cover --junit-report=suites.xml ./suites || failed=1; \
	$(TALLY) $(JUNIT) && exit $$failed

.PHONY: conformance
conformance: ## Compare with Karpenter's own code and tables in INSTANCE_TYPE_DATA (SEED= CASES= VERSIONS=)
	@mkdir -p $(JUNIT)
	@cd suites/conformance/oracles/oracle && go test -count=1 .
	@$(CLEAN) INSTANCE_TYPE_DATA='$(if $(INSTANCE_TYPE_DATA),$(abspath $(INSTANCE_TYPE_DATA)))' CONFORMANCE_ORACLES=true \
		CONFORMANCE_SEED='$(SEED)' CONFORMANCE_CASES='$(CASES)' CONFORMANCE_VERSIONS='$(VERSIONS)' \
		$(GINKGO) run -v --keep-going --fail-on-empty --timeout=3h --output-dir=$(JUNIT) --junit-report=conformance.xml ./suites/conformance

.PHONY: coverage
coverage: ## Write the coverage of the packages to reports/coverage.html
	@mkdir -p $(REPORTS)
	@$(CLEAN) go test -count=1 -coverpkg=./pkg/... -coverprofile=$(REPORTS)/coverage.out $(PURE) $(CLIENTS)
	@go tool cover -func=$(REPORTS)/coverage.out | tail -1
	@go tool cover -html=$(REPORTS)/coverage.out -o $(REPORTS)/coverage.html

.PHONY: deflake
deflake: ## Run the suites with the race detector, in random order, until one fails
	@assets=$$($(ENVTEST)) && KUBEBUILDER_ASSETS=$$assets $(CLEAN) $(GINKGO) run -r --skip-package=oracles,emptyspecs --race --randomize-all --randomize-suites --until-it-fails $(NARROW) ./suites

.PHONY: benchmark
benchmark: ## Measure what was promised of speed, then run the Go benchmarks (PAIRS= ROWS= SEED=)
	@mkdir -p $(REPORTS)
	@export INSTANCE_TYPE_DATA='$(if $(INSTANCE_TYPE_DATA),$(abspath $(INSTANCE_TYPE_DATA)))'; failed=0; \
	$(CLEAN) go run ./suites/harness/benchmark -pairs=$(PAIRS) -seed=$(or $(SEED),1) -rows='$(ROWS)' \
		-instance-type-data="$$INSTANCE_TYPE_DATA" | tee $(REPORTS)/benchmark.txt || failed=1; \
	if [ -z '$(ROWS)' ]; then \
		$(CLEAN) go test -run '^$$' -bench . -benchmem -benchtime=0.5s -count=6 $(BENCHMARKS) | tee -a $(REPORTS)/benchmark.txt || failed=1; \
	fi; exit $$failed

.PHONY: envtest
envtest: ## Find, download or build kube-apiserver and etcd; print their folder
	@$(ENVTEST)

.PHONY: toolchain
toolchain: ## Fetch and build the tools that the other targets use
	@go mod download
	@go build -o /dev/null github.com/onsi/ginkgo/v2/ginkgo
	@$(TOOL) gotestsum --version && $(TOOL) golangci-lint --version && $(ACTIONLINT) -version

.PHONY: codegen
codegen: ## Write the goldens and the generated parts of the documentation anew
	@go test -count=1 ./pkg/report ./pkg/cmd/... -update

.PHONY: lint
lint: ## Run the linters
	@$(TOOL) golangci-lint run ./...

.PHONY: verify
verify: lint ## Check tidiness, generated files, linters, workflows and known vulnerabilities
	@go mod tidy -diff
	@$(MAKE) --no-print-directory codegen && git diff --exit-code -- . || { echo "generated files were not up to date: commit what make codegen wrote" >&2; exit 1; }
	@$(ACTIONLINT)
	@$(TOOL) govulncheck ./... || { code=$$?; [ $$code -ne 3 ] && echo "vulnerabilities were NOT checked: their database did not answer" || exit $$code; }

.PHONY: presubmit
presubmit: verify test ## What must pass before a change is proposed
