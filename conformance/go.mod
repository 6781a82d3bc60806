module github.com/clichain/clichain/conformance

go 1.26.0
