# What a contributor does. CI does the same with .ci/run; docs/how-to/run-the-tests.md explains each command.
.PHONY: help test race lint clis record fuzz docs bench release ci

help: ## list these tasks
	@grep -E '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed -E 's/^([a-z]+):.*## (.*)/  make \1\t\2/' | expand -t 18

test: ## run all tests, and count the skipped ones
	go test -json work | go run ./internal/testreport

race: ## run the tests with the race detector
	.ci/run race

lint: ## check the form: gofmt, vet, staticcheck, modules, prose
	.ci/run form

clis: ## install the real CLIs, and run their tests
	.ci/run clis

record: ## record the real CLIs again: make record RUN=claude/ok
	cd conformance && go test -run 'TestRecord/$(RUN)' -record ../internal/reading/testdata/recordings -timeout 30m -v .
	go test -run Recordings -update ./internal/reading

fuzz: ## fuzz each target
	.ci/run fuzz

docs: ## write the tables of the pages that come from the code
	go test ./internal/repo ./internal/compose ./clispec -update

bench: ## measure, and write the figures of the pages
	go test ./internal/repo -run Measure -measure -timeout 60m

release: ## make a release, and follow README with it
	.ci/run release

ci: ## run everything that a change must pass
	.ci/run
