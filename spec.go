package clichain

import "github.com/clichain/clichain/clispec"

// CliSpec describes one CLI as data. Name and Binary select its program. Args or PromptStyle, Transports, Env and
// Files define its arguments and input. Outputs, Events and Text define how its output is parsed, and Lines and
// ExitCodes define how its failures are recognized. Name and Binary are enough for a CLI that takes "-p PROMPT" and
// prints its answer. Package specs has the built-in specs, and package clispec declares the types of the fields. The
// zero value is invalid. A CliSpec is a plain value that can be stored as JSON. Do not modify the slices and maps of a
// CliSpec after passing it to [NewProvider] or [NewChain]; backends read them concurrently.
type CliSpec = clispec.Spec

// PromptStyle selects how a CLI takes its prompt if its [CliSpec] has no Args: [DashP] or [RunSubcommand]. It is a
// string. The zero value means DashP.
type PromptStyle = clispec.PromptStyle

// The prompt styles: "-p PROMPT", and the subcommand "run PROMPT".
const (
	DashP         = clispec.DashP
	RunSubcommand = clispec.RunSubcommand
)
