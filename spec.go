package clichain

import "github.com/clichain/clichain/clispec"

// CliSpec is everything that is known about one CLI, as plain data. Package
// clispec has the parts that it is made of.
type CliSpec = clispec.Spec

// PromptStyle is how a simple CLI takes its prompt.
type PromptStyle = clispec.PromptStyle

// The prompt styles.
const (
	DashP         = clispec.DashP
	RunSubcommand = clispec.RunSubcommand
)
