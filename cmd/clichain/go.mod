module github.com/clichain/clichain/cmd/clichain

go 1.26.0
