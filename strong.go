package clichain

import (
	"os"
	"sync"
	"time"

	"github.com/clichain/clichain/internal/localfile"
	"github.com/clichain/clichain/internal/proc"
)

// ShimMain must be called first in main, and in TestMain, of a program that
// uses Config.Shim. In a process that was started as a shim it never returns;
// otherwise it returns at once.
func ShimMain() { proc.ShimMain() }

// sweepOrphans ends, once in the life of this process, what hosts that died
// before it have left behind: processes, and folders that are old enough.
// Where that cannot be told nothing is touched, and a failure must not keep
// anybody from working.
var sweepOrphans = sync.OnceFunc(func() {
	_, _ = proc.SweepOrphans()
	localfile.RemoveStale(os.TempDir(), time.Now())
})
