package clichain

import "github.com/clichain/clichain/clispec"

// CliSpec describes one CLI as data: its program (Name, Binary), how it is asked (Args or PromptStyle, Transports, Env,
// Files), how its output is read (Outputs, Events, Text), and what its failures look like (Lines, ExitCodes). Package
// specs has the built-in ones, package clispec the types of the fields. Name and Binary are enough for a CLI that takes
// "-p PROMPT" and prints its answer; the zero value is refused. A CliSpec survives JSON. Do not change the slices and
// maps of one that a [Provider] was made of.
type CliSpec = clispec.Spec

// PromptStyle says how a CLI whose [CliSpec] has no Args takes its prompt: [DashP], which the zero value means too, or
// [RunSubcommand].
type PromptStyle = clispec.PromptStyle

// The prompt styles: "-p PROMPT", and "run PROMPT".
const (
	DashP         = clispec.DashP
	RunSubcommand = clispec.RunSubcommand
)
