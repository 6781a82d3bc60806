package runs

import "github.com/clichain/clichain/internal/proc"

// Depth returns the number of calls of clichain that contain this process. It is 0 if no call started the process, and
// 1 inside a CLI that a call started. A program that agents can start limits recursion with it.
//
// The calls are known from the environment variable CLICHAIN_RUN, which every call sets for its CLI. If a CLI does not
// pass it to the programs that it starts, Depth finds the calls only on Linux.
func Depth() int { return proc.Depth() }
