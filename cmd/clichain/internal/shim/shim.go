// Package shim runs this program as a shim if it was started as one. Go initializes this package before most others of
// the command, whose initialization would slow the shim down.
package shim

import "github.com/clichain/clichain/runs"

// Works reports whether clichain.Config.Shim works in this process.
var Works = runs.ShimMain()
