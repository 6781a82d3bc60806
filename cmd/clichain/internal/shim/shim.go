// Package shim makes this program a shim, if it was started as one. Go initializes it before most packages of the
// command, whose initialization would take most of a shim's time.
package shim

import "github.com/clichain/clichain/runs"

// Works reports whether clichain.Config.Shim works in this process.
var Works = runs.ShimMain()
